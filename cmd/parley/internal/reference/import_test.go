package reference

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

func people(rows int) string {
	var b strings.Builder
	b.WriteString("id,name,score,zip")
	for i := range rows {
		fmt.Fprintf(&b, "\n%d,\"name, %d\",%d.5,0%d", i+1, i+1, i, i)
	}
	return b.String()
}

func TestImport(t *testing.T) {
	mcptest.Run(t, plain(t), nil, func(t *testing.T, c *client.Client) {
		var mu sync.Mutex
		var seen []float64
		progress := client.WithProgress(func(p *mcp.ProgressParams) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, p.Progress)
		})
		got := call[imported](t, c, "import_csv", map[string]any{"csv": people(600), "table": "people"}, progress)
		if got.Rows != 600 || fmt.Sprint(got.Columns) != "[{id INTEGER} {name TEXT} {score REAL} {zip TEXT}]" {
			t.Errorf("imported = %+v", got)
		}
		mu.Lock()
		defer mu.Unlock()
		for i := 1; i < len(seen); i++ {
			if seen[i] <= seen[i-1] {
				t.Errorf("progress = %v, not increasing", seen)
			}
		}
		rows := call[table](t, c, "query_database", map[string]any{"sql": "SELECT COUNT(*), MAX(id), MIN(score), MAX(name), MIN(zip) FROM people"})
		if want := "[[600 600 0.5 name, 99 00]]"; fmt.Sprint(rows.Rows) != want {
			t.Errorf("rows = %v, want %s", rows.Rows, want)
		}
		var listed table
		readJSON(t, c, "db://tables/people", &listed)
		if listed.RowCount != tablePreview || !listed.Truncated {
			t.Errorf("the resource has %d rows", listed.RowCount)
		}
		wantToolError(t, c, "import_csv", map[string]any{"csv": "a\n1", "table": "People"}, "exists already")
		call[imported](t, c, "import_csv", map[string]any{"csv": "a\n1", "table": "people", "replace": true})
		rows = call[table](t, c, "query_database", map[string]any{"sql": "SELECT * FROM people"})
		if fmt.Sprint(rows.Rows) != "[[1]]" {
			t.Errorf("after replacing: %v", rows.Rows)
		}
	})
}

func TestImportRefuses(t *testing.T) {
	mcptest.Run(t, shared(t, Options{}), nil, func(t *testing.T, c *client.Client) {
		for _, tt := range []struct{ csv, table, want string }{
			{"a\n1", "orders", "sample data"},
			{"a\n1", "ORDERS", "sample data"},
			{"a\n1", `x"; DROP TABLE orders; --`, "table"},
			{"a\n1", "sqlite_x", "sqlite_"},
			{"", "t", "empty"},
			{"a,b\n1", "t", "line 2"},
			{"a,a\n1,2", "t", "two columns"},
			{"a,\n1,2", "t", "column 2"},
			{"a\n\"", "t", "cannot be read"},
		} {
			wantToolError(t, c, "import_csv", map[string]any{"csv": tt.csv, "table": tt.table}, tt.want)
		}
		wantToolError(t, c, "import_csv", map[string]any{"table": "t"}, "csv")
		wantToolError(t, c, "import_csv", map[string]any{"table": "t", "file": "/etc/passwd"}, "file")
		names := call[table](t, c, "query_database", map[string]any{"sql": "SELECT name FROM sqlite_master WHERE type = 'table'"})
		if names.RowCount != 4 {
			t.Errorf("tables = %v, want the sample's only", names.Rows)
		}
	})
}

func TestImportOddNames(t *testing.T) {
	r := start(t, Options{})
	csv, err := parseCSV("\ufeff\"a\"\"b\",order by,;--\n1,2,x\n,,")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.db.importTable(t.Context(), "odd", csv, false, func(int) {}); err != nil {
		t.Fatal(err)
	}
	got, err := r.db.query(t.Context(), 10, `SELECT "a""b", "order by", ";--" FROM odd`)
	if err != nil || fmt.Sprint(got.Rows) != "[[1 2 x] [<nil> <nil> ]]" {
		t.Errorf("rows = %v, %v", got, err)
	}
}

// A cancelled import leaves nothing behind, and does not change the table that
// it was to replace.
func TestImportIsAllOrNothing(t *testing.T) {
	r := start(t, Options{})
	csv, err := parseCSV(people(1000))
	if err != nil {
		t.Fatal(err)
	}
	cancelAt := func(stop int) error {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		return r.db.importTable(ctx, "people", csv, true, func(done int) {
			if done == stop {
				cancel()
			}
		})
	}
	count := func() string {
		got, err := r.db.query(t.Context(), 1, "SELECT COUNT(*) FROM people")
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(got.Rows)
	}
	for _, stop := range []int{0, 300, 1000} {
		if err := cancelAt(stop); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at %d: %v", stop, err)
		}
		if got := count(); !strings.Contains(got, "no such table") {
			t.Errorf("cancelled at %d: the table is there: %s", stop, got)
		}
	}
	if err := cancelAt(-1); err != nil || count() != "[[1000]]" {
		t.Fatalf("import: %v, %s", err, count())
	}
	if err := cancelAt(500); err == nil || count() != "[[1000]]" {
		t.Errorf("after a cancelled replacement: %v, %s", err, count())
	}
}

func TestImportIsAnnounced(t *testing.T) {
	mcptest.Run(t, plain(t), nil, func(t *testing.T, c *client.Client) {
		events, err := listen(t, c, mcp.SubscriptionFilter{ResourcesListChanged: true, ResourceSubscriptions: []string{schemaURI}})
		if err != nil {
			t.Fatal(err)
		}
		call[imported](t, c, "import_csv", map[string]any{"csv": "a\n1", "table": "news"})
		events.want(t, mcp.Change{Kind: mcp.ResourceUpdated, URI: schemaURI}, mcp.Change{Kind: mcp.ResourcesChanged})
	})
}

func TestImportFile(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "data", "people.csv"), people(30))
	outside := filepath.Join(t.TempDir(), "secret.csv")
	write(t, outside, "a\n1")
	if err := os.Symlink(outside, filepath.Join(dir, "link.csv")); err != nil {
		t.Skip(err)
	}
	mcptest.Run(t, rooted(t, dir), nil, func(t *testing.T, c *client.Client) {
		for i, file := range []string{"data/people.csv", filepath.Join(dir, "data", "people.csv"), "file://" + slashPath(filepath.Join(dir, "data", "people.csv"))} {
			got := call[imported](t, c, "import_csv", map[string]any{"file": file, "table": fmt.Sprintf("t%d", i)})
			if got.Rows != 30 {
				t.Errorf("%s: %d rows, want 30", file, got.Rows)
			}
		}
		for file, want := range map[string]string{
			outside:                    "outside",
			"../secret.csv":            "outside",
			"file:///etc/../etc/x.csv": "outside",
			"link.csv":                 "escapes",
			"nope.csv":                 "no such file",
			"data":                     "not a regular file",
		} {
			wantToolError(t, c, "import_csv", map[string]any{"file": file, "table": "t"}, want)
		}
		wantToolError(t, c, "import_csv", map[string]any{"csv": "a\n1", "file": "x", "table": "t"}, "not both")
	})
}
