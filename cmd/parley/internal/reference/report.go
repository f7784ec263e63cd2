package reference

import (
	"context"
	_ "embed"

	"github.com/parley-mcp/parley/apps"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

func regions() []string { return []string{"amer", "apac", "emea"} }

// No argument is mirrored into a header: hosts that are web pages call this tool for its
// app, and some of them mirror nothing, which a server must not accept.
//
// Spec: 2026-07-28 basic/transports/streamable-http#server-behavior-for-custom-headers.
type reportArgs struct {
	Region string `json:"region" description:"Sales region" enum:"amer,apac,emea"`
	Top    int    `json:"top" description:"How many best-selling products to list" default:"3" minimum:"0" maximum:"20"`
}

type report struct {
	Region       string       `json:"region"`
	Customers    int64        `json:"customers"`
	Orders       int64        `json:"orders" description:"Orders that were not cancelled"`
	RevenueCents int64        `json:"revenue_cents"`
	TopProducts  []topProduct `json:"top_products" description:"Best-selling first"`
}

type topProduct struct {
	SKU      string `json:"sku"`
	Name     string `json:"name"`
	Quantity int64  `json:"quantity"`
}

// reportPage shows a report as a chart.
//
//go:embed app/report.html
var reportPage string

func reportApp() apps.App {
	return apps.App{
		URI:         "ui://sales/report.html",
		Name:        "sales_report",
		Title:       "Sales report",
		Description: "Shows the sales of a region as a chart, and lets the user choose another region.",
		HTML:        reportPage,
		UI:          apps.ResourceUI{PrefersBorder: new(true)},
	}
}

func (r *reference) addReport() {
	app := reportApp()
	r.srv.AddApp(app)
	server.AddTool(r.srv, mcp.Tool{
		Name:        "sales_report",
		Title:       "Sales report of a region",
		Description: "Sums up the sample shop's sales in one region: customers, orders that were not cancelled, revenue and the best-selling products.",
		Annotations: readOnly(),
		Meta:        apps.ToolUI{ResourceURI: app.URI}.Meta(),
	}, func(ctx context.Context, _ *server.Call, in reportArgs) (*report, error) {
		return r.db.report(ctx, in.Region, in.Top)
	})
}

func (d *database) report(ctx context.Context, region string, top int) (*report, error) {
	ctx, cancel := context.WithTimeout(ctx, d.patience)
	defer cancel()
	out := &report{Region: region, TopProducts: []topProduct{}}
	err := d.read.QueryRowContext(ctx, `
		SELECT (SELECT COUNT(*) FROM customers WHERE region = ?1), COUNT(*), COALESCE(SUM(o.total_cents), 0)
		FROM orders o JOIN customers c ON c.id = o.customer_id
		WHERE c.region = ?1 AND o.status <> 'cancelled'`, region).Scan(&out.Customers, &out.Orders, &out.RevenueCents)
	if err != nil {
		return nil, err
	}
	rows, err := d.read.QueryContext(ctx, `
		SELECT p.sku, p.name, SUM(i.quantity) AS sold
		FROM order_items i JOIN orders o ON o.id = i.order_id JOIN customers c ON c.id = o.customer_id JOIN products p ON p.sku = i.sku
		WHERE c.region = ? AND o.status <> 'cancelled'
		GROUP BY p.sku ORDER BY sold DESC, p.sku LIMIT ?`, region, top)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var p topProduct
		if err := rows.Scan(&p.SKU, &p.Name, &p.Quantity); err != nil {
			return nil, err
		}
		out.TopProducts = append(out.TopProducts, p)
	}
	return out, rows.Err()
}
