package inspect

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/trouble"
	"github.com/parley-mcp/parley/internal/httpcall"
	"github.com/parley-mcp/parley/internal/redact"
	"github.com/parley-mcp/parley/internal/wire"
)

// maxStepBody bounds what is kept of a body. The documents of OAuth are small.
const maxStepBody = 256 << 10

// watched is an HTTP transport whose requests are steps of a login: all of them, or only
// those whose response demands one.
type watched struct {
	base   http.RoundTripper
	all    bool
	steps  func(*step)
	secret *redact.Redactor // takes out what the user gave
}

// watch returns what notes steps.
func (s *login) watch(c *Connection) func(*step) {
	return func(st *step) {
		s.mu.Lock()
		if id, ok := st.Facts["client_id"].(string); ok && st.Name == stepRegistration {
			s.steps.registered = id
		}
		s.steps.add(st, s.running != "")
		s.mu.Unlock()
		s.changed(c)
	}
}

// CloseIdleConnections passes http.Client.CloseIdleConnections on.
func (w *watched) CloseIdleConnections() {
	if closer, ok := w.base.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

// Credentials passes on what the transports ask to know whether results are private.
func (w *watched) Credentials(ctx context.Context) (id string, known bool) {
	return httpcall.Carried(ctx, w.base)
}

// RoundTrip implements http.RoundTripper.
func (w *watched) RoundTrip(r *http.Request) (*http.Response, error) {
	st := &step{At: time.Now()}
	if w.all {
		st.Request = requestOf(r, w.secret)
	}
	resp, err := w.base.RoundTrip(r)
	switch {
	case w.all:
		st.Took = time.Since(st.At).Seconds()
		st.finish(w.secret, r, resp, err)
		w.steps(st)
	case err == nil && demands(resp):
		st.Took = time.Since(st.At).Seconds()
		st.Request = &stepRequest{Method: r.Method, URL: w.secret.Text(r.URL.Redacted())}
		st.finish(w.secret, r, resp, nil)
		w.steps(st)
	}
	return resp, err
}

// demands reports whether a response demands a login, or another one.
func demands(resp *http.Response) bool {
	return resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden && trouble.Scopes(resp.Header) != nil
}

// requestOf returns what is shown of a request.
func requestOf(r *http.Request, secret *redact.Redactor) *stepRequest {
	shown := &stepRequest{Method: r.Method, URL: secret.Text(r.URL.Redacted())}
	if r.GetBody == nil {
		return shown
	}
	body, err := r.GetBody()
	if err != nil {
		return shown
	}
	defer body.Close()
	text, _ := io.ReadAll(io.LimitReader(body, maxStepBody)) // what cannot be read is not shown
	shown.Body = string(text)
	return shown
}

// finish completes a step by what came back.
func (st *step) finish(secret *redact.Redactor, r *http.Request, resp *http.Response, err error) {
	if err != nil {
		st.Name, st.Error = nameOf(r, st.Request.Body, 0), secret.Text(err.Error())
	} else {
		st.Name = nameOf(r, st.Request.Body, resp.StatusCode)
		st.Response = &stepResponse{Status: resp.StatusCode, Challenge: resp.Header.Values("WWW-Authenticate")}
		if st.Name != stepChallenge && st.Name != stepScopes && st.Name != stepProbe {
			st.read(resp, secret)
		}
	}
	st.Request.Body = secret.Text(st.Request.Body)
}

// read takes the document out of a response, and puts it back.
func (st *step) read(resp *http.Response, secret *redact.Redactor) {
	head, err := io.ReadAll(io.LimitReader(resp.Body, maxStepBody))
	resp.Body = &replayed{io.MultiReader(bytes.NewReader(head), &failing{resp.Body, err}), resp.Body}
	st.learn(head)
	masked := secret.Text(string(head))
	if wire.Members([]byte(masked), func(string, []byte) error { return nil }) == nil {
		st.Response.Document = json.RawMessage(masked)
		return
	}
	st.Response.Text = strings.ToValidUTF8(masked[:min(len(masked), 2000)], "\ufffd")
}

// learn notes what there is to know of a document that is not to be shown as it is.
func (st *step) learn(doc []byte) {
	st.Facts = map[string]any{}
	switch st.Name {
	case stepRegistration:
		if id, ok := wire.Text(wire.Find(doc, "client_id")); ok {
			st.Facts["client_id"] = id
		}
	case stepToken, stepRefresh:
		token, _ := wire.Text(wire.Find(doc, "access_token"))
		if c := claims(token); c != nil {
			st.Facts["claims"] = c
		}
		_, renewable := wire.Text(wire.Find(doc, "refresh_token"))
		st.Facts["refresh_token"] = renewable
	}
}

// replayed is a body of which something was read before.
type replayed struct {
	io.Reader
	io.Closer
}

// failing returns an error that was met before it reads on.
type failing struct {
	io.Reader
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return f.Reader.Read(p)
}

// nameOf returns the step that a request is, by what it says.
func nameOf(r *http.Request, body string, status int) string {
	form, _ := url.ParseQuery(body) // what is no form has no such members
	switch {
	case strings.Contains(r.URL.Path, "/.well-known/oauth-protected-resource"):
		return stepResource
	case strings.Contains(r.URL.Path, "/.well-known/"):
		return stepServer
	case form.Get("grant_type") == "refresh_token":
		return stepRefresh
	case form.Get("grant_type") != "":
		return stepToken
	case form.Get("token_type_hint") != "":
		return stepRevocation
	case strings.Contains(body, `"redirect_uris"`):
		return stepRegistration
	case status == http.StatusUnauthorized:
		return stepChallenge
	case status == http.StatusForbidden:
		return stepScopes
	case body == "" && r.Method == http.MethodGet && !strings.Contains(r.Header.Get("Accept"), "event-stream"):
		return stepResource // at a place that the challenge named
	case strings.Contains(r.Header.Get("Accept"), "event-stream"):
		return stepProbe
	}
	return stepOther
}

func decode64(s string) ([]byte, error) {
	return base64.RawURLEncoding.DecodeString(strings.TrimRight(s, "="))
}
