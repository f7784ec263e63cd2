package reference

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// tree makes a folder with all kinds of files, next to one with a secret.
func tree(t *testing.T) (root, secret string) {
	t.Helper()
	dir := t.TempDir()
	root, secret = filepath.Join(dir, "root"), filepath.Join(dir, "rootsecret", "key.txt")
	write(t, secret, "secret")
	write(t, filepath.Join(root, "notes.md"), "# Notes")
	write(t, filepath.Join(root, "a b", "ä%.txt"), "odd name")
	write(t, filepath.Join(root, "data", "people.csv"), "id\n1")
	write(t, filepath.Join(root, "data", "README"), "no extension")
	write(t, filepath.Join(root, "data", "raw"), "\x00\xff")
	write(t, filepath.Join(root, "empty.txt"), "")
	write(t, filepath.Join(root, ".hidden", "config"), "hidden")
	for link, target := range map[string]string{
		"inside.md": "notes.md", "outside.txt": secret, "outdir": filepath.Dir(secret), "up": "..", "dangling": "nowhere", "loop": "loop",
	} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Skip(err)
		}
	}
	return root, secret
}

func fileURI(parts ...string) string { return "file://" + slashPath(filepath.Join(parts...)) }

func TestReadFiles(t *testing.T) {
	root, _ := tree(t)
	mcptest.Run(t, shared(t, Options{Root: root}), nil, func(t *testing.T, c *client.Client) {
		for uri, want := range map[string]string{
			fileURI(root, "notes.md"):                     "text/markdown # Notes",
			fileURI(root, "a%20b", "%C3%A4%25.txt"):       "text/plain odd name",
			fileURI(root, "data", "README"):               "text/plain no extension",
			fileURI(root, "data", "people.csv"):           "text/csv id\n1",
			fileURI(root, "empty.txt"):                    "text/plain ",
			fileURI(root, "inside.md"):                    "text/markdown # Notes",
			fileURI(root, ".hidden", "config"):            "text/plain hidden",
			fileURI(root, "no%74es.md"):                   "text/markdown # Notes",
			fileURI(root, "data", "people.csv") + "#frag": "",
		} {
			r, err := c.ReadResource(t.Context(), uri)
			if want == "" {
				if !errors.Is(err, client.ErrNotFound) {
					t.Errorf("%s: %v, want not found", uri, err)
				}
				continue
			}
			if err != nil || len(r.Contents) != 1 || r.Contents[0].Text == nil {
				t.Errorf("%s: %v", uri, err)
				continue
			}
			if got := r.Contents[0].MIMEType + " " + *r.Contents[0].Text; got != want || r.Contents[0].URI != uri {
				t.Errorf("%s = %q, want %q", r.Contents[0].URI, got, want)
			}
		}
		r, err := c.ReadResource(t.Context(), fileURI(root, "data", "raw"))
		if err != nil || string(r.Contents[0].Blob) != "\x00\xff" || r.Contents[0].MIMEType != "application/octet-stream" {
			t.Errorf("bytes: %+v, %v", r, err)
		}
	})
}

func TestReadDirectory(t *testing.T) {
	root, _ := tree(t)
	mcptest.Run(t, shared(t, Options{Root: root}), nil, func(t *testing.T, c *client.Client) {
		want := fileURI(root, "data", "README") + "\ttext/plain\t12\n" +
			fileURI(root, "data", "people.csv") + "\ttext/csv\t4\n" +
			fileURI(root, "data", "raw") + "\tapplication/octet-stream\t2\n"
		for _, uri := range []string{fileURI(root, "data"), fileURI(root, "data") + "/"} {
			if got := readText(t, c, uri); got != want {
				t.Errorf("%s =\n%swant\n%s", uri, got, want)
			}
		}
		listing := readText(t, c, fileURI(root))
		if !strings.Contains(listing, "/a%20b/\tinode/directory\n") || strings.Contains(listing, "out") || strings.Contains(listing, "dangling") {
			t.Errorf("root =\n%s", listing)
		}
	})
}

func TestOutsideIsNotFound(t *testing.T) {
	root, secret := tree(t)
	mcptest.Run(t, shared(t, Options{Root: root}), nil, func(t *testing.T, c *client.Client) {
		for _, uri := range []string{
			fileURI(secret),
			fileURI(root) + "/../rootsecret/key.txt",
			fileURI(root) + "/%2e%2e/rootsecret/key.txt",
			fileURI(root) + "/..%2frootsecret%2fkey.txt",
			fileURI(root) + "/data/../notes.md",
			fileURI(root) + "/./notes.md",
			fileURI(root) + "//notes.md",
			fileURI(root) + "secret/key.txt",
			fileURI(root, "outside.txt"),
			fileURI(root, "outdir", "key.txt"),
			fileURI(root, "outdir"),
			fileURI(root, "up"),
			fileURI(root, "up", "rootsecret", "key.txt"),
			fileURI(root, "dangling"),
			fileURI(root, "loop"),
			fileURI(root, "nope"),
			fileURI(root, "notes.md", "x"),
			fileURI(root) + "/notes.md%00",
			fileURI(root) + "/" + strings.Repeat("x", 5000),
			"file:///",
			"file:///etc/passwd",
			"file://localhost" + slashPath(filepath.Join(root, "notes.md")),
			"file:" + slashPath(filepath.Join(root, "notes.md")),
		} {
			if _, err := c.ReadResource(t.Context(), uri); !errors.Is(err, client.ErrNotFound) {
				t.Errorf("%s: %v, want not found", uri, err)
			}
		}
	})
}

func TestLargeFile(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "large"), "")
	if err := os.Truncate(filepath.Join(root, "large"), maxFileBytes+1); err != nil {
		t.Fatal(err)
	}
	mcptest.Run(t, shared(t, Options{Root: root}), nil, func(t *testing.T, c *client.Client) {
		_, err := c.ReadResource(t.Context(), fileURI(root, "large"))
		var rpc *jsonrpc.Error
		if !errors.As(err, &rpc) || !strings.Contains(rpc.Message, "too large") {
			t.Errorf("error = %v, want that it is too large", err)
		}
	})
}

func TestClientRootsBound(t *testing.T) {
	root, _ := tree(t)
	if err := os.Symlink(filepath.Join("..", "notes.md"), filepath.Join(root, "data", "link.md")); err != nil {
		t.Skip(err)
	}
	roots := func() *client.Options {
		return &client.Options{NoCache: true, Roots: []*mcp.Root{{URI: fileURI(root, "data")}}}
	}
	mcptest.Run(t, rooted(t, root), roots, func(t *testing.T, c *client.Client) {
		if got := readText(t, c, fileURI(root, "data", "people.csv")); got != "id\n1" {
			t.Errorf("inside = %q", got)
		}
		for _, name := range []string{"notes.md", "", "datax", "data/link.md"} {
			if _, err := c.ReadResource(t.Context(), fileURI(root, name)); !errors.Is(err, client.ErrNotFound) {
				t.Errorf("%q: %v, want not found", name, err)
			}
		}
		wantToolError(t, c, "import_csv", map[string]any{"file": "notes.md", "table": "t"}, "outside the client's roots")
		call[imported](t, c, "import_csv", map[string]any{"file": "data/people.csv", "table": "t"})
		found := call[foundFiles](t, c, "find_files", map[string]any{"pattern": "*"})
		for _, file := range found.Files {
			if !strings.HasPrefix(file.Name, "data/") || file.Name == "data/link.md" {
				t.Errorf("find_files found %q", file.Name)
			}
		}
		if len(found.Files) != 3 {
			t.Errorf("find_files found %+v", found.Files)
		}
		if err := c.SetRoots(t.Context(), []*mcp.Root{{URI: fileURI(root)}}); err != nil {
			t.Fatal(err)
		}
		if got := readText(t, c, fileURI(root, "notes.md")); got != "# Notes" {
			t.Errorf("after the roots have changed: %q", got)
		}
	})
}

func TestWithin(t *testing.T) {
	root, secret := tree(t)
	f := start(t, Options{Root: root}).files
	for _, tt := range []struct {
		roots []*mcp.Root
		want  bool
	}{
		{nil, false},
		{[]*mcp.Root{nil, {URI: "https://example.com"}, {URI: "file:///%zz"}, {URI: ""}}, false},
		{[]*mcp.Root{{URI: fileURI(root)}}, true},
		{[]*mcp.Root{{URI: fileURI(root) + "/"}}, true},
		{[]*mcp.Root{{URI: "file:///"}}, true},
		{[]*mcp.Root{{URI: fileURI(root, "notes.md")}}, true},
		{[]*mcp.Root{{URI: fileURI(root, "note")}}, false},
		{[]*mcp.Root{{URI: fileURI(root, "data")}, {URI: fileURI(root, "up")}}, true}, // the link leads there
		{[]*mcp.Root{{URI: fileURI(filepath.Dir(secret))}}, false},
	} {
		if got := f.within(tt.roots, "notes.md"); got != tt.want {
			t.Errorf("within(%+v) = %t, want %t", tt.roots, got, tt.want)
		}
	}
}

func TestListFiles(t *testing.T) {
	root, _ := tree(t)
	mcptest.Run(t, shared(t, Options{Root: root}), nil, func(t *testing.T, c *client.Client) {
		var names []string
		for r, err := range c.Resources(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if !isFileURI(r.URI) {
				continue
			}
			names = append(names, r.Name)
			if c.Revision() == mcp.Revision20260728 && r.Name == "notes.md" &&
				(r.URI != fileURI(root, "notes.md") || *r.Size != 7 || r.MIMEType != "text/markdown" || r.Annotations.LastModified == "") {
				t.Errorf("resource = %+v", r)
			}
		}
		want := "[a b/ä%.txt data/README data/people.csv data/raw empty.txt inside.md notes.md]"
		if fmt.Sprint(names) != want {
			t.Errorf("files = %v, want %s", names, want)
		}
	})
}

func TestFindFiles(t *testing.T) {
	root, _ := tree(t)
	mcptest.Run(t, shared(t, Options{Root: root}), nil, func(t *testing.T, c *client.Client) {
		r, err := c.CallTool(t.Context(), "find_files", map[string]any{"pattern": "*.md", "limit": 1})
		if err != nil {
			t.Fatal(err)
		}
		if text := textOf(t, r); !strings.Contains(text, `"inside.md"`) || !strings.Contains(text, `"more":true`) {
			t.Errorf("result = %s", text)
		}
		if link, ok := r.Content[len(r.Content)-1].(*mcp.ResourceLink); c.Revision() == mcp.Revision20260728 && (!ok || link.URI != fileURI(root, "inside.md")) {
			t.Errorf("last block = %+v, want a link", r.Content[len(r.Content)-1])
		}
		if got := call[foundFiles](t, c, "find_files", map[string]any{"pattern": "data/*"}); len(got.Files) != 3 || got.More {
			t.Errorf("data/* = %+v", got)
		}
		wantToolError(t, c, "find_files", map[string]any{"pattern": "[a"}, "not valid")
	})
}

func TestCompletePath(t *testing.T) {
	root, _ := tree(t)
	base := slashPath(root)[1:]
	mcptest.Run(t, shared(t, Options{Root: root}), nil, func(t *testing.T, c *client.Client) {
		if c.ServerCapabilities().Completions == nil {
			t.Skip("the revision has no such capability")
		}
		for prefix, want := range map[string][]string{
			"":                     {base + "/"},
			base[:5]:               {base + "/"},
			base + "/data/":        {base + "/data/README", base + "/data/people.csv", base + "/data/raw"},
			base + "/da":           {base + "/data/"},
			"da":                   {base + "/data/"},
			"data/p":               {base + "/data/people.csv"},
			base + "/.h":           {base + "/.hidden/"},
			base + "/outdir/":      {},
			base + "/../":          {},
			"../":                  {},
			base + "/nope/":        {},
			base + "secret/":       {},
			base + "/data/people/": {},
		} {
			got, err := c.CompleteTemplate(t.Context(), fileTemplate, "path", prefix, nil)
			if err != nil || fmt.Sprint(got.Values) != fmt.Sprint(want) {
				t.Errorf("%q completes to %v, %v; want %v", prefix, got, err, want)
			}
		}
	})
}

func TestRootMustExist(t *testing.T) {
	if _, _, err := New(Options{Root: filepath.Join(t.TempDir(), "nope"), Logger: mcptest.Quiet()}); err == nil || !strings.Contains(err.Error(), "nope") {
		t.Errorf("error = %v, want one that names the root", err)
	}
}
