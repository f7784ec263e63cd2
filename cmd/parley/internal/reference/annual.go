package reference

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// The year of the sample data, and what a report about it consists of: a pass over its
// months, a question, and a pass over the kinds of products.
const (
	annualYear   = 2025
	annualMonths = 12
	maxPace      = 10 * time.Second
)

func categories() []string { return []string{"Desk", "Garden", "Kitchen", "Travel"} }

type annualArgs struct {
	PaceMS         int     `json:"pace_ms" description:"Milliseconds in which the database is left to others before each of the 16 steps; the report takes as much longer" default:"0" minimum:"0" maximum:"10000"`
	Format         *string `json:"format,omitempty" description:"Format of the document; without it, the user is asked" enum:"markdown,csv"`
	ThresholdCents *int64  `json:"threshold_cents,omitempty" description:"List products with at least this revenue; without it, the user is asked" minimum:"0"`
}

// annualChoice is the question in the middle.
type annualChoice struct {
	Format         string `json:"format" title:"Format" description:"Format of the document" enum:"markdown,csv" enumTitles:"Markdown,CSV" default:"markdown"`
	ThresholdCents int64  `json:"threshold_cents" title:"Threshold" description:"List products with at least this revenue, in cents" default:"200000" minimum:"0"`
}

type annualReport struct {
	Number       string          `json:"number" description:"The number that the report was given when it was begun"`
	Year         int             `json:"year"`
	Orders       int64           `json:"orders" description:"Orders that were not cancelled"`
	RevenueCents int64           `json:"revenue_cents"`
	Months       []annualMonth   `json:"months"`
	Products     []annualProduct `json:"products" description:"Products that reach the threshold, by category, best-selling first"`
	Format       string          `json:"format"`
	Document     string          `json:"document" description:"URI of the document, a resource"`
}

type annualMonth struct {
	Month   int            `json:"month"`
	Regions []annualRegion `json:"regions"`
}

type annualRegion struct {
	Region       string `json:"region"`
	Orders       int64  `json:"orders"`
	RevenueCents int64  `json:"revenue_cents"`
}

type annualProduct struct {
	Category     string `json:"category"`
	SKU          string `json:"sku"`
	Name         string `json:"name"`
	Quantity     int64  `json:"quantity"`
	RevenueCents int64  `json:"revenue_cents"`
}

func (r *reference) addAnnualReport() {
	server.AddTool(r.srv, mcp.Tool{
		Name:  "annual_report",
		Title: "Annual report",
		Description: "Goes through a year of the sample shop's orders, month by month and then by kind of product, and writes a report with a document. " +
			"In between, the user is asked for its format and for how much a product has to have sold, unless the arguments say it. " +
			"It can run as a task, which goes on where it was when the server is restarted.",
		Annotations: readOnly(),
		Execution:   &mcp.ToolExecution{TaskSupport: mcp.TaskOptional},
	}, r.annualReport, server.Resumable())
	r.addAnnualDocument()
}

// annualReport is one handler for a call that waits and for a task. When it runs again,
// after an answer or on another process, it passes quickly over what was done before.
func (r *reference) annualReport(ctx context.Context, call *server.Call, in annualArgs) (*annualReport, error) {
	number, err := server.Once(ctx, call, "number", func(ctx context.Context) (string, error) {
		id := newID("rep_")
		r.opts.Logger.InfoContext(ctx, "annual report begun", "report", id)
		return id, nil
	})
	if err != nil {
		return nil, err
	}
	job := annualJob{r: r, call: call, pace: min(time.Duration(in.PaceMS)*time.Millisecond, maxPace), number: number}
	out := &annualReport{Number: number, Year: annualYear, Products: []annualProduct{}}
	for month := 1; month <= annualMonths; month++ {
		regions, err := annualStep(ctx, &job, time.Month(month).String(), func(ctx context.Context) ([]annualRegion, error) { return r.db.monthByRegion(ctx, month) })
		if err != nil {
			return nil, err
		}
		out.Months = append(out.Months, annualMonth{month, regions})
		for _, region := range regions {
			out.Orders += region.Orders
			out.RevenueCents += region.RevenueCents
		}
	}
	choice, err := chooseAnnual(ctx, call, in, out)
	if err != nil {
		return nil, err
	}
	for _, category := range categories() {
		products, err := annualStep(ctx, &job, category, func(ctx context.Context) ([]annualProduct, error) {
			return r.db.productsAbove(ctx, category, choice.ThresholdCents)
		})
		if err != nil {
			return nil, err
		}
		out.Products = append(out.Products, products...)
	}
	out.Format, out.Document = choice.Format, annualURI(choice)
	call.AddContent(mcp.Text(out.summary()), &mcp.ResourceLink{
		URI: out.Document, Name: "Annual report", MIMEType: annualMIME(choice.Format), Description: fmt.Sprintf("The document of report %s", number),
	})
	return out, nil
}

// annualJob is one run of the report.
type annualJob struct {
	r      *reference
	call   *server.Call
	pace   time.Duration
	number string
	done   int
}

// annualStep does one step of a report, unless it was done in an earlier run.
func annualStep[T any](ctx context.Context, job *annualJob, name string, query func(context.Context) ([]T, error)) ([]T, error) {
	rows, err := server.Step(ctx, job.call, name, func(ctx context.Context) ([]T, error) {
		if err := rest(ctx, job.pace); err != nil {
			return nil, err
		}
		rows, err := query(ctx)
		if err == nil {
			job.r.opts.Logger.DebugContext(ctx, "annual report: step done", "report", job.number, "step", name)
		}
		return rows, err
	})
	if err != nil {
		return nil, err
	}
	job.done++
	job.call.Progress(ctx, float64(job.done), float64(annualMonths+len(categories())), name+" is done")
	return rows, nil
}

// rest waits, or fails because the context ends.
func rest(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// chooseAnnual asks what the arguments leave open.
func chooseAnnual(ctx context.Context, call *server.Call, in annualArgs, sofar *annualReport) (annualChoice, error) {
	if in.Format != nil && in.ThresholdCents != nil {
		return annualChoice{*in.Format, *in.ThresholdCents}, nil
	}
	choice, err := server.Elicit[annualChoice](ctx, call, "choice", fmt.Sprintf("%d orders of %d brought %s. Which document shall report %s become?",
		sofar.Orders, annualYear, money(sofar.RevenueCents), sofar.Number))
	if declined := new(server.DeclinedError); errors.As(err, &declined) {
		return choice, fmt.Errorf("there is no report: %w. Give both format and threshold_cents to have it without a question", err)
	}
	if err != nil {
		return choice, err
	}
	if in.Format != nil {
		choice.Format = *in.Format
	}
	if in.ThresholdCents != nil {
		choice.ThresholdCents = *in.ThresholdCents
	}
	return choice, nil
}

func (a *annualReport) summary() string {
	return fmt.Sprintf("Report %s: %d orders of %d brought %s; %d products reach the threshold.", a.Number, a.Orders, a.Year, money(a.RevenueCents), len(a.Products))
}

func (d *database) monthByRegion(ctx context.Context, month int) ([]annualRegion, error) {
	ctx, cancel := context.WithTimeout(ctx, d.patience)
	defer cancel()
	rows, err := d.read.QueryContext(ctx, `
		SELECT c.region, COUNT(*), SUM(o.total_cents)
		FROM orders o JOIN customers c ON c.id = o.customer_id
		WHERE o.ordered_on LIKE ? AND o.status <> 'cancelled'
		GROUP BY c.region ORDER BY c.region`, fmt.Sprintf("%d-%02d-%%", annualYear, month))
	return scanAll(rows, err, func(v *annualRegion) []any { return []any{&v.Region, &v.Orders, &v.RevenueCents} })
}

func (d *database) productsAbove(ctx context.Context, category string, threshold int64) ([]annualProduct, error) {
	ctx, cancel := context.WithTimeout(ctx, d.patience)
	defer cancel()
	rows, err := d.read.QueryContext(ctx, `
		SELECT p.category, p.sku, p.name, SUM(i.quantity), SUM(i.quantity * i.price_cents) AS revenue
		FROM order_items i JOIN orders o ON o.id = i.order_id JOIN products p ON p.sku = i.sku
		WHERE p.category = ? AND o.status <> 'cancelled'
		GROUP BY p.sku HAVING revenue >= ? ORDER BY revenue DESC, p.sku`, category, threshold)
	return scanAll(rows, err, func(v *annualProduct) []any {
		return []any{&v.Category, &v.SKU, &v.Name, &v.Quantity, &v.RevenueCents}
	})
}
