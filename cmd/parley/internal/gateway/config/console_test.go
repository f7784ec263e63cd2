package config

import (
	"encoding/json"
	"testing"

	"github.com/parley-mcp/parley/mcp"
)

// Who may do what in the console follows from who they are, and is the most of what the
// file gives them.
func TestRoles(t *testing.T) {
	c := read(t, write(t, t.TempDir(), "g.yaml", `version: 1
auth: {issuer: {url: "https://login.example"}}
backends: {}
console:
  roles:
    viewer: {principals: ["*@example.com"]}
    approver: {claims: {groups: [finance], scope: ["parley:approve"], mfa: ["true"]}}
    operator: {principals: [ada], claims: {groups: ["team-*"]}}
`), nil).Console
	for _, test := range []struct {
		subject, claims string
		want            Role
	}{
		{"nobody", `{}`, NoRole},
		{"", `{"groups":["team-x"]}`, NoRole},
		{"eve@example.com.evil", `{}`, NoRole},
		{"bob@example.com", `{}`, Viewer},
		{"bob@example.com", `{"groups":["sales","finance"]}`, Approver},
		{"bob", `{"groups":"finance"}`, Approver},
		{"bob", `{"scope":"openid parley:approve"}`, Approver},
		{"bob", `{"groups":["x finance"]}`, NoRole},
		{"bob", `{"mfa":true}`, Approver},
		{"bob", `{"groups":[["finance"],{"a":"finance"},7]}`, NoRole},
		{"bob", `{"groups":["finance","team-x"]}`, Operator},
		{"ada", ``, Operator},
		{"Ada", `{"groups":null}`, NoRole},
	} {
		who := &mcp.Authorization{Issuer: "https://login.example", Subject: test.subject, ClientID: "c", Claims: json.RawMessage(test.claims)}
		if got := c.Role(who); got != test.want {
			t.Errorf("%s with %s is %q, want %q", test.subject, test.claims, got, test.want)
		}
	}
	if c.Bearer() != Viewer || (*Console)(nil).Bearer() != Viewer {
		t.Error("whoever has the token of all clients looks, and no more")
	}
	if (*Console)(nil).Role(&mcp.Authorization{Subject: "ada"}) != NoRole {
		t.Error("without the section, nobody of the issuer comes in")
	}
}
