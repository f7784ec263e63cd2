package policy_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/policy"
	"github.com/parley-mcp/parley/mcp"
)

// A mistake in policies is said with the name of the file, and the place in it.
func TestWhereMistakesAre(t *testing.T) {
	for _, test := range []struct{ text, place, says string }{
		{"permit(principal, action, resource);\n\nforbid(principal, action);\n", "p.cedar:3:26: ", "exact got ) want ,"},
		{"permit(principal, action, resource)\n  when { \"ü\" == ip(); x };\n", "p.cedar:2:", "this is no list of Cedar policies"},
		{"\"", "p.cedar:1:1: ", "this is no list of Cedar policies"},
		{"@approval\nforbid(principal, action, resource);", "p.cedar:1:1: ", "@approval is for policies that permit"},
		{"@id(\"a\") permit(principal, action, resource);\n@id(\"a\") permit(principal, action, resource);", "p.cedar:2:1: ", `there is another policy "a"`},
		{"permit(principal, action, resource);\nforbid(principal == User::\"https://login.example user bob\", action, resource);", "p.cedar:2:1: ", `write User::"bob"`},
		{"forbid(principal, action, resource) when { [User::\"https://login.example client bob\"].contains(principal) };", "p.cedar:1:1: ", `write Program::"bob"`},
	} {
		_, err := policy.New([]policy.Source{{Name: "p.cedar", Text: test.text}}, policy.Options{})
		if err == nil || !strings.HasPrefix(err.Error(), test.place) || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "<input>") {
			t.Errorf("%s\n%v\nwant %q and %q", test.text, err, test.place, test.says)
		}
		if _, ok := errors.AsType[*policy.Mistake](err); !ok {
			t.Errorf("%v is no mistake", err)
		}
	}
}

// A user and a program of the same ID are two entities, whatever the ID is.
func TestUsersAndPrograms(t *testing.T) {
	const issuer = "https://issuer.example"
	for _, id := range []string{"bob", "client bob"} {
		user, program := &mcp.Authorization{Issuer: issuer, Subject: id, ClientID: "ide"}, &mcp.Authorization{Issuer: issuer, ClientID: id}
		for _, test := range []struct {
			rules             string
			byUser, byProgram bool
		}{
			{`permit(principal == User::"ID", action, resource) when { principal.subject == "ID" && principal.issuer == "https://issuer.example" };`, true, false},
			{`permit(principal == Program::"ID", action, resource) when { principal.client == "ID" && principal.issuer == "https://issuer.example" };`, false, true},
			{`permit(principal is User, action, resource);`, true, false},
			{`permit(principal is Program, action, resource);`, false, true},
		} {
			p := load(t, strings.ReplaceAll(test.rules, "ID", id), policy.Options{})
			for a, want := range map[*mcp.Authorization]bool{user: test.byUser, program: test.byProgram} {
				if got := p.Decide(reading(&mcp.Peer{Principal: a.Principal(), Authorization: a}, `{}`)).Allowed; got != want {
					t.Errorf("%s: %t for %s, want %t", test.rules, got, a.Principal(), want)
				}
			}
		}
	}
}
