package clientprobe_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/internal/check/clientprobe"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// modest are clients that can do less than the specimen, or whose users say no.
var modest = map[string]func() *client.Options{
	"bare": func() *client.Options { return &client.Options{NoTasks: true, NoCache: true} },
	"forms only": func() *client.Options {
		return &client.Options{Elicit: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "decline"}, nil
		}}
	},
	"visits only": func() *client.Options {
		return &client.Options{VisitURL: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "cancel"}, nil
		}}
	},
	"model that fails": func() *client.Options {
		return &client.Options{AnswerAsTasks: true, Sample: func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			return nil, errors.New("there is no model")
		}}
	},
}

// A client that does little is accused of nothing, either.
func TestModestAreInnocent(t *testing.T) {
	for name, options := range modest {
		for _, c := range cases {
			t.Run(name+"/"+c.revision+"/"+c.transport, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					var site *mcptest.Site
					report, err := clientprobe.Check(t.Context(), func(ctx context.Context, p *clientprobe.Place) error {
						return useLittle(ctx, reach(p, site, nil), options())
					}, &clientprobe.Options{
						Revisions: []string{c.revision}, Lines: c.transport == "stdio", Processes: c.transport == "stdio",
						Serve: func(h http.Handler) (string, string, func(), error) {
							site = mcptest.NewSite(h)
							return site.URL, "http://elsewhere.example", site.Close, nil
						},
					})
					if err != nil {
						t.Fatal(err)
					}
					for _, v := range report.Runs[0].Verdicts {
						if v.Outcome == verdict.Fail || v.Outcome == verdict.Warn {
							t.Errorf("%s", describe(v))
						}
					}
				})
			})
		}
	}
}

// useLittle lists one page of the tools and calls those that it has, twice.
func useLittle(ctx context.Context, t mcp.Transport, o *client.Options) error {
	o.Logger, o.Timeout = mcptest.Quiet(), 2*time.Second
	o.MaxTimeout = o.Timeout
	c, err := client.Connect(ctx, t, o)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // what matters has been said
	tools, err := c.ListTools(ctx, nil)
	for range 2 {
		if err != nil {
			return nil //nolint:nilerr // the server may be one that fails
		}
		for _, tool := range tools.Tools {
			_, _ = c.CallTool(ctx, tool.Name, map[string]any{"a": 1, "b": 2})
		}
		_, _ = c.CallTool(ctx, "report", nil)
	}
	return nil
}
