package reference

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// The report adds up to what the reports of the regions say, and links to a document.
func TestAnnualReport(t *testing.T) {
	mcptest.Run(t, shared(t, Options{}), nil, func(t *testing.T, c *client.Client) {
		var mu sync.Mutex
		var reached []float64
		got := annual(t, c, map[string]any{"format": "csv", "threshold_cents": 0}, client.WithProgress(func(p *mcp.ProgressParams) {
			mu.Lock()
			defer mu.Unlock()
			reached = append(reached, p.Progress)
		}))
		var orders, revenue, sold int64
		for _, region := range regions() {
			r := call[report](t, c, "sales_report", map[string]any{"region": region})
			orders += r.Orders
			revenue += r.RevenueCents
		}
		for _, p := range got.Products {
			sold += p.RevenueCents
		}
		if got.Orders != orders || got.RevenueCents != revenue || sold != revenue || orders == 0 || len(got.Months) != annualMonths {
			t.Errorf("%d orders, %d cents in %d months, products of %d; the regions have %d and %d", got.Orders, got.RevenueCents, len(got.Months), sold, orders, revenue)
		}
		document, err := c.ReadResource(t.Context(), got.Document)
		if err != nil {
			t.Fatal(err)
		}
		if text := *document.Contents[0].Text; strings.Count(text, "\n") != len(got.Products)+1 || document.Contents[0].MIMEType != "text/csv" {
			t.Errorf("%s has\n%s", got.Document, text)
		}
		mu.Lock()
		defer mu.Unlock()
		if n := len(reached); n > 0 && reached[n-1] > annualMonths+float64(len(categories())) {
			t.Errorf("progress %v", reached)
		}
	})
}

// annual calls annual_report, which must succeed.
func annual(t *testing.T, c *client.Client, args map[string]any, opts ...client.CallOption) annualReport {
	t.Helper()
	r, err := c.CallTool(t.Context(), "annual_report", args, opts...)
	if err != nil {
		t.Fatal(err)
	}
	if r.IsError {
		t.Fatal(textOf(t, r))
	}
	var got annualReport
	if err := json.Unmarshal([]byte(textOf(t, r)), &got); err != nil {
		t.Fatalf("%v in %s", err, textOf(t, r))
	}
	if len(r.Content) != 3 {
		t.Errorf("%d blocks, want the structure, a summary and a link", len(r.Content))
	}
	return got
}

// The user is asked once, for what the arguments leave open.
func TestAnnualReportAsks(t *testing.T) {
	for _, mode := range canElicit() {
		t.Run(mode.String(), func(t *testing.T) {
			var asked atomic.Int32
			var message string
			c := mcptest.Connect(t, start(t, Options{}).srv, mode, &client.Options{Elicit: func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				asked.Add(1)
				message = p.Message
				return &mcp.ElicitResult{Action: mcp.ActionAccept, Content: json.RawMessage(`{"format":"markdown","threshold_cents":250000}`)}, nil
			}})
			got := annual(t, c, nil)
			if asked.Load() != 1 || !strings.Contains(message, got.Number) || got.Document != "report://annual/markdown/250000" {
				t.Errorf("asked %d times, %q; report %s at %s", asked.Load(), message, got.Number, got.Document)
			}
			for _, p := range got.Products {
				if p.RevenueCents < 250000 {
					t.Errorf("%s with %d cents is below the threshold", p.SKU, p.RevenueCents)
				}
			}
			if got := annual(t, c, map[string]any{"threshold_cents": 7}); asked.Load() != 2 || got.Document != "report://annual/markdown/7" {
				t.Errorf("asked %d times; the document is %s", asked.Load(), got.Document)
			}
			if annual(t, c, map[string]any{"threshold_cents": 7, "format": "csv"}); asked.Load() != 2 {
				t.Error("asked although the arguments say all")
			}
		})
	}
}

func TestAnnualReportDeclined(t *testing.T) {
	for _, mode := range canElicit() {
		t.Run(mode.String(), func(t *testing.T) {
			c := mcptest.Connect(t, start(t, Options{}).srv, mode, &client.Options{Elicit: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Action: mcp.ActionDecline}, nil
			}})
			wantToolError(t, c, "annual_report", nil, "there is no report")
		})
	}
}

func TestAnnualDocument(t *testing.T) {
	mcptest.Run(t, shared(t, Options{}), nil, func(t *testing.T, c *client.Client) {
		document, err := c.ReadResource(t.Context(), "report://annual/markdown/250000")
		if err != nil {
			t.Fatal(err)
		}
		if text := *document.Contents[0].Text; !strings.HasPrefix(text, "# Sales of 2025\n") || !strings.Contains(text, " EUR |") {
			t.Errorf("the document is\n%s", text)
		}
		for _, uri := range []string{"report://annual/pdf/1", "report://annual/csv/-1", "report://annual/csv/x", "report://annual/csv"} {
			if _, err := c.ReadResource(t.Context(), uri); !errors.Is(err, client.ErrNotFound) {
				t.Errorf("%s: error %v, want that there is no such resource", uri, err)
			}
		}
	})
}
