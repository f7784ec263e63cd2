package devauth_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/devauth"
)

func quote(t *testing.T, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestRegistrationRefuses(t *testing.T) {
	w := newWorld(t, nil)
	for body, want := range map[string]string{
		`x`:                    "invalid_client_metadata",
		`[]`:                   "invalid_client_metadata",
		`{}`:                   "invalid_redirect_uri",
		`{"redirect_uris":[]}`: "invalid_redirect_uri",
		`{"redirect_uris":["` + remote + `"],"token_endpoint_auth_method":"client_secret_jwt"}`:                                         "invalid_client_metadata",
		`{"redirect_uris":["` + remote + `"],"token_endpoint_auth_method":"private_key_jwt"}`:                                           "invalid_client_metadata",
		`{"redirect_uris":["` + remote + `"],"token_endpoint_auth_method":"private_key_jwt","jwks_uri":"http://a/b"}`:                   "invalid_client_metadata",
		`{"redirect_uris":["` + remote + `"],"token_endpoint_auth_method":"private_key_jwt","jwks":{"keys":[{"kty":"oct","k":"AAA"}]}}`: "invalid_client_metadata",
		`{"redirect_uris":["` + remote + `"],"response_types":["token"]}`:                                                               "invalid_client_metadata",
		`{"redirect_uris":["` + remote + strings.Repeat(`","`+remote, 20) + `"]}`:                                                       "invalid_redirect_uri",
		`{"redirect_uris":["` + strings.Repeat("x", 70<<10) + `"]}`:                                                                     "invalid_client_metadata",
	} {
		if p := w.do(registration(t, body), nil); p.failed() != want || p.status != http.StatusBadRequest {
			t.Errorf("%.100s: %d, %s", body, p.status, p.body)
		}
	}
	for uri, ok := range map[string]bool{
		"https://a.example/x": true, "http://localhost:3000/x": true, "http://127.0.0.1/": true, "http://[::1]:1/x": true, "com.example.app:/x": false, "cursor://host/x": false,
		"http://a.example/x": false, "http://10.0.0.1/x": false, "http://127.0.0.2/x": false, "javascript:alert(1)": false, "JavaScript://a/%0aalert(1)": false, "data:text/html,x": false, "file:///x": false,
		"https://a.example/#x": false, "https://a.example/#": false, "https://u@a.example/": false, "https:///x": false, "/x": false, "x": false, "myapp:x": false, "https://a.example/ x": false,
		"https://a.example/\n": false, "https://a.example/é": false, "http://localhost.evil.example/": false, "blob:https://a.example/x": false, "https://*.example/\"": false,
	} {
		p := w.do(registration(t, `{"redirect_uris":[`+quote(t, uri)+`]}`), nil)
		if ok != (p.status == http.StatusCreated) {
			t.Errorf("%q: %d, %s", uri, p.status, p.body)
		}
	}
}

func TestRegisteredSecret(t *testing.T) {
	w := newWorld(t, nil)
	p := w.do(registration(t, `{"redirect_uris":["`+remote+`"],"grant_types":["client_credentials"],"scope":"admin"}`), nil)
	made := p.json()
	secret, _ := made["client_secret"].(string)
	if p.status != http.StatusCreated || secret == "" || made["client_secret_expires_at"] != 0.0 || made["token_endpoint_auth_method"] != "client_secret_basic" || made["scope"] != nil {
		t.Fatalf("%d: %s", p.status, p.body)
	}
	a := w.app(made["client_id"].(string), secret, remote)
	if got := w.browser().tokens(a, "notes:read"); got.scope != "notes:read" {
		t.Errorf("got %+v", got)
	}
	if got := a.post("/token", url.Values{"grant_type": {"client_credentials"}}).failed(); got != "unauthorized_client" {
		t.Errorf("client_credentials: %q", got)
	}
	w.silent(secret)
}

func TestRegistrationIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(o *devauth.Options) { o.MaxClients = 3 })
		enrol := func() *page {
			return w.do(registration(t, `{"redirect_uris":["`+callback+`"],"token_endpoint_auth_method":"none"}`), nil)
		}
		known := func(id string) bool {
			return w.browser().open(w.app(id, "", callback).url("", nil)).status == http.StatusOK
		}
		var ids []string
		for range 3 {
			ids = append(ids, enrol().json()["client_id"].(string))
			pass(time.Second)
		}
		if ok := known(ids[0]); !ok { // which is a use of it
			t.Fatal("forgotten at once")
		}
		enrol()
		if !known(ids[0]) || known(ids[1]) || !known(ids[2]) {
			t.Errorf("known are %v, %v, %v; the second was not used for longest", known(ids[0]), known(ids[1]), known(ids[2]))
		}
		var last *page
		for range 100 {
			last = enrol()
		}
		if last.status != http.StatusTooManyRequests || last.header.Get("Retry-After") == "" {
			t.Errorf("the hundredth at a time: %d", last.status)
		}
		pass(2 * time.Second)
		if last = enrol(); last.status != http.StatusCreated {
			t.Errorf("later: %d", last.status)
		}
	})
}
