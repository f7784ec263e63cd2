package reference

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// The document of a report says all in its URI that it depends on, so it can be read
// as long as there is a server, whichever process made the report.
const annualTemplate = "report://annual/{format}/{threshold}"

type annualVars struct {
	Format    string `uri:"format"`
	Threshold string `uri:"threshold"`
}

func annualURI(c annualChoice) string {
	return strings.NewReplacer("{format}", c.Format, "{threshold}", strconv.FormatInt(c.ThresholdCents, 10)).Replace(annualTemplate)
}

func annualMIME(format string) string { return "text/" + format }

func (r *reference) addAnnualDocument() {
	server.AddTemplate(r.srv, mcp.ResourceTemplate{
		URITemplate: annualTemplate,
		Name:        "Annual Report",
		Title:       "Document of an annual report",
		Description: "The products of the sample shop that had a revenue of at least threshold cents, as markdown or csv. annual_report returns a link to it.",
	}, r.readAnnual)
	r.srv.CompleteTemplate(annualTemplate, "format", server.CompleteFrom("csv", "markdown"))
}

func (r *reference) readAnnual(ctx context.Context, _ *server.Call, uri string, vars annualVars) (*mcp.ReadResourceResult, error) {
	threshold, err := strconv.ParseInt(vars.Threshold, 10, 64)
	write := map[string]func([]annualProduct) string{"markdown": annualMarkdown, "csv": annualCSV}[vars.Format]
	if err != nil || threshold < 0 || write == nil {
		return nil, &mcp.ResourceNotFoundError{URI: uri}
	}
	var products []annualProduct
	for _, category := range categories() {
		found, err := r.db.productsAbove(ctx, category, threshold)
		if err != nil {
			return nil, err
		}
		products = append(products, found...)
	}
	return server.Contents(mcp.TextResource(uri, annualMIME(vars.Format), write(products))), nil
}

func annualMarkdown(products []annualProduct) string {
	var text strings.Builder
	fmt.Fprintf(&text, "# Sales of %d\n\n| category | product | sold | revenue |\n|---|---|---:|---:|\n", annualYear)
	for _, p := range products {
		fmt.Fprintf(&text, "| %s | %s (%s) | %d | %s |\n", p.Category, p.Name, p.SKU, p.Quantity, money(p.RevenueCents))
	}
	return text.String()
}

func annualCSV(products []annualProduct) string {
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	_ = w.Write([]string{"category", "sku", "name", "quantity", "revenue_cents"}) // a buffer takes all
	for _, p := range products {
		_ = w.Write([]string{p.Category, p.SKU, p.Name, strconv.FormatInt(p.Quantity, 10), strconv.FormatInt(p.RevenueCents, 10)})
	}
	w.Flush()
	return text.String()
}
