package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/mcptest"
)

func TestGrants(t *testing.T) {
	const key = "-----BEGIN PRIVATE KEY-----\\nMIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgevZzL1gdAFr88hb2\\nOF/2NxApJCzGCEDdfSp6VQO30hyhRANCAAQRWz+jn65BtOMvdyHKcvjBeBSDZH2r\\n1RTwjmYSi9R/zpBnuQ4EiMnCqfMPWiZqB4QdbAd0E7oH50VpuZ1P087G\\n-----END PRIVATE KEY-----"
	t.Setenv("MCP_CONFORMANCE_CONTEXT", `{"client_id":"c","client_secret":"s","issuer":"https://as.example","private_key_pem":"`+key+`","signing_algorithm":"ES256",
		"idp_client_id":"i","idp_id_token":"t","idp_token_endpoint":"https://idp.example/token","valid_jwt":"j"}`)
	for _, name := range []string{
		"auth/basic-cimd", "auth/pre-registration", "auth/dpop", "auth/client-credentials-basic",
		"auth/client-credentials-jwt", "auth/enterprise-managed-authorization", "auth/wif-jwt-bearer",
	} {
		c, err := login(name, "http://localhost:1/mcp", mcptest.Quiet())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		_ = c.Close()
	}
	t.Setenv("MCP_CONFORMANCE_CONTEXT", `{`)
	if _, err := login("auth/dpop", "http://localhost:1/mcp", mcptest.Quiet()); err == nil {
		t.Error("a broken context was taken")
	}
}

func TestVisitor(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/error" {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		http.Redirect(w, r, "http://localhost:3000/callback?code=c&state=s", http.StatusFound)
	}))
	defer page.Close()
	receive := func(path string) (string, error) {
		v, err := visitor{}.Receive(context.Background(), oauth.AuthorizationRequest{URL: page.URL + path})
		return v.Get("code"), err
	}
	if code, err := receive("/"); err != nil || code != "c" {
		t.Errorf("got %q, %v", code, err)
	}
	if _, err := receive("/error"); err == nil {
		t.Error("an error page is no answer")
	}
}

// Where the client has to refuse, only going on is an error.
func TestRefused(t *testing.T) {
	broken := errors.New("broken")
	if refused("auth/iss-wrong-issuer", broken) != nil || refused("auth/iss-wrong-issuer", nil) == nil {
		t.Error("a refusal is the end of auth/iss-wrong-issuer")
	}
	if !errors.Is(refused("auth/basic-cimd", broken), broken) || refused("auth/basic-cimd", nil) != nil {
		t.Error("auth/basic-cimd has to succeed")
	}
}
