package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/card"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/safehttp"
	"github.com/parley-mcp/parley/internal/wire"
)

const cardLintLong = `Check a server card or a catalogue against the schema and the rules of the
specification, and, at a URL, how it is served: media type, CORS, entity tag, caching.

An error is a violation, advice is what is recommended. The exit code is 1 if there is
an error. A FILE of - is standard input.`

func (a *app) cardLint() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "lint URL|@NAME|FILE",
		Short:   "Check a server card, and how it is served",
		Long:    cardLintLong,
		Example: "  parley card lint server-card.json\n  parley card lint https://mcp.example.com/mcp\n  parley card lint https://example.com   # the catalogue, and the cards that it lists",
	}
	honours(cmd, a.flags.named, a.flags.bounded, a.flags.format)
	onServer := a.onServer(0, 0, func(ctx context.Context, t target.Target, _ []string) error {
		f, err := newFinder(t)
		if err != nil {
			return err
		}
		linted, err := f.lint(ctx)
		if err != nil {
			return err
		}
		return a.reportLint(linted)
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 || target.IsURL(args[0]) || strings.HasPrefix(args[0], "@") || cmd.ArgsLenAtDash() == 0 {
			return onServer(cmd, args)
		}
		if err := a.flags.check(); err != nil {
			return err
		}
		doc, err := a.readCardFile(args[0])
		if err != nil {
			return err
		}
		return a.reportLint([]lintedDoc{lintDoc(args[0], doc)})
	}
	return cmd
}

// lintedDoc is a document and what is wrong with it, as --output json shows it.
type lintedDoc struct {
	Where    string         `json:"document"`
	Kind     string         `json:"kind"` // "card" or "catalogue"
	Problems []card.Problem `json:"problems"`
}

func lintDoc(where string, doc []byte) lintedDoc {
	d := lintedDoc{Where: where, Kind: "card", Problems: []card.Problem{}}
	if isCatalog(doc) {
		d.Kind, d.Problems = "catalogue", append(d.Problems, card.LintCatalog(doc)...)
	} else {
		d.Problems = append(d.Problems, card.Lint(doc)...)
	}
	return d
}

// lint checks what the URL leads to, and the cards that a catalogue leads to.
func (f *finder) lint(ctx context.Context) ([]lintedDoc, error) {
	page, err := f.document(ctx)
	if err != nil {
		return nil, err
	}
	first, err := f.lintPage(ctx, page)
	if err != nil || first.Kind == "card" {
		return []lintedDoc{first}, err
	}
	linted := []lintedDoc{first}
	wrong := slices.ContainsFunc(first.Problems, func(p card.Problem) bool { return !p.Advice && strings.HasPrefix(p.Where, "entries") })
	for _, p := range f.listed(ctx, page.url) {
		switch {
		case p.err != nil && (p.url != "" || !wrong): // else it was said
			linted[0].Problems = append(linted[0].Problems, card.Problem{Where: "entries", Text: p.err.Error()})
		case p.err == nil && p.url != "":
			page, err := f.get(ctx, p.url, card.MediaType)
			if err != nil {
				return nil, err
			}
			next, err := f.lintPage(ctx, page)
			if err != nil {
				return nil, err
			}
			linted = append(linted, next)
		}
	}
	return linted, nil
}

func (d *lintedDoc) failed() bool {
	return slices.ContainsFunc(d.Problems, func(p card.Problem) bool { return !p.Advice })
}

// lintPage checks a document, and how it is served.
func (f *finder) lintPage(ctx context.Context, page *webPage) (lintedDoc, error) {
	d := lintDoc(page.url, page.body)
	preflight, err := f.request(ctx, http.MethodOptions, page.url, map[string]string{
		"Origin": "https://app.example.com", "Access-Control-Request-Method": http.MethodGet, "Access-Control-Request-Headers": "if-none-match",
	})
	if err != nil {
		return d, err
	}
	served := servedAs(page, preflight, map[string]string{"card": card.MediaType, "catalogue": card.CatalogMediaType}[d.Kind])
	if tag := page.header.Get("ETag"); tag != "" {
		again, err := f.request(ctx, http.MethodGet, page.url, map[string]string{"Accept": page.header.Get("Content-Type"), "If-None-Match": tag})
		if err != nil {
			return d, err
		}
		if again.status != http.StatusNotModified {
			served.advise("ETag", "If-None-Match with this tag is answered with status %d; 304 saves the transfer", again.status)
		}
	}
	d.Problems = append(d.Problems, served...)
	return d, nil
}

// served collects what is wrong with how a document is served.
type served []card.Problem

func (s *served) advise(field, format string, args ...any) {
	s.add(field, format, args...)
	(*s)[len(*s)-1].Advice = true
}

func (s *served) add(field, format string, args ...any) {
	*s = append(*s, card.Problem{Where: strings.TrimSpace("HTTP " + field), Text: fmt.Sprintf(format, args...)})
}

// servedAs checks the headers of a document and of the answer to a preflight.
//
// Spec: extensions/server-card docs/discovery#cors-requirements.
// Spec: extensions/server-card docs/discovery#caching.
// Spec: extensions/server-card docs/discovery#transport-security.
func servedAs(page, preflight *webPage, mediaType string) served {
	var s served
	must := s.add
	if mediaType != card.MediaType { // the rules are those of cards
		must = s.advise
	}
	either := func(field, value string) bool {
		return lists(page.header, field, value) || lists(preflight.header, field, value)
	}
	if !lists(page.header, "Access-Control-Allow-Origin", "*") {
		must("Access-Control-Allow-Origin", "it is %q, so that pages of other origins cannot read the document; it is *", page.header.Get("Access-Control-Allow-Origin"))
	}
	if !either("Access-Control-Allow-Methods", http.MethodGet) {
		must("Access-Control-Allow-Methods", "it does not list GET")
	}
	for _, name := range []string{"Content-Type", "If-None-Match"} {
		if !either("Access-Control-Allow-Headers", name) {
			must("Access-Control-Allow-Headers", "it does not list %s", name)
		}
	}
	if !lists(page.header, "Access-Control-Expose-Headers", "ETag") {
		must("Access-Control-Expose-Headers", "it does not list ETag, so that pages cannot ask whether the document has changed")
	}
	if kind := page.header.Get("Content-Type"); !strings.HasPrefix(kind, mediaType) {
		s.advise("Content-Type", "it is %q; that of this document is %q", kind, mediaType)
	}
	if page.header.Get("Cache-Control") == "" {
		s.advise("Cache-Control", "it is missing; clients may then ask each time. It is %q, for example", "public, max-age=3600")
	}
	if page.header.Get("ETag") == "" {
		s.advise("ETag", "it is missing; with it, a document that has not changed is not transferred again")
	}
	if u, err := url.Parse(page.url); err == nil && u.Scheme != "https" && !safehttp.IsLoopback(u) {
		must("", "the document must be served over https, except for development")
	}
	return s
}

// lists reports whether a header has a value in its list.
func lists(h http.Header, field, value string) bool {
	for v := range strings.SplitSeq(strings.Join(h.Values(field), ","), ",") {
		if v = strings.TrimSpace(v); strings.EqualFold(v, value) || v == "*" {
			return true
		}
	}
	return false
}

func (a *app) reportLint(linted []lintedDoc) error {
	failed := slices.ContainsFunc(linted, func(d lintedDoc) bool { return d.failed() })
	if a.flags.json() {
		raw, err := wire.Marshal(map[string]any{"ok": !failed, "documents": linted})
		if err != nil {
			return err
		}
		a.out.json(raw)
	} else {
		for _, d := range linted {
			a.lintText(&d)
		}
	}
	if failed {
		return &failure{code: codeCard}
	}
	return nil
}

func (a *app) lintText(d *lintedDoc) {
	errors, advice := 0, 0
	for _, p := range d.Problems {
		level := a.out.red("error ")
		if p.Advice {
			level, advice = a.out.dim("advice"), advice+1
		} else {
			errors++
		}
		a.out.printf("%s %s\n", level, oneLine(p.String(), 1000))
	}
	verdict := fmt.Sprintf("%d errors, %d advice", errors, advice)
	if len(d.Problems) == 0 {
		verdict = "good"
	}
	a.out.printf("%s: %s: %s\n", label(d.Where, 500), d.Kind, verdict)
}
