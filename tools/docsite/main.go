// Docsite gathers the pages that docs/SUMMARY.md lists, in a folder that mdBook makes
// a site of. Links between these pages stay links between them; those to anything else
// in the repository lead to where it is published.
//
//	docsite [-repository URL] [-root REPOSITORY] FOLDER
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("docsite: ")
	repository := flag.String("repository", "https://github.com/parley-mcp/parley/blob/main", "what links to other files begin with")
	root := flag.String("root", ".", "the `folder` of the repository")
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	to, err := filepath.Abs(flag.Arg(0))
	if err != nil {
		log.Fatal(err)
	}
	if err := os.Chdir(*root); err != nil {
		log.Fatal(err)
	}
	b := &book{to: filepath.Join(to, "src"), repository: *repository, pages: map[string]string{}}
	if err := b.gather(to); err != nil {
		log.Fatal(err)
	}
}

// A book is a set of pages: their names in the repository, and in the site.
type book struct {
	to         string
	repository string
	pages      map[string]string
}

const summary = "docs/SUMMARY.md"

// uncolored is a language that mdBook cannot color; a browser would complain about it.
const uncolored = "cedar"

var target = regexp.MustCompile(`\]\(([^)\s]+)\)`)

func (b *book) gather(dir string) error {
	if err := os.RemoveAll(b.to); err != nil {
		return err
	}
	list, err := os.ReadFile(summary)
	if err != nil {
		return err
	}
	decisions, err := decisions()
	if err != nil {
		return err
	}
	list = append(list, decisions...)
	for _, m := range target.FindAllStringSubmatch(string(list), -1) {
		from := path.Join("docs", m[1])
		b.pages[from] = place(from)
	}
	if err := b.unlisted(); err != nil {
		return err
	}
	for from, to := range b.pages {
		text, err := os.ReadFile(filepath.FromSlash(from))
		if err != nil {
			return err
		}
		if err := write(filepath.Join(b.to, filepath.FromSlash(to)), []byte(b.convert(from, string(text)))); err != nil {
			return err
		}
	}
	if err := write(filepath.Join(b.to, "SUMMARY.md"), []byte(b.convert(summary, string(list)))); err != nil {
		return err
	}
	if err := os.CopyFS(filepath.Join(b.to, "images"), os.DirFS("docs/images")); err != nil {
		return err
	}
	for _, name := range []string{"book.toml", "parley.css"} {
		text, err := os.ReadFile(filepath.Join("tools/docsite/book", name)) //nolint:gosec // a file of this repository
		if err != nil {
			return err
		}
		if err := write(filepath.Join(dir, name), text); err != nil {
			return err
		}
	}
	return nil
}

// decisions lists the records of decisions, in their order.
func decisions() ([]byte, error) {
	names, err := filepath.Glob("docs/decisions/*.md")
	if err != nil {
		return nil, err
	}
	var list strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(name) //nolint:gosec // a page of this repository
		if err != nil {
			return nil, err
		}
		title, _, _ := strings.Cut(string(text), "\n")
		title = strings.TrimLeft(title, "# 0123456789.")
		fmt.Fprintf(&list, "- [%s](decisions/%s)\n", title, filepath.Base(name))
	}
	return []byte(list.String()), nil
}

// place says where a page of the repository is in the site.
func place(from string) string {
	switch {
	case from == "README.md":
		return "index.md"
	case strings.HasPrefix(from, "docs/"):
		return strings.TrimPrefix(from, "docs/")
	case path.Base(from) == "README.md":
		return path.Dir(from) + ".md"
	}
	return strings.ToLower(from)
}

// unlisted returns an error that names the pages that the list has forgotten.
func (b *book) unlisted() error {
	var forgotten []error
	err := filepath.WalkDir("docs", func(name string, d fs.DirEntry, err error) error {
		name = filepath.ToSlash(name)
		if err == nil && !d.IsDir() && path.Ext(name) == ".md" && name != summary && b.pages[name] == "" {
			forgotten = append(forgotten, fmt.Errorf("%s does not list %s", summary, name))
		}
		return err
	})
	return errors.Join(append(forgotten, err)...)
}

// convert changes the links of a page, and leaves out the comments that say how its
// blocks are checked. Blocks are left as they are.
func (b *book) convert(from, text string) string {
	var out strings.Builder
	fence, comment := "", false
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "":
			if trimmed == fence {
				fence = ""
			}
		case comment:
			comment = !strings.HasSuffix(trimmed, "-->")
			continue
		case strings.HasPrefix(trimmed, "<!--"):
			comment = !strings.HasSuffix(trimmed, "-->")
			continue
		case strings.HasPrefix(trimmed, "```"):
			fence = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "`"))]
			if trimmed == fence+uncolored {
				line = fence + "text\n"
			}
		default:
			line = target.ReplaceAllStringFunc(line, func(link string) string {
				return "](" + b.link(from, link[2:len(link)-1]) + ")"
			})
		}
		out.WriteString(line)
	}
	return out.String()
}

func (b *book) link(from, to string) string {
	if strings.Contains(to, "://") || strings.HasPrefix(to, "#") {
		return to
	}
	file, fragment, has := strings.Cut(to, "#")
	if has {
		fragment = "#" + fragment
	}
	file = path.Join(path.Dir(from), file)
	if page, ok := b.pages[file]; ok {
		return relative(b.pages[from], page) + fragment
	}
	if images, ok := strings.CutPrefix(file, "docs/images/"); ok {
		return relative(b.pages[from], "images/"+images)
	}
	return b.repository + "/" + file + fragment
}

// relative returns the path from one page of the site to another.
func relative(from, to string) string {
	return strings.Repeat("../", strings.Count(from, "/")) + to
}

func write(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o600) //nolint:gosec // the folder that the caller names
}
