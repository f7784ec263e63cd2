package cli

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
	"github.com/parley-mcp/parley/internal/redact"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/frames"
	"github.com/parley-mcp/parley/transport/streamable"
)

const testIssuer = "https://login.example"

// userToken and programToken are what the authorization of a server makes of tokens: the
// subject of a program is its own client ID, and so left out.
func userToken(subject string) *mcp.Authorization {
	return &mcp.Authorization{Issuer: testIssuer, Subject: subject, ClientID: "ide", Scopes: []string{"mcp"}, Claims: json.RawMessage(`{"iss":"` + testIssuer + `","sub":"` + subject + `"}`)}
}

func programToken(id string) *mcp.Authorization {
	return &mcp.Authorization{Issuer: testIssuer, ClientID: id, Scopes: []string{"mcp"}, Claims: json.RawMessage(`{"iss":"` + testIssuer + `","sub":"` + id + `","client_id":"` + id + `"}`)}
}

// paying is a server at a URL, of which everybody can tell.
func paying(t *testing.T) (url string) {
	t.Helper()
	s := server.New(mcp.Implementation{Name: "shop", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	for _, name := range []string{"pay", "look"} {
		server.AddTool(s, mcp.Tool{Name: name}, func(context.Context, *server.Call, struct{}) (string, error) { return "done", nil })
	}
	h, err := streamable.New(s, &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}})
	if err != nil {
		t.Fatal(err)
	}
	site := httptest.NewServer(h)
	t.Cleanup(func() {
		_ = h.Close(context.Background())
		site.Close()
	})
	return site.URL
}

// configured is a gateway that serves what a configuration says. URL stands for the server.
func configured(t *testing.T, text string) (*runningGateway, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gateway.yaml")
	text = "version: 1\nauth: {issuer: {url: \"" + testIssuer + "\", audience: \"https://gateway.example\"}}\nbackends: {shop: {url: URL}, other: {url: URL}}\n" + text
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "URL", paying(t))), 0o600); err != nil {
		t.Fatal(err)
	}
	a, _ := newTestApp("", false)
	c, err := config.Read(path, a.environment(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	logger := mcptest.Quiet()
	r := &runningGateway{
		a: a, file: path, logger: logger, hidden: new(redact.Changing), config: c, posts: new(posts), logins: logins{a: a}, approvals: newApprovals(logger),
		gateway: gateway.New(gateway.Options{Info: mcp.Implementation{Name: "g", Version: "1"}, Logger: logger}),
	}
	r.doors = doors{gateway: r.gateway, listen: c.Listen, logger: logger}
	if err := r.load(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.gateway.Close() })
	return r, path
}

// as is somebody's client at a view of a gateway; "" is the path without one.
func (r *runningGateway) as(t *testing.T, a *mcp.Authorization, view string) *client.Client {
	t.Helper()
	c, err := client.Connect(t.Context(), frames.InProcess(r.gateway.View(view), &frames.Options{Authorization: a, ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}}), &client.Options{Logger: mcptest.Quiet()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// may reports whether a client can call the tool, and fails the test if that is not what
// is wanted.
func may(t *testing.T, c *client.Client, whose, tool string, want bool) {
	t.Helper()
	result, err := c.CallTool(t.Context(), tool, nil)
	switch got := err == nil && !result.IsError; {
	case got == want:
	case got:
		t.Errorf("%s may call %s", whose, tool)
	default:
		t.Errorf("%s may not call %s: %v, %+v", whose, tool, err, result)
	}
}

// toolsOf are the names of the tools that a client sees.
func toolsSeen(t *testing.T, c *client.Client) (names []string) {
	t.Helper()
	for tool, err := range c.Tools(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	return names
}

// namesOfBob are all names that a user has, and a program of the same ID.
var namesOfBob = map[string]struct{ user, program string }{
	"short": {"bob", "client bob"}, "full": {testIssuer + " user bob", testIssuer + " client bob"},
}

// A view is for those who are named, and for nobody else.
func TestViewForUsers(t *testing.T) {
	for form, names := range namesOfBob {
		t.Run(form, func(t *testing.T) {
			r, _ := configured(t, `views: {mine: {principals: ["`+names.user+`"]}, robots: {principals: ["`+names.program+`"]}}`)
			for _, test := range []struct {
				who        string
				a          *mcp.Authorization
				mine, both bool
			}{{"bob", userToken("bob"), true, false}, {"the program bob", programToken("bob"), false, true}, {"ann", userToken("ann"), false, false}, {"nobody", nil, false, false}} {
				may(t, r.as(t, test.a, "mine"), test.who+" in the view of bob", "shop__pay", test.mine)
				may(t, r.as(t, test.a, "robots"), test.who+" in the view of the program", "shop__pay", test.both)
			}
		})
	}
}

// Who has a view in place of the whole sees nothing else there.
func TestDefaultViewOfUsers(t *testing.T) {
	for form, names := range namesOfBob {
		t.Run(form, func(t *testing.T) {
			r, _ := configured(t, `views: {few: {backends: [shop], default_for: ["`+names.user+`", "`+names.program+`"]}}`)
			whole := []string{"other__look", "other__pay", "shop__look", "shop__pay"}
			for who, test := range map[string]struct {
				a    *mcp.Authorization
				want []string
			}{"bob": {userToken("bob"), whole[2:]}, "the program bob": {programToken("bob"), whole[2:]}, "ann": {userToken("ann"), whole}, "nobody": {nil, whole}} {
				c := r.as(t, test.a, "")
				if got := toolsSeen(t, c); !slices.Equal(got, test.want) {
					t.Errorf("%s sees %q, want %q", who, got, test.want)
				}
				may(t, c, who, "other__pay", len(test.want) == 4)
			}
		})
	}
}

// What policies decide about a user is the same for a call, and when they are asked.
func TestPoliciesAboutUsers(t *testing.T) {
	const rules = `policy:
  rules: |
    permit(principal, action, resource in Backend::"shop");
    forbid(principal == User::"bob", action == Action::"tools/call", resource == Tool::"shop__pay");
    permit(principal == User::"ann", action, resource in Backend::"other");
    permit(principal == Program::"bob", action, resource == Tool::"other__pay") when { principal.issuer == "https://login.example" };
    permit(principal, action, resource == Tool::"other__look") when { principal has subject && principal.subject == "bob" };
`
	r, path := configured(t, rules)
	for _, test := range []struct {
		name string
		a    *mcp.Authorization
		want map[string]bool
	}{
		{"bob", userToken("bob"), map[string]bool{"shop__pay": false, "shop__look": true, "other__pay": false, "other__look": true}},
		{testIssuer + " user bob", userToken("bob"), map[string]bool{"shop__pay": false, "shop__look": true}},
		{"ann", userToken("ann"), map[string]bool{"shop__pay": true, "other__pay": true}},
		{"client bob", programToken("bob"), map[string]bool{"shop__pay": true, "other__pay": true, "other__look": false}},
		{testIssuer + " client bob", programToken("bob"), map[string]bool{"shop__pay": true, "other__pay": true}},
		{"client ann", programToken("ann"), map[string]bool{"shop__pay": true, "other__pay": false}},
		{"", nil, map[string]bool{"shop__pay": true, "other__pay": false}},
	} {
		c := r.as(t, test.a, "")
		for tool, want := range test.want {
			may(t, c, test.name, tool, want)
			code, said := explained(t, path, "--principal", test.name, "--tool", tool)
			if allows := code == exitOK; allows != want {
				t.Errorf("explain says of %q and %s, with exit code %d: %s", test.name, tool, code, said)
			}
		}
	}
}

// explained asks the policies of a file.
func explained(t *testing.T, path string, args ...string) (code int, said string) {
	t.Helper()
	c := new(console)
	code = Run(t.Context(), c.streams("", false), append([]string{"gateway", "policy", "explain", path}, args...))
	return code, c.out.String() + c.err.String()
}

// A rule that is about a user demands a human for what this user does.
func TestApprovalForUsers(t *testing.T) {
	for form, names := range namesOfBob {
		t.Run(form, func(t *testing.T) {
			r, _ := configured(t, `approval: {ask: client, rules: [{subject: pay, principal: "`+names.user+`"}, {subject: look, principal: "`+names.program+`"}]}`)
			bob, robot, ann := r.as(t, userToken("bob"), ""), r.as(t, programToken("bob"), ""), r.as(t, userToken("ann"), "")
			may(t, bob, "bob, without approval,", "shop__pay", false)
			may(t, bob, "bob", "shop__look", true)
			may(t, robot, "the program bob, without approval,", "shop__look", false)
			may(t, robot, "the program bob", "shop__pay", true)
			may(t, ann, "ann", "shop__pay", true)
		})
	}
}

// The console knows users by the same names.
func TestConsoleUsers(t *testing.T) {
	for form, names := range namesOfBob {
		r, _ := configured(t, `console: {roles: {operator: {principals: ["`+names.user+`"]}, viewer: {principals: ["*@example.com", "`+names.program+`"]}}}`)
		for who, want := range map[*mcp.Authorization]config.Role{
			userToken("bob"): config.Operator, userToken("ann@example.com"): config.Viewer, userToken("ann"): config.NoRole, programToken("bob"): config.NoRole,
		} {
			if got := r.config.Console.Role(who); got != want {
				t.Errorf("%s: %s has the role %q, want %q", form, who.Principal(), got, want)
			}
		}
	}
}

// Nobody but the users of the one issuer can be named, and nobody gets two views.
func TestWrongUsers(t *testing.T) {
	for text, want := range map[string]string{
		`{a: {principals: ["https://other.example user bob"]}}`:                                         "nobody is of the issuer https://other.example",
		`{a: {default_for: [bob]}, b: {default_for: ["https://login.example user bob"]}}`:               "gets the view a already",
		`{a: {default_for: ["client bob"]}, b: {default_for: [x, "https://login.example client bob"]}}`: "gets the view a already",
	} {
		path := filepath.Join(t.TempDir(), "gateway.yaml")
		text = "version: 1\nauth: {issuer: {url: \"" + testIssuer + "\"}}\nbackends: {x: {url: \"https://x.example\"}}\nviews: " + text
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		a, _ := newTestApp("", false)
		_, err := config.Read(path, a.environment(t.Context()))
		if mistakes, ok := errors.AsType[config.Mistakes](err); !ok || len(mistakes) != 1 || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n%v\nwant: %s", text, err, want)
		}
	}
}
