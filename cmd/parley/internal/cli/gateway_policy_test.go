package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// written writes a file, and returns its path.
func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// ran runs a command, and fails the test if it does not end with the exit code, or does not
// say all that is wanted.
func ran(t *testing.T, args []string, code int, want ...string) {
	t.Helper()
	c := new(console)
	got := Run(t.Context(), c.streams("", false), args)
	said := c.out.String() + c.err.String()
	if got != code {
		t.Errorf("%q ends with %d, want %d:\n%s", args, got, code, said)
	}
	for _, w := range want {
		if !strings.Contains(said, w) {
			t.Errorf("%q says\n%s\nwithout %q", args, said, w)
		}
	}
}

const overriding = `version: 1
backends:
  shop:
    command: [x]
    tools: {rename: {buy: purchase}}
    override: {look: {annotations: {readOnlyHint: true}}, pay: {annotations: {readOnlyHint: false}}}
policy: {rules: 'permit(principal, action, resource) when { resource has readOnly && resource.readOnly };'}
`

// What the configuration makes tools say of themselves is what policies decide by.
func TestExplainOverrides(t *testing.T) {
	file := written(t, "g.yaml", overriding)
	explain := []string{"gateway", "policy", "explain", file}
	ran(t, append(explain, "--backend", "shop", "--tool", "look"), exitOK, "allow")
	ran(t, append(explain, "--backend", "shop", "--tool", "look", "--annotations", `{"readOnlyHint": false}`), exitOK, "allow")
	ran(t, append(explain, "--backend", "shop", "--tool", "pay", "--annotations", `{"readOnlyHint": true}`), exitTool, "deny")
	ran(t, append(explain, "--backend", "shop", "--tool", "buy", "--annotations", `{"readOnlyHint": true}`), exitOK, "allow")
	cases := written(t, "cases.yaml", `
- {name: overridden, backend: shop, tool: look, expect: allow}
- {name: as clients see it, tool: purchase, annotations: {readOnlyHint: true}, expect: allow}
`)
	ran(t, []string{"gateway", "policy", "test", file, cases}, exitOK, "2 of 2 as expected")
}

// A tool can be named as clients see it, which says at which backend it is.
func TestExplainFindsTheBackend(t *testing.T) {
	file := written(t, "g.yaml", overriding)
	explain := []string{"gateway", "policy", "explain", file}
	ran(t, append(explain, "--tool", "shop__look"), exitOK, "allow")
	ran(t, append(explain, "--tool", "shop__pay"), exitTool, "deny")
	ran(t, append(explain, "--tool", "look"), exitUsage, `"look" does not say whose it is: name the backend`)
	ran(t, append(explain, "--method", "tools/list"), exitUsage, "say which backend it is about")
	ran(t, append(explain, "--tool", "look", "--backend", "shp"), exitUsage, `there is no backend "shp"`)
}

// A mistake in a file of cases is said with its place.
func TestMistakesInCases(t *testing.T) {
	file := written(t, "g.yaml", overriding)
	for text, want := range map[string]string{
		"- {backend: shop, tool: look, expect: allow}\n- backend: shop\n  expct: deny\n": `cases.yaml:3:3: there is no such key as "expct"; the nearest are expect`,
		"- {backend: shop, tool: look, expect: perhaps}":                                 `cases.yaml:1:39: the case expects "perhaps"; it must be one of allow, approval, deny`,
		"- {backend: shop, tool: look}":                                                  `cases.yaml:1:3: the case expects ""`,
		"- {backend: [shop], tool: look, expect: allow}":                                 `cases.yaml:1:3: `,
		"name: x": `cases.yaml:1:1: this is not a list of cases`,
		"- x":     `cases.yaml:1:3: this is not a case`,
	} {
		ran(t, []string{"gateway", "policy", "test", file, written(t, "cases.yaml", text)}, exitUsage, want)
	}
}

// All mistakes of a file are shown, also where one of them is that another file is missing.
func TestValidateMissingFile(t *testing.T) {
	file := written(t, "g.yaml", "version: 1\nbackends: {a: {command: [x], nonsense: 1}}\npolicy: {files: [none.cedar]}\n")
	ran(t, []string{"gateway", "validate", file}, exitTool, "g.yaml:2:30: backends.a.nonsense: ", "g.yaml:3:18: policy.files[0]: the policies cannot be read")
	ran(t, []string{"gateway", "validate", file + "x"}, exitUsage, "there is no such file")
}

// Who mistypes a subcommand is told so, and who contradicts themselves, too.
func TestGatewayRefusesSlips(t *testing.T) {
	ran(t, []string{"gateway", "staus"}, exitUsage, `did you mean "parley gateway status"?`)
	file := written(t, "g.yaml", overriding)
	for _, other := range [][]string{{"--bearer", "@" + written(t, "token", "0123456789abcdef")}, {"--auth", "issuer=https://login.example"}} {
		ran(t, append([]string{"gateway", file, "--http", "127.0.0.1:nowhere", "--no-auth"}, other...), exitUsage, "--no-auth lets everybody in")
	}
}
