package reference

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/apps"
	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcptest"
)

func TestQuery(t *testing.T) {
	mcptest.Run(t, shared(t, Options{}), nil, func(t *testing.T, c *client.Client) {
		got := call[table](t, c, "query_database", map[string]any{"sql": "SELECT COUNT(*) AS n, 'x' AS s, NULL AS none, x'00ff' AS b FROM orders"})
		if want := []string{"n", "s", "none", "b"}; !slices.Equal(got.Columns, want) {
			t.Errorf("columns = %q, want %q", got.Columns, want)
		}
		if want := "[[400 x <nil> AP8=]]"; fmt.Sprint(got.Rows) != want || got.RowCount != 1 || got.Truncated {
			t.Errorf("rows = %v, %d, truncated %t; want %s", got.Rows, got.RowCount, got.Truncated, want)
		}
		limited := call[table](t, c, "query_database", map[string]any{"sql": "SELECT id FROM orders ORDER BY id", "limit": 2})
		if fmt.Sprint(limited.Rows) != "[[1] [2]]" || !limited.Truncated {
			t.Errorf("limited = %v, truncated %t", limited.Rows, limited.Truncated)
		}
		if all := call[table](t, c, "query_database", map[string]any{"sql": "SELECT id FROM orders"}); all.RowCount != 100 {
			t.Errorf("without a limit: %d rows, want 100", all.RowCount)
		}
		wantToolError(t, c, "query_database", map[string]any{"sql": "SELECT 1 FROM nowhere"}, "no such table: nowhere")
		wantToolError(t, c, "query_database", map[string]any{"sql": "SELECT 1", "limit": 1001}, "1000")
		wantToolError(t, c, "query_database", map[string]any{"sql": "DELETE FROM orders"}, "read-only")
	})
}

func TestQueryCannotWrite(t *testing.T) {
	r := start(t, Options{})
	other := filepath.Join(t.TempDir(), "other.db")
	for _, statement := range []string{
		"INSERT INTO orders VALUES (9999, 1, 'x', 1, 'x')",
		"UPDATE products SET price_cents = 0",
		"DELETE FROM orders",
		"SELECT 1; DELETE FROM orders",
		"WITH x AS (SELECT 1) DELETE FROM orders",
		"DROP TABLE orders",
		"CREATE TABLE t (a)",
		"CREATE TEMP TABLE t (a)",
		"CREATE TEMP TRIGGER t AFTER INSERT ON orders BEGIN SELECT 1; END",
		"ALTER TABLE orders RENAME TO x",
		"ATTACH DATABASE '" + other + "' AS other",
		"ATTACH DATABASE ':memory:' AS other",
		"VACUUM",
		"VACUUM INTO '" + other + "'",
		"REINDEX",
		"ANALYZE",
		"PRAGMA query_only = 0",
		"PRAGMA query_only(0)",
		"PRAGMA writable_schema = 1",
		"PRAGMA journal_mode = delete",
		"PRAGMA user_version = 7",
		"PRAGMA temp_store_directory = '/'",
		"SELECT * FROM pragma_journal_mode",
		"BEGIN IMMEDIATE",
		"SAVEPOINT x",
		"SELECT load_extension('/lib/libc.so')",
		"SELECT writefile('" + other + "', 'x')",
		"SELECT readfile('/etc/passwd')",
		".load x",
		".shell ls",
		"SELECT 1; .read x",
		"EXPLAIN DELETE FROM orders",
		"",
		"-- nothing",
	} {
		if got, err := r.db.query(t.Context(), 10, statement); err == nil {
			t.Errorf("%s: no error, but %v", statement, got)
		}
	}
	if _, err := os.Stat(other); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("another file was made: %v", err)
	}
	for statement, want := range map[string]string{
		"SELECT COUNT(*), MIN(total_cents) > 0 FROM orders":                                           "[[400 1]]",
		"SELECT name FROM pragma_table_info('products')":                                              "[[sku] [name] [category] [price_cents]]",
		"PRAGMA table_info(products)":                                                                 "[[0 sku TEXT 0 <nil> 1] [1 name TEXT 1 <nil> 0] [2 category TEXT 1 <nil> 0] [3 price_cents INTEGER 1 <nil> 0]]",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT i FROM n": "[[1] [2] [3]]",
		"SELECT 9e999": "[[+Inf]]",
	} {
		got, err := r.db.query(t.Context(), 10, statement)
		if err != nil || fmt.Sprint(got.Rows) != want {
			t.Errorf("%s = %v, %v; want %s", statement, got, err, want)
		}
	}
}

func TestQueryIsBounded(t *testing.T) {
	r := start(t, Options{})
	if _, err := r.db.query(t.Context(), 1, "SELECT length(zeroblob(100000000))"); err == nil {
		t.Error("a value of 100 MB was made")
	}
	got, err := r.db.query(t.Context(), 1000, "SELECT zeroblob(500000) FROM orders")
	if err != nil || !got.Truncated || got.RowCount > 4 {
		t.Errorf("huge rows: %v; want few of them", err)
	}
	// Endless without its limits.
	const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT MAX(i) FROM n"
	r.db.patience = 10 * time.Millisecond
	if _, err := r.db.query(t.Context(), 1, endless); err == nil || !strings.Contains(err.Error(), "longer than 10ms") {
		t.Errorf("an endless query: %v, want that it took too long", err)
	}
	r.db.patience = time.Hour
	stop, cancelIt := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := r.db.query(stop, 1, endless)
		failed <- err
	}()
	cancelIt()
	if err := <-failed; err == nil {
		t.Error("an endless query succeeded")
	}
}

// What a query sorts, groups or recurses over stays in memory, within bounds,
// whatever it would take otherwise.
func TestQueryMemoryIsBounded(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("SQLITE_TMPDIR", temporary)
	r := start(t, Options{})
	r.db.patience = time.Hour
	const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
	for _, query := range []string{
		endless + "SELECT i || zeroblob(400000) AS h FROM n ORDER BY h",
		endless + "SELECT i || zeroblob(900000) AS h, COUNT(*) FROM n GROUP BY h",
		"WITH RECURSIVE n(i, h) AS (SELECT 1, '' UNION SELECT i + 1, i || zeroblob(900000) FROM n) SELECT MAX(i) FROM n",
	} {
		if _, err := r.db.query(t.Context(), 1, query); err == nil || !strings.Contains(err.Error(), "64 MiB") {
			t.Errorf("%s: %v, want that it needs too much memory", query, err)
		}
		// The next one finds the memory free again.
		if _, err := r.db.query(t.Context(), 1, "SELECT status, COUNT(*) FROM orders GROUP BY status ORDER BY 2"); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) != 0 {
		t.Errorf("files were written: %v %v", left, err)
	}
}

func TestSampleIsDeterministic(t *testing.T) {
	sum := "SELECT SUM(total_cents), COUNT(DISTINCT ordered_on), GROUP_CONCAT(status) FROM orders"
	a, err := start(t, Options{}).db.query(t.Context(), 1, sum)
	if err != nil {
		t.Fatal(err)
	}
	b, err := start(t, Options{}).db.query(t.Context(), 1, sum)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("%v, and then %v", a, b)
	}
}

func TestSchemaAndTables(t *testing.T) {
	mcptest.Run(t, shared(t, Options{}), nil, func(t *testing.T, c *client.Client) {
		var schema dbSchema
		readJSON(t, c, schemaURI, &schema)
		if len(schema.Tables) != 4 || schema.Tables[0].Name != "customers" || schema.Tables[0].Rows != sampleCustomers || len(schema.Tables[0].Columns) != 5 {
			t.Errorf("schema = %+v", schema)
		}
		var products table
		readJSON(t, c, "db://tables/products", &products)
		if products.RowCount != 48 {
			t.Errorf("%d products, want 48", products.RowCount)
		}
		for _, uri := range []string{"db://tables/nope", "db://tables/sqlite_master", "db://tables/a%22b"} {
			if _, err := c.ReadResource(t.Context(), uri); !errors.Is(err, client.ErrNotFound) {
				t.Errorf("reading %s: %v, want not found", uri, err)
			}
		}
		if c.ServerCapabilities().Completions == nil {
			return
		}
		got, err := c.CompleteTemplate(t.Context(), tableTemplate, "table", "or", nil)
		if err != nil || fmt.Sprint(got.Values) != "[order_items orders customers]" {
			t.Errorf("completion = %v, %v", got, err)
		}
	})
}

func TestReport(t *testing.T) {
	mcptest.Run(t, shared(t, Options{}), nil, func(t *testing.T, c *client.Client) {
		var customers int64
		for _, region := range regions() {
			got := call[report](t, c, "sales_report", map[string]any{"region": region})
			customers += got.Customers
			if got.Orders == 0 || got.RevenueCents == 0 || len(got.TopProducts) != 3 || got.TopProducts[0].Quantity < got.TopProducts[2].Quantity {
				t.Errorf("%s: %+v", region, got)
			}
		}
		if customers != sampleCustomers {
			t.Errorf("%d customers in all regions, want %d", customers, sampleCustomers)
		}
		wantToolError(t, c, "sales_report", map[string]any{"region": "mars"}, "emea")
	})
}

// The chart of the report works in every revision and without any network.
func TestReportApp(t *testing.T) {
	mcptest.Run(t, shared(t, Options{}), nil, func(t *testing.T, c *client.Client) {
		tools, err := client.Collect(c.Tools(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		withApp := map[string]string{}
		for _, tool := range tools {
			ui, err := apps.OfTool(tool)
			if err != nil {
				t.Error(err)
			}
			if ui.ResourceURI == "" {
				continue
			}
			withApp[tool.Name] = ui.ResourceURI
			if strings.Contains(string(tool.InputSchema), "x-mcp-header") { // some hosts in browsers mirror nothing
				t.Errorf("%s has an app and wants headers: %s", tool.Name, tool.InputSchema)
			}
		}
		if len(withApp) != 1 || withApp["sales_report"] == "" {
			t.Fatalf("tools with apps: %v", withApp)
		}
		app, err := c.ReadApp(t.Context(), withApp["sales_report"])
		if err != nil {
			t.Fatal(err)
		}
		if app.UI.CSP != nil || app.UI.Permissions != nil {
			t.Errorf("the app asks for %+v", app.UI)
		}
		for _, outside := range []string{"http:", "https:", "src=", "@import", "url(", "innerHTML", "eval("} {
			if strings.Contains(app.HTML, outside) {
				t.Errorf("the app has %q in it", outside)
			}
		}
		for _, region := range regions() {
			if !strings.Contains(app.HTML, region+": \"") {
				t.Errorf("the app does not know the region %q", region)
			}
		}
	})
}
