// Docscheck holds the documentation to what it says: it takes every block of code
// in README.md and docs/*.md and compiles, runs, parses or compares it, and looks
// whether every link leads somewhere. What a block needs stands in comments before
// it, which readers do not see; docs/checking.md lists them.
//
//	docscheck -parley PROGRAM [-only PAGE] [FOLDER]
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"sync"
	"time"
)

// limit bounds everything together: nothing in the documentation may need more.
const limit = 3 * time.Minute

func main() {
	log.SetFlags(0)
	log.SetPrefix("docscheck: ")
	parley := flag.String("parley", "", "the `program` that the commands run")
	only := flag.String("only", "", "check the `page` of this name only")
	flag.Parse()
	root := "."
	if flag.NArg() > 0 {
		root = flag.Arg(0)
	}
	ok, err := check(root, *parley, *only, os.Stderr)
	if err != nil {
		log.Fatal(err)
	}
	if !ok {
		os.Exit(1)
	}
}

func check(root, parley, only string, out io.Writer) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	root, err := filepath.Abs(root)
	if err != nil {
		return false, err
	}
	if parley, err = filepath.Abs(parley); err != nil {
		return false, err
	}
	pages, err := readPages(root)
	if err != nil {
		return false, err
	}
	r := &report{root: root}
	checkLinks(r, root, pages)
	pages = pick(pages, only)
	work, err := newWorkshop(ctx, root, parley, r)
	if err != nil {
		return false, err
	}
	work.writeAll(pages)
	var both sync.WaitGroup
	both.Go(work.vet)
	both.Go(func() { work.runAll(pages) })
	both.Wait()
	work.strays()
	if ctx.Err() != nil {
		r.failf(root, 0, "not finished within %s", limit)
	}
	return r.print(out), nil
}

// pick returns the pages whose blocks are checked: README.md and the guides. Of
// all others only the links are looked at.
func pick(pages []*page, only string) []*page {
	var picked []*page
	for _, p := range pages {
		guide := p.name == "README.md" || filepath.Dir(p.name) == "docs" && !slices.Contains(records, p.name)
		if guide && (only == "" || filepath.Base(p.name) == only || p.name == only) {
			picked = append(picked, p)
		}
	}
	return picked
}

// records are pages that programs write: their blocks are what was seen once.
var records = []string{"docs/check-peers.md", "docs/performance.md"}

// readPages reads all Markdown that readers are led to.
func readPages(root string) ([]*page, error) {
	var pages []*page
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/decisions/*.md", "examples/*.md", "interop/*.md", "interop/check/*.md"} {
		names, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, err
		}
		sort.Strings(names)
		for _, name := range names {
			text, err := os.ReadFile(name) //nolint:gosec // a page of this repository
			if err != nil {
				return nil, err
			}
			rel, err := filepath.Rel(root, name)
			if err != nil {
				return nil, err
			}
			p, err := parsePage(filepath.ToSlash(rel), string(text))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", rel, err)
			}
			pages = append(pages, p)
		}
	}
	return pages, nil
}
