package authprobe

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/time/rate"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/requirement"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/internal/httpcall"
	"github.com/parley-mcp/parley/internal/revision"
)

// X is what a probe has.
type X struct {
	Ctx context.Context //nolint:containedctx // that of the check, which probes run in
	Log *peer.Log
	Found

	endpoint *url.URL // nil if only an authorization server is judged
	opts     *Options
	conn     *peer.Conn
	notes    []string
	ids      int
	session  *session
	client   *client
	logged   *logged
	spare    *logged
	narrow   *operation
	answered []answer // what the authorization server sent through a browser
	trap     Trap
}

func newX(ctx context.Context, t Target, o *Options, pace *rate.Limiter) (*X, error) {
	x := &X{Ctx: ctx, Log: peer.NewLog(peer.Limits{Message: 1 << 20}), opts: o}
	x.Issuer = t.Issuer
	if t.Endpoint != "" {
		u, err := httpcall.ParseURL(t.Endpoint)
		if err != nil {
			return nil, fmt.Errorf("%s is no endpoint: %w", t.Endpoint, err)
		}
		u.Fragment = ""
		x.endpoint = u
	}
	x.conn = peer.OverHTTP(x.Log, peer.Site{URL: t.Endpoint, Client: t.Client, Header: t.Header})
	x.conn.Patience, x.conn.Pace = o.Patience, pace.Wait
	return x, nil
}

func (x *X) end() {
	if x.trap != nil {
		_ = x.trap.Close() // nobody calls any more
	}
	_ = x.conn.Close() // what matters has been said
}

// Note adds a sentence to the report.
func (x *X) Note(format string, args ...any) { x.notes = append(x.notes, fmt.Sprintf(format, args...)) }

// Ask makes a request and waits for the whole answer, or for the first bytes of
// one that goes on.
func (x *X) Ask(out *peer.Out) *peer.Exchange {
	if out.URL != "" && !strings.HasPrefix(out.URL, "http") {
		return &peer.Exchange{Method: out.HTTPMethod, URL: out.URL, Err: errors.New("it is no http or https URL")}
	}
	if out.Header["Accept"] == nil && out.URL != "" {
		out = out.With("Accept", "application/json, text/html;q=0.9, */*;q=0.8")
	}
	r := x.conn.Do(x.Ctx, out)
	if r.Exchange == nil {
		return &peer.Exchange{Method: out.HTTPMethod, URL: out.URL, Err: r.Err}
	}
	r.Stop()
	x.Log.Await(x.Ctx, func() bool { return r.Exchange.Done })
	return r.Exchange
}

// Get fetches something.
func (x *X) Get(target string) *peer.Exchange {
	return x.Ask(&peer.Out{HTTPMethod: http.MethodGet, URL: orNone(target)})
}

// orNone stands for a URL that is missing, which is not the endpoint.
func orNone(target string) string { return cmp.Or(target, "no URL") }

// Form posts a form.
func (x *X) Form(target string, form url.Values) *peer.Exchange {
	return x.Ask((&peer.Out{URL: orNone(target), Raw: []byte(form.Encode())}).With("Content-Type", "application/x-www-form-urlencoded"))
}

// Message is a request of a revision to the endpoint, with its headers.
func (x *X) Message(f *revision.Facts, method string, params map[string]any) *peer.Out {
	x.ids++
	m := map[string]any{"jsonrpc": "2.0", "id": x.ids, "method": method}
	info := map[string]any{"name": "parley-check", "version": "1"}
	if params == nil {
		params = map[string]any{}
	}
	header := http.Header{}
	if f.Stateless {
		params["_meta"] = map[string]any{
			metaVersion: f.Revision.String(), metaClient: info, metaCapabilities: map[string]any{},
		}
		header.Set("Mcp-Method", method)
	} else if method == "initialize" {
		params = map[string]any{"protocolVersion": f.Revision.String(), "capabilities": map[string]any{}, "clientInfo": info}
	}
	if method != "initialize" {
		header.Set("Mcp-Protocol-Version", f.Revision.String())
	}
	m["params"] = params
	out := peer.Frame(m)
	out.Header = header
	return out
}

// Bearer is a message with a token.
func Bearer(out *peer.Out, token string) *peer.Out { return out.With("Authorization", "Bearer "+token) }

// hello is a message that any server of sessions takes first, and list one that
// a stateless server takes.
func (x *X) hello() *peer.Out { return x.Message(revision.Default(nil, false), "initialize", nil) }

func (x *X) list() *peer.Out { return x.Message(revision.Default(nil, true), "tools/list", nil) }

// run runs all probes, and returns what each found by the role that it judges.
func (x *X) run() map[requirement.Role][]probe.Judged {
	all := slices.DeleteFunc(All(), func(p *Probe) bool {
		return x.opts.Only != nil && !slices.Contains(x.opts.Only, p.ID)
	})
	judged := map[requirement.Role][]probe.Judged{}
	for n, p := range all {
		if x.opts.Progress != nil {
			x.opts.Progress(p.ID, n, len(all))
		}
		judged[p.Role] = append(judged[p.Role], probe.Judged{Info: p.Info, Finding: x.find(p)})
	}
	return judged
}

func (x *X) find(p *Probe) probe.Finding {
	if x.Ctx.Err() != nil {
		return probe.Unverified("the check was interrupted before")
	}
	if f, missing := x.lacks(p.Needs); missing {
		return f
	}
	f := p.Run(x)
	if x.Ctx.Err() != nil && f.Outcome == verdict.Fail {
		return probe.Unverified("the check was interrupted meanwhile")
	}
	return f
}

// revisions are those that are judged: the first one has no authorization. The
// second has another scheme of discovery, and counts where a server keeps it.
func (x *X) revisions() []string {
	var all []string
	for _, f := range revision.All() {
		name := f.Revision.String()
		switch {
		case x.opts.Revisions != nil && !slices.Contains(x.opts.Revisions, name), !f.StreamableHTTP:
		case x.opts.Revisions == nil && isOld(name) && !x.isOldFashioned():
		default:
			all = append([]string{name}, all...)
		}
	}
	return all
}

// roles are those that are judged.
func (x *X) roles() []requirement.Role {
	if x.endpoint == nil {
		return []requirement.Role{requirement.Authorization}
	}
	return []requirement.Role{requirement.Server, requirement.Authorization}
}

// Of points at an exchange, whole.
func Of(all ...*peer.Exchange) []probe.Blame {
	var blamed []probe.Blame
	for _, e := range all {
		if e == nil {
			continue
		}
		blamed = append(blamed, probe.Blame{Message: e.Message, Exchange: e})
	}
	return blamed
}

// fault says that an exchange breaks the rule.
func fault(e *peer.Exchange, format string, args ...any) probe.Finding {
	return probe.Fail(Of(e), format, args...)
}

// silent is the finding for an exchange in which no answer came.
func silent(e *peer.Exchange) probe.Finding {
	if e.Err != nil {
		return probe.Unverified("%s could not be asked: %v", place(e), e.Err)
	}
	return probe.Unverified("%s did not answer in time", place(e))
}

func place(e *peer.Exchange) string {
	u, err := url.Parse(e.URL)
	if err != nil {
		return e.URL
	}
	return u.Scheme + "://" + u.Host + u.Path
}

// took reports whether a request was served.
func took(e *peer.Exchange) bool { return e.Status >= 200 && e.Status < 300 }

// object decodes the body of an answer as an object.
func object(e *peer.Exchange) (map[string]any, bool) {
	v, err := peer.Decode(e.Text)
	if err != nil {
		return nil, false
	}
	m, ok := v.(map[string]any)
	return m, ok
}

func text(m map[string]any, name string) string { s, _ := m[name].(string); return s }

func texts(m map[string]any, name string) []string {
	list, _ := m[name].([]any)
	var all []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

// forged is a token that looks like those of an issuer, for a resource, signed by
// nobody.
func forged(issuer, resource, algorithm string) string {
	part := func(v map[string]any) string { return base64.RawURLEncoding.EncodeToString(peer.Encode(v)) }
	signature := ""
	if algorithm != "none" {
		signature = base64.RawURLEncoding.EncodeToString([]byte(strings.Repeat("parley-check", 6)))[:86]
	}
	return part(map[string]any{"alg": algorithm, "typ": "at+jwt", "kid": "parley-check"}) + "." + part(map[string]any{
		"iss": issuer, "aud": resource, "sub": "parley-check", "client_id": "parley-check", "scope": "mcp",
		"iat": 1700000000, "exp": 4000000000, "jti": "parley-check",
	}) + "." + signature
}
