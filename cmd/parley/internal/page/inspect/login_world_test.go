package inspect

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/parley-mcp/parley/transport/streamable"
)

// guarded is a server that demands a login, and its authorization server, which lets
// everybody in.
type guarded struct {
	*httptest.Server

	mu      sync.Mutex
	tokens  map[string]string // the scopes of each
	issued  int
	revoked int
	asked   string // the scopes of the last authorization
}

// endpoint is the path of the server.
const endpoint = "/mcp"

func newGuarded(t *testing.T) *guarded {
	h, err := streamable.New(newTestServer(), nil)
	if err != nil {
		t.Fatal(err)
	}
	g := &guarded{tokens: map[string]string{}}
	mux := http.NewServeMux()
	g.Server = httptest.NewServer(mux)
	t.Cleanup(g.Close)
	mux.HandleFunc(endpoint, func(w http.ResponseWriter, r *http.Request) { g.serve(h, w, r) })
	document := func(path string, members map[string]any) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { sendJSON(w, http.StatusOK, members) })
	}
	document("/.well-known/oauth-protected-resource/mcp", map[string]any{"resource": g.URL + endpoint, "authorization_servers": []string{g.URL}, "scopes_supported": []string{"read", "write"}})
	document("/.well-known/oauth-authorization-server", map[string]any{
		"issuer": g.URL, "authorization_endpoint": g.URL + "/authorize", "token_endpoint": g.URL + "/token", "registration_endpoint": g.URL + "/register",
		"revocation_endpoint": g.URL + "/revoke", "response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
	})
	mux.HandleFunc("POST /register", func(w http.ResponseWriter, r *http.Request) {
		var in map[string]any
		_ = json.NewDecoder(r.Body).Decode(&in)
		in["client_id"] = "client-1"
		sendJSON(w, http.StatusCreated, in)
	})
	mux.HandleFunc("GET /authorize", g.authorize)
	mux.HandleFunc("POST /token", g.token)
	mux.HandleFunc("POST /revoke", func(http.ResponseWriter, *http.Request) { g.mu.Lock(); g.revoked++; g.mu.Unlock() })
	return g
}

func sendJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// serve lets those in who have a token; calls of tools need the scope write.
func (g *guarded) serve(h http.Handler, w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	scopes, known := g.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	g.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	metadata := fmt.Sprintf(`resource_metadata="%s/.well-known/oauth-protected-resource/mcp"`, g.URL)
	switch {
	case !known:
		w.Header().Set("WWW-Authenticate", "Bearer "+metadata+`, scope="read"`)
		w.WriteHeader(http.StatusUnauthorized)
	case bytes.Contains(body, []byte(`"tools/call"`)) && !strings.Contains(scopes, "write"):
		w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="read write", `+metadata)
		w.WriteHeader(http.StatusForbidden)
	default:
		h.ServeHTTP(w, r)
	}
}

func (g *guarded) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	g.mu.Lock()
	g.asked = q.Get("scope")
	g.mu.Unlock()
	http.Redirect(w, r, q.Get("redirect_uri")+"?code=the-code&state="+q.Get("state"), http.StatusFound)
}

func (g *guarded) token(w http.ResponseWriter, _ *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.issued++
	payload := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"sub":"somebody","n":%d}`, g.issued))
	token := "e30." + payload + ".c2lnbmF0dXJl"
	g.tokens[token] = g.asked
	sendJSON(w, http.StatusOK, map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": 3600, "refresh_token": fmt.Sprintf("refresh-secret-%d", g.issued), "scope": g.asked})
}

// visit does what the browser of a user does who agrees.
func visit(t *testing.T, address string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); !bytes.Contains(body, []byte("Your answer has arrived")) {
		t.Fatalf("the browser ended at %s", body)
	}
}

// login returns the login of a connection when it is as wanted.
func (s *stage) login(id string, wanted func(shownLogin) bool) shownLogin {
	s.Helper()
	for {
		next := partOf[login](s.server.byID(id)).next()
		if now := must[shownLogin](s, "GET", "/connections/"+id+"/login", nil); wanted(now) {
			return now
		}
		select {
		case <-next:
		case <-s.Context().Done():
			s.Fatal("the test ended first")
		}
	}
}

func names(l shownLogin) []string {
	list := []string{}
	for _, st := range l.Steps {
		list = append(list, st.Name)
	}
	return list
}

func isWaiting(l shownLogin) bool { return l.Waiting != nil }
func isIdle(l shownLogin) bool    { return l.Running == "" && l.Waiting == nil }
