package who_test

import (
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/who"
	"github.com/parley-mcp/parley/mcp"
)

const issuer = "https://login.example"

// principals are those of a user and of a program, as the kit makes them of their tokens.
func user(subject string) string {
	return (&mcp.Authorization{Issuer: issuer, Subject: subject, ClientID: "ide"}).Principal()
}

func program(id string) string {
	return (&mcp.Authorization{Issuer: issuer, ClientID: id}).Principal()
}

// Each name is that of one principal alone.
func TestNames(t *testing.T) {
	everybody := map[string]string{}
	for _, id := range []string{
		"bob", "bob@example.com", "Bob Smith", "client bob", "user bob", issuer, issuer + " user bob", issuer + " client bob",
		"https://other.example user bob", " bob", "client " + issuer + " user bob",
	} {
		everybody[user(id)], everybody[program(id)] = "user "+id, "program "+id
	}
	named := map[string]string{}
	for principal, whose := range everybody {
		for _, name := range []string{principal, who.Of(principal).Name()} {
			if other, ok := named[name]; ok && other != whose {
				t.Errorf("%q is a name of the %s and of the %s", name, other, whose)
			}
			named[name] = whose
			if got := who.Named(name, issuer).Authorization().Principal(); got != principal {
				t.Errorf("%q names %q, want %q", name, got, principal)
			}
			for other, others := range everybody {
				if in := who.In([]string{"nobody", name}, other); in != (other == principal) {
					t.Errorf("that the %s is among those named %q is %t", others, name, in)
				}
			}
		}
	}
	for name, want := range map[string]string{"bob": user("bob"), "client bob": program("bob"), "Bob Smith": user("Bob Smith")} {
		if got := who.Of(want).Name(); got != name {
			t.Errorf("%q is called %q, want %q", want, got, name)
		}
	}
}

func TestNobody(t *testing.T) {
	if o := who.Of(""); o.Kind != who.Nobody || o.Name() != "" || o.Authorization() != nil {
		t.Errorf("who has no principal is %+v", o)
	}
	if who.In([]string{"bob", "*"}, "") {
		t.Error("nobody is among those who are named")
	}
	if who.Named("", issuer).Kind != who.Nobody {
		t.Error("no name is somebody's")
	}
}

func TestFits(t *testing.T) {
	for _, test := range []struct {
		pattern, principal string
		want               bool
	}{
		{"*@example.com", user("bob@example.com"), true},
		{"bob*", user("bob@example.com"), true},
		{issuer + " user *", user("bob"), true},
		{issuer + " user *", program("bob"), false},
		{"client *", program("bob"), true},
		{"client *", user("client bob"), false},
		{"bob", program("bob"), false},
		{"*", "", true},
		{"?*", "", false},
	} {
		if got := who.Fits(test.pattern, test.principal); got != test.want {
			t.Errorf("that %q fits %q is %t, want %t", test.pattern, test.principal, got, test.want)
		}
	}
}

func TestStranger(t *testing.T) {
	for name, want := range map[string]string{
		"bob": "", "client bob": "", issuer + " user bob": "", "https://other.example user bob": "https://other.example", "https://other.example client bob": "https://other.example",
	} {
		if got := who.Stranger(name, issuer); got != want {
			t.Errorf("%q is of the issuer %q, want %q", name, got, want)
		}
	}
}
