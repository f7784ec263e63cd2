// Package authprobe judges the authorization of an MCP endpoint: the challenges
// and the metadata of the resource server, and the authorization server that it
// names. What a person has to do or to give is optional; without it only
// documents are read and requests made that must be refused.
package authprobe

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/time/rate"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/requirement"
	"github.com/parley-mcp/parley/internal/check/verdict"
)

// Target is what is judged: an MCP endpoint with the authorization server that
// it names, or an authorization server alone.
type Target struct {
	// Endpoint is the URL of an MCP endpoint, or "".
	Endpoint string
	// Issuer is that of the authorization server. "" means the first one that
	// the endpoint names.
	Issuer string
	// Client sends the requests; redirects are not followed. nil means a client
	// of its own.
	Client *http.Client
	// Header goes with each request to the endpoint. It has no credentials.
	Header http.Header
}

// Options say how to judge.
type Options struct {
	// Revisions limit the verdicts; nil means those that fit what is there.
	Revisions []string
	// Token is a good access token for the endpoint; OtherToken is one for
	// another audience, NarrowToken one with too few scopes, and SecondToken one
	// of another user. Each may be "".
	Token, OtherToken, NarrowToken, SecondToken string
	// Register allows to register a client, which is deleted if it can be.
	Register bool
	// ClientMetadata is the URL of a Client ID Metadata Document, or "". It
	// must be served with a query, too.
	ClientMetadata string
	// Login logs a person in, if it is set.
	Login *Login
	// Trap listens on this machine, to see who can be made to call, if it is set.
	Trap func(context.Context) (Trap, error)
	// Rate is how many requests are sent a second; 0 means 20.
	Rate float64
	// Patience is how long to wait for an answer.
	Patience peer.Patience
	// Only are the IDs of the probes to be run; nil means all.
	Only []string
	// Progress is told how far the check is, if set.
	Progress func(probe string, done, total int)
	// Tool names the checker in the report.
	Tool string
}

// Login is how a person logs in.
type Login struct {
	// RedirectURI is where the answer arrives, on the loopback or with https.
	RedirectURI string
	// ClientID is that of a registered public client with the redirect URI. ""
	// means to use ClientMetadata, or to register one.
	ClientID string
	// Visit brings the person to a page and returns the parameters of the
	// answer. It is called several times.
	Visit func(ctx context.Context, page, state string) (url.Values, error)
}

// Trap is a listener that nobody has a reason to call.
type Trap interface {
	// Addr is its host and port.
	Addr() string
	// Calls is how many connections have come.
	Calls() int
	Close() error
}

// Check judges. If the context ends it returns what was found until then, marked
// as partial. It returns an error if there is nothing to judge.
func Check(ctx context.Context, t Target, o *Options) (*verdict.Report, error) {
	report := &verdict.Report{
		Tool: o.Tool, Target: cmp.Or(t.Endpoint, t.Issuer), Role: requirement.Authorization, Started: time.Now().UTC(),
	}
	x, err := newX(ctx, t, o, rate.NewLimiter(rate.Limit(cmp.Or(o.Rate, 20)), 10))
	if err != nil {
		return nil, err
	}
	defer x.end()
	if err := x.survey(); err != nil && ctx.Err() == nil {
		return nil, err
	}
	judged := x.run()
	x.clear()
	if ctx.Err() != nil {
		report.Partial = verdict.Interrupted(ctx)
	}
	report.Name, report.Notes = x.Issuer, x.notes
	for _, revision := range x.revisions() {
		for _, role := range x.roles() {
			run := verdict.Run{
				Revision: revision, Transport: "http", Verdicts: probe.Verdicts(revision, judged[role], x.Log),
				Requests: len(x.Log.Exchanges()), Took: time.Since(report.Started),
			}
			if role != report.Role {
				run.Role = role
			}
			if len(run.Verdicts) > 0 {
				report.Runs = append(report.Runs, run)
			}
		}
	}
	report.Took = time.Since(report.Started)
	if len(report.Runs) == 0 {
		return nil, errors.New("no revision that was asked for says anything about authorization")
	}
	return report, nil
}
