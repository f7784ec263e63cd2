package devauth_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/devauth"
)

const another = "http://127.0.0.1:7332/mcp"

// A resource gets a token for another in exchange for its user's, and for nobody else's.
func TestExchange(t *testing.T) {
	w := newWorld(t, func(o *devauth.Options) {
		o.Resources = append(o.Resources, another)
		o.Clients = append(o.Clients,
			devauth.Client{ID: "gateway", Secret: "gateway secret", Exchange: resource},
			devauth.Client{ID: "shop", Secret: "shop secret", Exchange: another},
		)
	})
	b := w.browser()
	a := w.app("desk", "", callback)
	answer := b.allow(b.login(b.open(a.url("notes:read", nil)), "ada", password)).answer()
	user := a.redeem(answer.Get("code"), nil).tokens().access
	exchange := func(client, subject string, more ...string) *page {
		form := url.Values{
			"grant_type":    {"urn:ietf:params:oauth:grant-type:token-exchange"},
			"subject_token": {subject}, "subject_token_type": {"urn:ietf:params:oauth:token-type:access_token"}, "resource": {another},
		}
		for i := 0; i+1 < len(more); i += 2 {
			form.Set(more[i], more[i+1])
		}
		r := request(t, "POST", "/token", form)
		r.SetBasicAuth(client, url.QueryEscape(client+" secret"))
		return w.do(r, nil)
	}
	got := exchange("gateway", user)
	if got.status != http.StatusOK || got.json()["issued_token_type"] != "urn:ietf:params:oauth:token-type:access_token" || got.json()["refresh_token"] != nil {
		t.Fatalf("%d %s", got.status, got.body)
	}
	made := got.tokens()
	if made.scope != "notes:read" {
		t.Errorf("scope %q", made.scope)
	}
	for name, tt := range map[string]struct {
		page *page
		want string
	}{
		"another resource's":    {exchange("shop", user), "invalid_request"},
		"one that was made":     {exchange("gateway", made.access), "invalid_request"},
		"no token":              {exchange("gateway", "x.y.z"), "invalid_request"},
		"another kind":          {exchange("gateway", user, "subject_token_type", "urn:ietf:params:oauth:token-type:id_token"), "invalid_request"},
		"another kind of token": {exchange("gateway", user, "requested_token_type", "urn:ietf:params:oauth:token-type:id-jag"), "invalid_request"},
		"more scopes":           {exchange("gateway", user, "scope", "notes:write"), "invalid_scope"},
		"an unknown resource":   {exchange("gateway", user, "resource", "http://127.0.0.1:9/mcp"), "invalid_target"},
		"a client that is none": {exchange("robot", user), "unauthorized_client"},
	} {
		if tt.page.status != http.StatusBadRequest || tt.page.failed() != tt.want {
			t.Errorf("%s: %d %s, want %s", name, tt.page.status, tt.page.body, tt.want)
		}
	}
	id := claims(t, made.access)["jti"].(string)
	if w.srv.Revoked(id) {
		t.Error("the token is not good")
	}
	w.do(request(t, "POST", "/revoke", url.Values{"token": {user}, "client_id": {"desk"}}), nil)
	if !w.srv.Revoked(id) || exchange("gateway", user).status == http.StatusOK {
		t.Error("the token outlives the one that it was given for")
	}
	if strings.Contains(w.log.String(), user) {
		t.Error("the log has a token")
	}
}
