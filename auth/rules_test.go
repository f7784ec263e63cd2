package auth_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/auth"
	"github.com/parley-mcp/parley/internal/challenge"
	"github.com/parley-mcp/parley/mcp"
)

// lacks returns the scopes that a Guard asks for, or "" if the exchange is let
// through.
func lacks(t *testing.T, g *auth.Guard, a *mcp.Authorization, method, params string) string {
	t.Helper()
	served := false
	serve := g.Enforce(func(context.Context, *mcp.Exchange) (any, error) {
		served = true
		return nil, nil
	})
	x := &mcp.Exchange{Method: method, Params: []byte(params)}
	x.Peer.Authorization = a
	_, err := serve(t.Context(), x)
	var no *mcp.ForbiddenError
	switch {
	case err == nil && served:
		return ""
	case !errors.As(err, &no) || served:
		t.Fatalf("%s %s: %v, served %v", method, params, err, served)
	}
	return challenge.Parse([]string{no.Challenge})[0].Get("scope")
}

func TestRules(t *testing.T) {
	g, _ := newIssuer(t).guard(t, func(o *auth.Options) {
		o.Scopes = nil
		o.Rules = auth.Rules{
			Methods: map[string][]string{"tools/list": {"list"}, "tools/call": {"call"}, "x/y": {"own"}, "tasks/get": {"look"}, "tasks/result": {"result"}},
			Tools:   map[string][]string{"t": {"tool", "call"}},
			Prompts: map[string][]string{"p": {"prompt"}},
			Resources: map[string][]string{
				"file:///a": {"exact"}, "file:///home/*": {"home"}, "file:///home/{user}/{+path}": {"user"}, "db://{table}{?q}": {"db"}, "mem:x*": {"mem"},
				"file:///%7Eann/*": {"ann"}, "file:///b%2Fc": {"bc"},
			},
		}
	})
	for _, tt := range []struct{ method, params, want string }{
		{"tools/list", `{}`, "list"},
		{"tools/call", `{"name":"t"}`, "call tool"},
		{"tools/call", `{"name":"u"}`, "call"},
		{"tools/call", `{"name":"T"}`, "call"},
		{"x/y", `{"name":"t"}`, "own"},
		{"x/z", ``, ""},
		{"tasks/get", `{"taskId":"t"}`, "look"},
		{"tasks/cancel", `{"taskId":"t"}`, ""},
		{"prompts/get", `{"name":"p"}`, "prompt"},
		{"prompts/list", `{}`, ""},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"p"}}`, "prompt"},
		{"completion/complete", `{"ref":{"type":"ref/resource","uri":"db://{table}{?q}"}}`, "db"},
		{"completion/complete", `{"ref":{"type":"ref/resource","uri":"other://{x}"}}`, ""},
		{"resources/read", `{"uri":"file:///a"}`, "exact"},
		{"resources/read", `{"uri":"file:///a/"}`, ""},
		{"resources/read", `{"uri":"file:///b/../a"}`, "exact"},
		{"resources/read", `{"uri":"file:///%61"}`, "exact"},
		{"resources/read", `{"uri":"FILE:///./a"}`, "exact"},
		{"resources/read", `{"uri":"file:///home/"}`, "home"},
		{"resources/read", `{"uri":"file:///x/..%2fhome/y"}`, "home"},
		{"resources/read", `{"uri":"db://Things?q=1"}`, "db"},
		{"resources/read", `{"uri":"mem:xyz"}`, "mem"},
		{"resources/read", `{"uri":"mem:%78yz"}`, "mem"},
		{"resources/read", `{"uri":"mem:y"}`, ""},
		{"resources/read", `{"uri":"file:///~ann/x"}`, "ann"},
		{"resources/read", `{"uri":"file:///%7eann/x"}`, "ann"},
		{"resources/read", `{"uri":"file:///b/c"}`, "bc"},
	} {
		if got := lacks(t, g, &mcp.Authorization{Subject: "a"}, tt.method, tt.params); got != tt.want {
			t.Errorf("%s %s: needs %q, want %q", tt.method, tt.params, got, tt.want)
		}
	}
	got := lacks(t, g, &mcp.Authorization{Subject: "a"}, "resources/read", `{"uri":"file:///home/ann/x/y"}`)
	if words := strings.Fields(got); len(words) != 2 || !strings.Contains(got, "home") || !strings.Contains(got, "user") {
		t.Errorf("two rules about one resource: needs %q", got)
	}
	if got := lacks(t, g, &mcp.Authorization{Subject: "a", Scopes: []string{"tool", "call"}}, "tools/call", `{"name":"t"}`); got != "" {
		t.Errorf("with the scopes: needs %q", got)
	}
}

// Params that cannot be read unambiguously are not let through.
func TestAmbiguousParams(t *testing.T) {
	g, _ := newIssuer(t).guard(t, func(o *auth.Options) { o.Rules.Tools = map[string][]string{"t": {"tool"}} })
	serve := g.Enforce(func(context.Context, *mcp.Exchange) (any, error) {
		t.Error("served")
		return nil, nil
	})
	for _, x := range []*mcp.Exchange{
		{Method: "tools/call", Params: []byte(`{"name":"u","name":"t"}`)},
		{Method: "tools/call", Params: []byte(`{"name":["t"]}`)},
	} {
		x.Peer.Authorization = &mcp.Authorization{Subject: "a", Scopes: []string{"mcp"}}
		var invalid *mcp.InvalidParamsError
		if _, err := serve(t.Context(), x); !errors.As(err, &invalid) {
			t.Errorf("%s: %v", x.Params, err)
		}
	}
}

// Without authentication, nothing is allowed.
func TestWithoutAuthorization(t *testing.T) {
	g, _ := newIssuer(t).guard(t, func(o *auth.Options) {
		o.Rules.Tools = map[string][]string{"t": {"tool"}}
	})
	if got := lacks(t, g, nil, "tools/list", `{}`); got != "mcp" {
		t.Errorf("needs %q", got)
	}
	free, _ := newIssuer(t).guard(t, func(o *auth.Options) { o.Scopes = nil })
	if err := free.Require(&mcp.Exchange{}); err == nil {
		t.Error("let through without authentication, because no scopes are needed")
	}
	if g.Visible(t.Context(), &mcp.Exchange{}, mcp.ToolFeature, "t") || !g.Visible(t.Context(), &mcp.Exchange{}, mcp.ToolFeature, "u") {
		t.Error("features that have rules must be hidden, and no others")
	}
}

func TestChallengeOfEveryScheme(t *testing.T) {
	for policy, schemes := range map[auth.DPoPPolicy]int{auth.DPoPOff: 1, auth.DPoPAccepted: 2, auth.DPoPRequired: 1} {
		g, _ := newIssuer(t).guard(t, func(o *auth.Options) { o.DPoP = policy })
		var no *mcp.ForbiddenError
		if err := g.Require(&mcp.Exchange{}, "b", "a", "b"); !errors.As(err, &no) {
			t.Fatal(err)
		}
		all := challenge.Parse([]string{no.Challenge})
		if len(all) != schemes {
			t.Errorf("policy %d: %s", policy, no.Challenge)
		}
		for _, c := range all {
			if c.Get("error") != "insufficient_scope" || c.Get("scope") != "mcp b a" {
				t.Errorf("policy %d: %+v", policy, c)
			}
		}
	}
}

// A client that may not list or read something is not notified that it changes,
// either: a subscription to several things is narrowed to the rest.
func TestRulesNarrowSubscriptions(t *testing.T) {
	g, _ := newIssuer(t).guard(t, func(o *auth.Options) {
		o.Scopes = nil
		o.Rules = auth.Rules{
			Methods:   map[string][]string{"tools/list": {"list"}, "resources/read": {"read"}, "tasks/get": {"list"}},
			Resources: map[string][]string{"x:secret": {"secret"}},
		}
	})
	all := mcp.SubscriptionFilter{ToolsListChanged: true, PromptsListChanged: true, ResourceSubscriptions: []string{"x:a", "x:secret"}, TaskIDs: []string{"t"}}
	for _, tt := range []struct {
		scopes []string
		want   mcp.SubscriptionFilter
	}{
		{nil, mcp.SubscriptionFilter{PromptsListChanged: true, ResourceSubscriptions: []string{}}},
		{[]string{"list", "read"}, mcp.SubscriptionFilter{ToolsListChanged: true, PromptsListChanged: true, ResourceSubscriptions: []string{"x:a"}, TaskIDs: []string{"t"}}},
		{[]string{"list", "read", "secret"}, all},
	} {
		for _, method := range []string{mcp.MethodListen, mcp.NoteInitialized} {
			var got mcp.SubscriptionFilter
			serve := g.Enforce(func(_ context.Context, x *mcp.Exchange) (any, error) {
				got = x.Watch.Filter
				return &mcp.Watching{}, nil
			})
			x := &mcp.Exchange{Method: method, Watch: &mcp.Watch{Filter: all}}
			x.Peer.Authorization = &mcp.Authorization{Subject: "a", Scopes: tt.scopes}
			if _, err := serve(t.Context(), x); err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%s with %v: told of %+v, %v; want %+v", method, tt.scopes, got, err, tt.want)
			}
		}
	}
	if got := lacks(t, g, &mcp.Authorization{Subject: "a", Scopes: []string{"read"}}, "resources/subscribe", `{"uri":"x:secret"}`); got != "read secret" {
		t.Errorf("watching a resource needs %q", got)
	}
}
