package cli

import (
	"context"
	"io"
	"net/http"
	"strconv"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/inspect"
	"github.com/parley-mcp/parley/cmd/parley/internal/signin"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/check/authprobe"
	"github.com/parley-mcp/parley/internal/check/lint"
	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/report"
	"github.com/parley-mcp/parley/internal/check/serverprobe"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/internal/child"
	"github.com/parley-mcp/parley/internal/redact"
)

// pageJudge judges for the page as "parley check" does.
type pageJudge struct {
	a      *app
	logins oauth.Store
}

// Check implements inspect.Judge.
func (j pageJudge) Check(ctx context.Context, t *target.Target, how *inspect.Judging, progress func(inspect.JudgeProgress)) (inspect.JudgeReport, error) {
	var found *verdict.Report
	var err error
	if how.Kind == inspect.JudgeAuth {
		found, err = j.auth(ctx, t, how, progress)
	} else {
		found, err = j.server(ctx, t, how, progress)
	}
	if err != nil {
		return nil, err
	}
	report.Redact(found, redact.New(t.Header.Clone()))
	found.Grade()
	return verdicts{found}, nil
}

func (j pageJudge) server(ctx context.Context, t *target.Target, how *inspect.Judging, progress func(inspect.JudgeProgress)) (*verdict.Report, error) {
	options := &serverprobe.Options{
		Tool: checker(), Revisions: how.Revisions, Allow: how.Allow, AllowAll: how.AllowAll, Stress: how.Stress, Rate: how.Rate,
		Progress: func(p serverprobe.Progress) {
			progress(inspect.JudgeProgress{What: together(p.Revisions) + " over " + p.Transport, Done: p.Done, Total: p.Total})
		},
	}
	if t.URL == "" {
		return serverprobe.Check(ctx, commandTarget(*t, child.Options{Args: t.Command, Env: t.Env, Dir: t.Dir}), options)
	}
	site := &peer.Site{URL: t.URL, Header: headerOf(t)}
	if ok, _ := signin.Possible(t.URL); ok && t.Header.Get("Authorization") == "" {
		client, end, err := j.login(ctx, t.URL)
		if err != nil {
			return nil, err
		}
		defer end()
		site.Client = client
	}
	return serverprobe.Check(ctx, serverprobe.Target{Name: t.String(), Site: site}, options)
}

// login returns what has the login that the page made, if it made one, until end is called.
// Nobody is asked to log in.
func (j pageJudge) login(ctx context.Context, url string) (client *http.Client, end func(), err error) {
	r, err := signin.Recall(ctx, j.logins, url)
	if err != nil {
		return nil, nil, err
	}
	seen := &demands{base: http.DefaultTransport}
	c, err := j.a.newAuthorizer(url, r, j.logins, nobody{url, seen})
	if err != nil {
		return nil, nil, err
	}
	return &http.Client{Transport: c.Transport(seen)}, func() { _ = c.Close() }, nil // what it keeps is in its store
}

func (j pageJudge) auth(ctx context.Context, t *target.Target, how *inspect.Judging, progress func(inspect.JudgeProgress)) (*verdict.Report, error) {
	judged := authprobe.Target{Endpoint: t.URL, Header: headerOf(t)}
	judged.Header.Del("Authorization") // it is what is judged
	return authprobe.Check(ctx, judged, &authprobe.Options{
		Tool: checker(), Revisions: how.Revisions, Rate: how.Rate, Trap: setTrap,
		Progress: func(_ string, done, total int) {
			progress(inspect.JudgeProgress{What: "authorization", Done: done, Total: total})
		},
	})
}

// headerOf returns the headers of a target, for whoever adds some.
func headerOf(t *target.Target) http.Header {
	header := http.Header{}
	for name, values := range t.Header {
		header[http.CanonicalHeaderKey(name)] = values
	}
	return header
}

// verdicts is a report of a check.
type verdicts struct{ *verdict.Report }

// Formats implements inspect.JudgeReport.
func (verdicts) Formats() []string { return report.Formats() }

// Write implements inspect.JudgeReport.
func (v verdicts) Write(w io.Writer, format string) error {
	return report.Write(w, format, v.Report, report.Options{})
}

// Definitions implements inspect.Judge.
func (pageJudge) Definitions(d *inspect.Definitions) inspect.JudgeReport {
	all := lint.Definitions{Server: d.Server, Instructions: d.Instructions}
	for _, l := range listings() {
		for i, raw := range d.Lists[l.Name] {
			all.Items = append(all.Items, lint.Item{Kind: lintKinds[l.Member], Pointer: "/" + l.Member + "/" + strconv.Itoa(i), Raw: raw})
		}
	}
	return findings{lint.Run([]lint.Definitions{all}, &lint.Options{MaxToolTokens: mostToolTokens})}
}

// findings is a report about definitions.
type findings struct{ *lint.Report }

// Formats implements inspect.JudgeReport.
func (findings) Formats() []string { return []string{"json", "sarif", "markdown"} }

// Write implements inspect.JudgeReport.
func (f findings) Write(w io.Writer, format string) error {
	var text []byte
	var err error
	switch format {
	case "json":
		text, err = lintJSON(f.Report)
	case "sarif":
		text, err = f.SARIF(buildVersion())
	default:
		text = []byte(f.Markdown())
	}
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
