package reference

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

func updated(uri string) mcp.Change { return mcp.Change{Kind: mcp.ResourceUpdated, URI: uri} }

func TestFileSubscriptions(t *testing.T) {
	listChanged := mcp.Change{Kind: mcp.ResourcesChanged}
	for _, mode := range mcptest.Modes() {
		t.Run(mode.String(), func(t *testing.T) {
			root, _ := tree(t)
			c := mcptest.Connect(t, start(t, Options{Root: root}).srv, mode, &client.Options{NoCache: true})
			notes, data := fileURI(root, "notes.md"), fileURI(root, "data")
			link, later := fileURI(root, "inside.md"), fileURI(root, "data", "later.txt")
			hidden, encoded := fileURI(root, ".hidden", "config"), fileURI(root, "no%74es.md")
			told, err := listen(t, c, mcp.SubscriptionFilter{
				ResourcesListChanged:  true,
				ResourceSubscriptions: []string{notes, data, link, later, hidden, encoded},
			})
			if err != nil {
				t.Fatal(err)
			}

			write(t, filepath.Join(root, "notes.md"), "written")
			told.want(t, updated(notes), updated(link), updated(encoded), listChanged)
			if got := readText(t, c, notes); got != "written" {
				t.Errorf("read %q", got)
			}

			// Editors save like this: a new file is renamed over the old one.
			write(t, filepath.Join(root, ".notes.md.new"), "renamed")
			rename(t, filepath.Join(root, ".notes.md.new"), filepath.Join(root, "notes.md"))
			told.want(t, updated(notes))

			write(t, filepath.Join(root, "data", "later.txt"), "new")
			told.want(t, updated(later), updated(data), listChanged)
			if got := readText(t, c, later); got != "new" {
				t.Errorf("read %q", got)
			}

			write(t, filepath.Join(root, ".hidden", "config"), "changed")
			told.want(t, updated(hidden))

			if err := os.Remove(filepath.Join(root, "data", "later.txt")); err != nil {
				t.Fatal(err)
			}
			told.want(t, updated(later), updated(data), listChanged)

			write(t, filepath.Join(root, "fresh", "deep", "x.txt"), "1")
			told.want(t, listChanged)
			waitListed(t, c, told, fileURI(root, "fresh", "deep", "x.txt"))
		})
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// waitListed waits until a file is in the list.
func waitListed(t *testing.T, c *client.Client, told events, uri string) {
	t.Helper()
	for {
		resources, err := client.Collect(c.Resources(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range resources {
			if r.URI == uri {
				return
			}
		}
		told.want(t, mcp.Change{Kind: mcp.ResourcesChanged})
	}
}

func TestWatchingOutsideIsRefused(t *testing.T) {
	root, secret := tree(t)
	r := start(t, Options{Root: root})
	for _, uri := range []string{fileURI(secret), fileURI(root, "outdir", "key.txt"), fileURI(root, "nope", "x"), fileURI(root) + "/../x"} {
		if stop, err := r.watchResource(uri); err == nil {
			stop()
			t.Errorf("%s is watched", uri)
		}
	}
	for _, uri := range []string{infoURI, schemaURI, "what:ever"} {
		stop, err := r.watchResource(uri)
		if err != nil {
			t.Errorf("%s: %v", uri, err)
			continue
		}
		stop()
	}
	stop, err := r.watchResource(fileURI(root, "notes.md"))
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if len(r.files.pins) != 0 {
		t.Errorf("pins = %v after all have left", r.files.pins)
	}
}
