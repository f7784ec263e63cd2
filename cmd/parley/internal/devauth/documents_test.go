package devauth_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/devauth"
)

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
