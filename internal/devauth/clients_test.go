package devauth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/parley-mcp/parley/internal/devauth"
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
		"https://a.example/x": true, "http://localhost:3000/x": true, "http://127.0.0.1/": true, "http://[::1]:1/x": true, "com.example.app:/x": true, "cursor://host/x": true,
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

func TestClientCredentials(t *testing.T) {
	w := newWorld(t, nil)
	robot := w.app("robot", "robot secret", "")
	demand := url.Values{"grant_type": {"client_credentials"}, "resource": {resource}}
	got := robot.post("/token", demand).tokens()
	if c := claims(t, got.access); c["sub"] != "robot" || c["client_id"] != "robot" || got.scope != "notes:read" || got.refresh != "" {
		t.Errorf("%+v, %v", got, c)
	}
	if p := robot.post("/token", url.Values{"grant_type": {"client_credentials"}, "scope": {"notes:write"}}); p.failed() != "invalid_scope" {
		t.Errorf("more scopes: %s", p.body)
	}
	if p := w.app("web", "web secret", "").post("/token", demand); p.failed() != "unauthorized_client" {
		t.Errorf("a client for users: %s", p.body)
	}
	if p := robot.post("/token", url.Values{"grant_type": {"password"}}); p.failed() != "unsupported_grant_type" {
		t.Errorf("another grant: %s", p.body)
	}
}

func TestAuthentication(t *testing.T) {
	w := newWorld(t, nil)
	demand := func(extra url.Values) url.Values {
		extra.Set("grant_type", "client_credentials")
		return extra
	}
	for name, tt := range map[string]struct {
		form  url.Values
		basic string
		want  string
	}{
		"post":              {url.Values{"client_id": {"robot"}, "client_secret": {"robot secret"}}, "", ""},
		"basic":             {url.Values{}, "robot:robot+secret", ""},
		"wrong secret":      {url.Values{}, "robot:x", "invalid_client"},
		"no secret":         {url.Values{"client_id": {"robot"}}, "", "invalid_client"},
		"empty secret":      {url.Values{"client_id": {"robot"}, "client_secret": {""}}, "", "invalid_client"},
		"unknown":           {url.Values{"client_id": {"x"}, "client_secret": {"x"}}, "", "invalid_client"},
		"nobody":            {url.Values{}, "", "invalid_client"},
		"public, as secret": {url.Values{"client_id": {"desk"}, "client_secret": {""}}, "", "invalid_client"},
		"two ways":          {url.Values{"client_id": {"robot"}, "client_secret": {"robot secret"}}, "robot:robot+secret", "invalid_request"},
		"two names":         {url.Values{"client_id": {"web"}}, "robot:robot+secret", "invalid_request"},
		"twice":             {url.Values{"client_id": {"robot", "robot"}}, "", "invalid_request"},
		"bad encoding":      {url.Values{}, "robot:%zz", "invalid_request"},
		"odd assertion":     {url.Values{"client_assertion": {"x"}, "client_assertion_type": {"saml"}}, "", "invalid_request"},
	} {
		r := request(t, "POST", "/token", demand(tt.form))
		if id, secret, ok := strings.Cut(tt.basic, ":"); ok {
			r.SetBasicAuth(id, secret)
		}
		p := w.do(r, nil)
		if got := p.failed(); got != tt.want || got == "invalid_client" && p.status != http.StatusUnauthorized {
			t.Errorf("%s: %d, %s", name, p.status, p.body)
		}
		if got := p.header.Get("WWW-Authenticate"); (got != "") != (tt.basic != "" && tt.want != "") {
			t.Errorf("%s: WWW-Authenticate %q", name, got)
		}
	}
}

// signer signs assertions with a key of its own.
func signer(t *testing.T) (*jose.JSONWebKeySet, func(claims map[string]any) string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "1"}}}, func(claims map[string]any) string {
		body, err := json.Marshal(claims)
		if err != nil {
			t.Fatal(err)
		}
		signed, err := s.Sign(body)
		if err != nil {
			t.Fatal(err)
		}
		token, err := signed.CompactSerialize()
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
}

func TestAssertions(t *testing.T) {
	keys, sign := signer(t)
	_, forge := signer(t)
	w := newWorld(t, func(o *devauth.Options) {
		o.Clients = append(o.Clients, devauth.Client{ID: "signer", Keys: keys, Scopes: []string{"notes:read"}})
	})
	now := time.Now().Unix()
	claims := func(change map[string]any) map[string]any {
		c := map[string]any{"iss": "signer", "sub": "signer", "aud": issuer, "exp": now + 60, "iat": now, "jti": rand.Text()}
		for k, v := range change {
			c[k] = v
		}
		return c
	}
	post := func(token string) *page {
		return w.do(request(t, "POST", "/token", url.Values{
			"grant_type": {"client_credentials"}, "client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"}, "client_assertion": {token},
		}), nil)
	}
	good := sign(claims(nil))
	for name, token := range map[string]string{
		"issuer": good, "endpoint": sign(claims(map[string]any{"aud": issuer + "/token"})), "several": sign(claims(map[string]any{"aud": []string{"x", issuer}})),
	} {
		if p := post(token); p.status != http.StatusOK {
			t.Errorf("%s: %s", name, p.body)
		}
	}
	for name, token := range map[string]string{
		"again":            good,
		"forged":           forge(claims(nil)),
		"another audience": sign(claims(map[string]any{"aud": "https://evil.example.com"})),
		"another issuer":   sign(claims(map[string]any{"iss": "robot"})),
		"another subject":  sign(claims(map[string]any{"sub": "robot"})),
		"expired":          sign(claims(map[string]any{"exp": now - 60})),
		"endless":          sign(claims(map[string]any{"exp": now + 86400})),
		"no expiry":        sign(claims(map[string]any{"exp": 0})),
		"not yet":          sign(claims(map[string]any{"nbf": now + 300})),
		"no jti":           sign(claims(map[string]any{"jti": ""})),
		"unsigned":         "eyJhbGciOiJub25lIn0." + strings.Split(good, ".")[1] + ".",
		"junk":             "x",
	} {
		if p := post(token); p.status != http.StatusUnauthorized || p.failed() != "invalid_client" {
			t.Errorf("%s: %d, %s", name, p.status, p.body)
		}
	}
	w.silent(good)
}

// web serves documents by URL.
type web map[string]func() *http.Response

func (w web) RoundTrip(r *http.Request) (*http.Response, error) {
	serve := w[r.URL.String()]
	if serve == nil {
		return nil, fmt.Errorf("connect to 10.0.0.1: nobody at %s", r.URL)
	}
	resp := serve()
	resp.Request = r
	return resp, nil
}

func document(body string, header ...string) func() *http.Response {
	return func() *http.Response {
		h := http.Header{"Content-Type": {"application/json"}}
		for i := 0; i+1 < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		return &http.Response{StatusCode: http.StatusOK, Header: h, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body))}
	}
}

func TestMetadataDocument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const id = "https://app.example.com/client.json"
		fetched := 0
		doc := document(`{"client_id":"`+id+`","client_name":"App","redirect_uris":["`+callback+`"],"other":1}`, "Cache-Control", "public, max-age=600", "Age", "60")
		w := newWorld(t, func(o *devauth.Options) {
			o.HTTPClient = &http.Client{Transport: web{id: func() *http.Response { fetched++; return doc() }}}
		})
		a, b := w.app(id, "", callback), w.browser()
		p := b.open(a.url("notes:read", nil))
		if !strings.Contains(p.body, "password") || fetched != 0 {
			t.Errorf("fetched %d times for nobody", fetched)
		}
		p = b.login(p, "ada", password)
		if !strings.Contains(p.body, "<q>App</q>") || !strings.Contains(p.body, "describes itself at <strong>"+id) {
			t.Errorf("the consent page: %s", p.body)
		}
		a.redeem(b.allow(p).answer().Get("code"), nil).tokens()
		if fetched != 1 {
			t.Errorf("fetched %d times", fetched)
		}
		pass(9*time.Minute - time.Second)
		b.open(a.url("notes:read", nil))
		if fetched != 1 {
			t.Errorf("fetched anew before its time: %d", fetched)
		}
		pass(time.Second)
		b.open(a.url("notes:read", nil))
		if fetched != 2 {
			t.Errorf("fetched %d times", fetched)
		}
	})
}

func TestMetadataDocumentRefused(t *testing.T) {
	const id, good = "https://app.example.com/client.json", `{"client_id":"https://app.example.com/client.json","client_name":"App","redirect_uris":["` + callback + `"]}`
	sites := web{
		id + "?good":      document(strings.Replace(good, "client.json", "client.json?good", 1)),
		id + "?another":   document(good),
		id + "?no-name":   document(`{"client_id":"` + id + `?no-name","redirect_uris":["` + callback + `"]}`),
		id + "?no-uri":    document(`{"client_id":"` + id + `?no-uri","client_name":"App"}`),
		id + "?secret":    document(`{"client_id":"` + id + `?secret","client_name":"App","redirect_uris":["` + callback + `"],"token_endpoint_auth_method":"client_secret_basic"}`),
		id + "?elsewhere": document(`{"client_id":"` + id + `?elsewhere","client_name":"App","redirect_uris":["https://other.example.com/"]}`),
		id + "?bad-uri":   document(`{"client_id":"` + id + `?bad-uri","client_name":"App","redirect_uris":["` + callback + `","javascript:x"]}`),
		id + "?html":      document(good, "Content-Type", "text/html"),
		id + "?junk":      document(`{"client_id":`),
		id + "?twice":     document(`{"client_id":"` + id + `?twice","client_id":"` + id + `?twice","client_name":"App","redirect_uris":["` + callback + `"]}`),
		id + "?long":      document(strings.Repeat(" ", 20<<10) + good),
		id + "?redirect": func() *http.Response {
			r := document("", "Location", id+"?good")()
			r.StatusCode = http.StatusFound
			return r
		},
		id + "?missing": func() *http.Response { r := document(good)(); r.StatusCode = http.StatusNotFound; return r },
	}
	w := newWorld(t, func(o *devauth.Options) { o.HTTPClient = &http.Client{Transport: sites} })
	b := w.browser()
	b.login(b.open(w.desk().url("notes:read", nil)), "ada", password)
	open := func(id string) *page { return b.open(w.app(id, "", callback).url("notes:read", nil)) }
	if p := open(id + "?good"); p.status != http.StatusOK {
		t.Errorf("the good one: %d, %s", p.status, p.body)
	}
	for _, id := range []string{
		id + "?another", id + "?no-name", id + "?no-uri", id + "?secret", id + "?elsewhere", id + "?bad-uri", id + "?html", id + "?junk", id + "?twice", id + "?long", id + "?redirect", id + "?missing", id + "?unreachable",
		"https://app.example.com", "https://app.example.com/", "https://u@app.example.com/x", "https://app.example.com/a/../x", "https://app.example.com/x#y", "http://app.example.com/x",
	} {
		p := open(id)
		if p.status != http.StatusBadRequest || p.header.Get("Location") != "" {
			t.Errorf("%s: %d, %s", id, p.status, p.body)
		}
		if strings.Contains(p.body, "10.0.0.1") {
			t.Errorf("%s: the page says too much: %s", id, p.body)
		}
	}
}

// By default, a URL leads to the public only.
func TestMetadataDocumentAtPrivateAddress(t *testing.T) {
	w := newWorld(t, nil)
	b := w.browser()
	b.login(b.open(w.desk().url("notes:read", nil)), "ada", password)
	for _, id := range []string{"https://127.0.0.1:1/client.json", "https://169.254.169.254/latest", "https://[::1]/x", "https://10.0.0.1/x"} {
		p := b.open(w.app(id, "", callback).url("notes:read", nil))
		if p.status != http.StatusBadRequest || !strings.Contains(p.body, "not allowed") {
			t.Errorf("%s: %d, %s", id, p.status, p.body)
		}
	}
}

// A client that is a document can authenticate with the keys that it names.
func TestMetadataDocumentWithKeys(t *testing.T) {
	const id, jwks = "https://app.example.com/client.json", "https://app.example.com/jwks"
	keys, sign := signer(t)
	set, err := json.Marshal(keys)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, func(o *devauth.Options) {
		o.HTTPClient = &http.Client{Transport: web{
			id:   document(`{"client_id":"` + id + `","client_name":"App","redirect_uris":["` + callback + `"],"token_endpoint_auth_method":"private_key_jwt","jwks_uri":"` + jwks + `"}`),
			jwks: document(string(set)),
		}}
	})
	a, b := w.app(id, "", callback), w.browser()
	if p := a.redeem(b.code(a, "notes:read"), nil); p.failed() != "invalid_client" {
		t.Errorf("without: %s", p.body)
	}
	proof := url.Values{
		"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"},
		"client_assertion":      {sign(map[string]any{"iss": id, "sub": id, "aud": issuer, "exp": time.Now().Unix() + 60, "jti": "1"})},
	}
	a.redeem(b.code(a, "notes:read"), proof).tokens()
}

func TestTokensOfOthers(t *testing.T) {
	w := newWorld(t, nil)
	got := w.browser().tokens(w.desk(), "notes:read offline_access")
	web := w.app("web", "web secret", remote)
	if p := web.post("/revoke", url.Values{"token": {got.access}}); p.failed() != "unauthorized_client" {
		t.Errorf("revoked another's: %s", p.body)
	}
	for _, token := range []string{got.access, got.refresh, "x", ""} {
		if v := web.post("/introspect", url.Values{"token": {token}}).json(); v["active"] != false || len(v) != 1 {
			t.Errorf("told of another's: %v", v)
		}
	}
	if p := w.desk().post("/introspect", url.Values{"token": {got.access}}); p.status != http.StatusUnauthorized {
		t.Errorf("a public client asks: %d", p.status)
	}
	if p := web.post("/revoke", url.Values{"token": {"x"}}); p.status != http.StatusOK {
		t.Errorf("revoking nothing: %d", p.status)
	}
	if w.introspect(got.access)["active"] != true {
		t.Error("the token has ended")
	}
}

func TestOptions(t *testing.T) {
	for name, change := range map[string]func(*devauth.Options){
		"path":               func(o *devauth.Options) { o.Issuer += "/auth" },
		"slash":              func(o *devauth.Options) { o.Issuer += "/" },
		"scheme":             func(o *devauth.Options) { o.Issuer = "ftp://x" },
		"case":               func(o *devauth.Options) { o.Issuer = "http://LOCALHOST" },
		"no issuer":          func(o *devauth.Options) { o.Issuer = "" },
		"no resource":        func(o *devauth.Options) { o.Resources = nil },
		"no scope":           func(o *devauth.Options) { o.Scopes = nil },
		"odd scope":          func(o *devauth.Options) { o.Scopes = map[string]string{"a b": ""} },
		"reserved scope":     func(o *devauth.Options) { o.Scopes = map[string]string{"offline_access": ""} },
		"no password":        func(o *devauth.Options) { o.Users["x"] = "" },
		"no client ID":       func(o *devauth.Options) { o.Clients = []devauth.Client{{}} },
		"twice":              func(o *devauth.Options) { o.Clients = []devauth.Client{{ID: "a"}, {ID: "a"}} },
		"bad redirect":       func(o *devauth.Options) { o.Clients = []devauth.Client{{ID: "a", RedirectURIs: []string{"http://x"}}} },
		"public, for itself": func(o *devauth.Options) { o.Clients = []devauth.Client{{ID: "a", Scopes: []string{"x"}}} },
		"secret and keys": func(o *devauth.Options) {
			o.Clients = []devauth.Client{{ID: "a", Secret: "x", Keys: &jose.JSONWebKeySet{}}}
		},
	} {
		o := options()
		change(&o)
		if _, err := devauth.New(o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
