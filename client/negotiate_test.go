package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

// said is what a script learns of a request.
type said struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		ProtocolVersion string          `json:"protocolVersion"`
		Capabilities    json.RawMessage `json:"capabilities"`
	} `json:"params"`
}

// script answers the requests of an HTTP client in memory, and remembers their
// methods.
type script struct {
	answer func(m *said) (status int, body string)

	mu   sync.Mutex
	seen []string
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	resp := func(status int, body string) *http.Response {
		return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r}
	}
	if r.Method != http.MethodPost {
		return resp(http.StatusMethodNotAllowed, ""), nil
	}
	m := new(said)
	if err := json.NewDecoder(r.Body).Decode(m); err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.seen = append(s.seen, strings.TrimSpace(m.Method+" "+m.Params.ProtocolVersion))
	s.mu.Unlock()
	if m.ID == nil {
		return resp(http.StatusAccepted, ""), nil
	}
	status, body := s.answer(m)
	if status == 0 {
		return nil, errors.New("connection refused")
	}
	return resp(status, strings.ReplaceAll(body, "ID", string(m.ID))), nil
}

func (s *script) connect(t *testing.T, o *client.Options) (*client.Client, error) {
	t.Helper()
	c, err := client.Connect(t.Context(), &streamable.Client{URL: "http://peer.test/mcp", HTTP: &http.Client{Transport: s}, Logger: mcptest.Quiet()}, o)
	if err == nil {
		t.Cleanup(func() { _ = c.Close() })
	}
	return c, err
}

const opened = `{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"%s","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`

// Only a 4xx without an error of the stateless era says that a server has sessions.
// Trouble says nothing, and is the error of Connect.
func TestProbeOverHTTP(t *testing.T) {
	tests := map[string]struct {
		status int
		body   string
		falls  bool
		err    error
	}{
		"not found":              {404, "", true, nil},
		"bad request":            {400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no session"}}`, true, nil},
		"teapot":                 {418, "", true, nil},
		"an error, 200":          {200, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"no"}}`, true, nil},
		"a modern error":         {400, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32021,"message":"no"}}`, false, nil},
		"not available":          {503, "", false, mcp.ErrUnavailable},
		"not available, message": {503, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32603,"message":"busy"}}`, false, mcp.ErrUnavailable},
		"too many":               {429, "", false, mcp.ErrUnavailable},
		"no login":               {401, "", false, mcp.ErrUnauthorized},
		"no connection":          {0, "", false, mcp.ErrUnavailable},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := &script{answer: func(m *said) (int, string) {
				if m.Method == mcp.MethodInitialize {
					return 200, fmt.Sprintf(opened, m.Params.ProtocolVersion)
				}
				return tt.status, tt.body
			}}
			_, err := s.connect(t, &client.Options{Logger: mcptest.Quiet()})
			if tt.falls != (err == nil) || tt.err != nil && !errors.Is(err, tt.err) {
				t.Errorf("error = %v, want a session %v, error %v", err, tt.falls, tt.err)
			}
			if initialized := strings.Contains(strings.Join(s.seen, ","), mcp.MethodInitialize); initialized != tt.falls {
				t.Errorf("the client sent %q", s.seen)
			}
		})
	}
}

// A server that refuses initialize is tried once more in the next older revision,
// and the log says so.
func TestRefusedHandshakeIsTriedInAnOlderRevision(t *testing.T) {
	const refusal = `{"jsonrpc":"2.0","id":ID,"error":{"code":-32603,"message":"unrecognized field"}}`
	for name, takes := range map[string]string{"the next": "2025-06-18", "none": ""} {
		t.Run(name, func(t *testing.T) {
			var log logged
			s := &script{answer: func(m *said) (int, string) {
				if m.Method == mcp.MethodInitialize && m.Params.ProtocolVersion == takes {
					return 200, fmt.Sprintf(opened, takes)
				}
				return 400, refusal
			}}
			c, err := s.connect(t, &client.Options{Logger: log.logger()})
			want := []string{mcp.MethodDiscover, "initialize 2025-11-25", "initialize 2025-06-18"}
			if got := strings.Join(s.seen[:3], ","); got != strings.Join(want, ",") {
				t.Errorf("sent %s, want %s", got, want)
			}
			if takes == "" {
				if err == nil || !strings.Contains(err.Error(), "unrecognized field") {
					t.Errorf("error = %v, want the refusal", err)
				}
				return
			}
			if err != nil || c.Revision().String() != takes {
				t.Fatalf("error = %v, want a session in %s", err, takes)
			}
			if lines := log.lines("takes an older one"); len(lines) != 1 || !strings.Contains(lines[0], "unrecognized field") {
				t.Errorf("logged %q, want the refusal once", lines)
			}
		})
	}
}

// Forms alone are declared by an empty object in a session: some servers refuse the
// members of a capability that they do not know.
func TestFormsAreDeclaredByAnEmptyObject(t *testing.T) {
	elicit := func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		return nil, errors.New("nobody asks")
	}
	for want, o := range map[string]*client.Options{
		`{"elicitation":{}}`:                   {Elicit: elicit},
		`{"elicitation":{"url":{}}}`:           {VisitURL: elicit},
		`{"elicitation":{"form":{},"url":{}}}`: {Elicit: elicit, VisitURL: elicit},
	} {
		var got string
		s := &script{answer: func(m *said) (int, string) {
			got = string(m.Params.Capabilities)
			return 200, fmt.Sprintf(opened, m.Params.ProtocolVersion)
		}}
		o.Revisions, o.Logger = []mcp.Revision{mcp.Revision20251125}, mcptest.Quiet()
		if _, err := s.connect(t, o); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("declared %s, want %s", got, want)
		}
	}
}

// unhurried is a server that takes a while to say what it is.
type unhurried struct{ mcp.Handler }

func (u unhurried) Describe(ctx context.Context, peer *mcp.Peer) *mcp.Description {
	sleep(ctx, 20*time.Second)
	return u.Handler.Describe(ctx, peer)
}

// Spec: 2026-07-28 basic/versioning#compatibility-matrix.
// A client that has no revision with a handshake waits for a slow server as long as for
// any answer, since there is nothing else to try, and says what it has waited for.
func TestSlowServerWithoutAnAlternative(t *testing.T) {
	for _, tt := range []struct {
		limit, patience time.Duration
		want            string // in the error; none if empty
	}{
		{time.Minute, time.Hour, ""},
		{10 * time.Second, time.Hour, "server/discover: the server did not answer in time"},
		{time.Minute, 10 * time.Second, "server/discover: context deadline exceeded"},
	} {
		synctest.Test(t, func(t *testing.T) {
			tr := &mcptest.Transport{Handler: unhurried{server.New(mcp.Implementation{Name: "s", Version: "1"}, nil)}, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
			ctx, cancel := context.WithTimeout(t.Context(), tt.patience)
			defer cancel()
			c, err := client.Connect(ctx, tr, &client.Options{Revisions: []mcp.Revision{mcp.Revision20260728}, Timeout: tt.limit, Logger: mcptest.Quiet()})
			if err == nil {
				_ = c.Close()
			}
			tr.Wait()
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("with a limit of %v, and for %v: %v", tt.limit, tt.patience, err)
			}
		})
	}
}
