package standin

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/parley-mcp/parley/auth"
	"github.com/parley-mcp/parley/mcp"
)

// issuer is an authorization server at which everybody is Ann, who agrees to everything.
type issuer struct {
	url string

	mu     sync.Mutex
	codes  map[string]url.Values  // what a code was asked for with
	tokens map[string]*auth.Token // what a token is for
}

func (i *issuer) mount(mux *http.ServeMux) {
	i.codes, i.tokens = map[string]url.Values{}, map[string]*auth.Token{}
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]any{
			"issuer": i.url, "authorization_endpoint": i.url + "/authorize", "token_endpoint": i.url + "/token",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
			"token_endpoint_auth_methods_supported": []string{"none"}, "authorization_response_iss_parameter_supported": true,
		})
	})
	mux.HandleFunc("GET /authorize", i.authorize)
	mux.HandleFunc("POST /token", i.token)
}

// authorize sends the browser back with a code.
func (i *issuer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || back.Hostname() != "127.0.0.1" || q.Get("code_challenge_method") != "S256" {
		http.Error(w, "this is no request of the agent", http.StatusBadRequest)
		return
	}
	code := rand.Text()
	i.mu.Lock()
	i.codes[code] = q
	i.mu.Unlock()
	back.RawQuery = url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {i.url}}.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound) //nolint:gosec // to this machine
}

// token gives a token for a code, to whoever has asked for the code.
func (i *issuer) token(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	asked := i.codes[r.PostFormValue("code")]
	delete(i.codes, r.PostFormValue("code"))
	proof := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if asked == nil || base64.RawURLEncoding.EncodeToString(proof[:]) != asked.Get("code_challenge") || r.PostFormValue("redirect_uri") != asked.Get("redirect_uri") {
		answer(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
		return
	}
	text := rand.Text()
	i.tokens[text] = &auth.Token{
		Authorization: mcp.Authorization{Issuer: i.url, Subject: "ann", ClientID: asked.Get("client_id"), Scopes: []string{"calendar"}, Expires: time.Now().Add(time.Hour)},
		Audience:      []string{asked.Get("resource")},
	}
	answer(w, http.StatusOK, map[string]any{"access_token": text, "token_type": "Bearer", "expires_in": int(time.Hour.Seconds()), "scope": "calendar"})
}

// verify finds out what a token is for.
func (i *issuer) verify(_ context.Context, text string) (*auth.Token, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if t := i.tokens[text]; t != nil {
		return t, nil
	}
	return nil, &auth.TokenError{Reason: "it is not one that was given here"}
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client sees what is missing
}

// Browse is Ann's browser: it opens a page, and follows where that leads.
func (w *World) Browse(ctx context.Context, page string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if err != nil {
		return err
	}
	resp, err := w.web.Client().Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the browser shows %s", resp.Status)
	}
	return nil
}
