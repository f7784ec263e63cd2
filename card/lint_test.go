package card_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/card"
)

// small is the smallest card without any problem.
const small = `{"$schema":"https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json","name":"com.example/x","version":"1.0.0","description":"d","remotes":[{"type":"streamable-http","url":"https://example.com/mcp"}]}`

func fixtures(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", folder, "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cards in %s: %v", folder, err)
	}
	docs := map[string][]byte{}
	for _, path := range paths {
		doc, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		docs[filepath.Base(path)] = doc
	}
	return docs
}

func TestLintOfFixtures(t *testing.T) {
	for name, doc := range fixtures(t, "valid") {
		if problems := card.Lint(doc); len(problems) > 0 {
			t.Errorf("%s: %v", name, problems)
		}
		if _, err := card.Parse(doc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, doc := range fixtures(t, "invalid") {
		if !slices.ContainsFunc(card.Lint(doc), func(p card.Problem) bool { return !p.Advice }) {
			t.Errorf("%s: no problem is found", name)
		}
	}
}

// Each rule that the schema does not express is broken once.
func TestLintFindsWhatTheSchemaDoesNot(t *testing.T) {
	remote := func(text string) map[string]string { return map[string]string{"remotes": "[" + text + "]"} }
	url := func(u string) map[string]string { return remote(`{"type":"streamable-http","url":"` + u + `"}`) }
	for _, c := range []struct {
		name   string
		set    map[string]string
		where  string
		says   string
		advice bool
	}{
		{"range", map[string]string{"version": `"^1.2.3"`}, "version", "is a range", false},
		{"comparison", map[string]string{"version": `">=1.2.3"`}, "version", "is a range", false},
		{"wildcard", map[string]string{"version": `"1.x"`}, "version", "is a range", false},
		{"star", map[string]string{"version": `"1.*"`}, "version", "is a range", false},
		{"script as website", map[string]string{"websiteUrl": `"javascript:alert(1)"`}, "websiteUrl", "no http or https URL", false},
		{"website with a password", map[string]string{"websiteUrl": `"https://a:b@example.com"`}, "websiteUrl", "user name", false},
		{"relative repository", map[string]string{"repository": `{"url":"weather","source":"github"}`}, "repository.url", "no scheme", false},
		{"repository with a token", map[string]string{"repository": `{"url":"https://token@git.example.com/a","source":"github"}`}, "repository.url", "user name", false},
		{"subfolder that leaves", map[string]string{"repository": `{"url":"https://git.example.com/a","source":"github","subfolder":"../x"}`}, "repository.subfolder", "clean relative path", false},
		{"icon that is no image", map[string]string{"icons": `[{"src":"https://example.com/a.png"},{"src":"javascript:alert(1)"}]`}, "icons[1]", "src", false},
		{"key of _meta", map[string]string{"_meta": `{"a b":1}`}, "_meta", "not valid", false},
		{"key of the protocol", map[string]string{"_meta": `{"io.modelcontextprotocol.registry/official":{}}`}, "_meta", "reserved", true},
		{"nothing to connect to", map[string]string{"remotes": `[]`}, "remotes", "nobody can connect", true},
		{"credentials in the URL", url("https://user:pass@example.com/mcp"), "remotes[0].url", "user name", false},
		{"placeholder without a description", url("https://{tenant}.example.com/mcp"), "remotes[0].url", "{tenant} has no description", false},
		{"plain http", url("http://example.com/mcp"), "remotes[0].url", "https", true},
		{"loopback", url("http://127.0.0.1:7331/mcp"), "remotes[0].url", "one machine or network", true},
		{"private network", url("https://10.1.2.3/mcp"), "remotes[0].url", "one machine or network", true},
		{"name of a local network", url("https://mcp.internal/mcp"), "remotes[0].url", "one machine or network", true},
		{
			"variable that nothing refers to", remote(`{"type":"sse","url":"https://example.com","variables":{"a":{}}}`),
			"remotes[0].variables.a", "nothing refers", true,
		},
		{
			"secret variable with a value", remote(`{"type":"sse","url":"https://example.com/{a}","variables":{"a":{"isSecret":true,"value":"s"}}}`),
			"remotes[0].variables.a.value", "secret", false,
		},
		{
			"secret with a default", remote(`{"type":"sse","url":"https://example.com/{a}","variables":{"a":{"isSecret":true,"default":"s"}}}`),
			"remotes[0].variables.a.default", "secret", false,
		},
		{
			"token in a header", remote(`{"type":"sse","url":"https://example.com","headers":[{"name":"authorization","value":"Bearer abc"}]}`),
			"remotes[0].headers[0].value", "secret", false,
		},
		{
			"token as a default", remote(`{"type":"sse","url":"https://example.com","headers":[{"name":"X-API-Key","default":"abc"}]}`),
			"remotes[0].headers[0].default", "secret", false,
		},
		{
			"secret in a header", remote(`{"type":"sse","url":"https://example.com","headers":[{"name":"X-Pass","isSecret":true,"value":"abc"}]}`),
			"remotes[0].headers[0].value", "secret", false,
		},
		{
			"name of a header", remote(`{"type":"sse","url":"https://example.com","headers":[{"name":"X Y"}]}`),
			"remotes[0].headers[0].name", "no name of a header", false,
		},
		{
			"line break in a header", remote(`{"type":"sse","url":"https://example.com","headers":[{"name":"A","value":"a\r\nB: c"}]}`),
			"remotes[0].headers[0]", "line breaks", false,
		},
		{
			"header twice", remote(`{"type":"sse","url":"https://example.com","headers":[{"name":"A"},{"name":"a"}]}`),
			"remotes[0].headers[1].name", "twice", true,
		},
		{
			"header of the protocol", remote(`{"type":"sse","url":"https://example.com","headers":[{"name":"Mcp-Method","value":"x"}]}`),
			"remotes[0].headers[0].name", "clients set", true,
		},
		{
			"header of the connection", remote(`{"type":"sse","url":"https://example.com","headers":[{"name":"Host","value":"x"}]}`),
			"remotes[0].headers[0].name", "clients set", true,
		},
		{
			"default that cannot be chosen", remote(`{"type":"sse","url":"https://example.com","headers":[{"name":"A","choices":["b"],"default":"c"}]}`),
			"remotes[0].headers[0].default", "none of the choices", true,
		},
		{
			"default of another format", remote(`{"type":"sse","url":"https://example.com","headers":[{"name":"A","format":"number","default":"many"}]}`),
			"remotes[0].headers[0].default", "no number", true,
		},
		{
			"no revisions", remote(`{"type":"sse","url":"https://example.com","supportedProtocolVersions":[]}`),
			"remotes[0].supportedProtocolVersions", "empty", true,
		},
		{
			"what is no revision", remote(`{"type":"sse","url":"https://example.com","supportedProtocolVersions":["1.0","2031-01-01"]}`),
			"remotes[0].supportedProtocolVersions[0]", "no revision", true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			problems := card.Lint(with(t, c.set))
			if len(problems) != 1 || problems[0].Where != c.where || problems[0].Advice != c.advice || !strings.Contains(problems[0].Text, c.says) {
				t.Errorf("problems are %+v, want one at %q that says %q; advice: %t", problems, c.where, c.says, c.advice)
			}
		})
	}
}

// A range is not a version; every semantic version is one, and others may be.
func TestVersionsOfCards(t *testing.T) {
	for version, isRange := range map[string]bool{
		"1.2.3": false, "1.0.0-alpha.x": false, "1.0.0-x": false, "1.0.0-x.7.z.92": false, "1.0.0+build.x": false, "v2": false, "devel": false, "2026.11": false,
		"1.0~rc1": false, "max": false, "": false, "release x": false,
		"^1.2.3": true, "~1.2.3": true, ">=1.2.3": true, "<2": true, "=1": true, "1.x": true, "1.X.2": true, "1.*": true, "*": true, "x": true, "1.x-beta": true,
		"1.0.0 - 2.0.0": true, "1 || 2": true, "1.0.0 <2": true,
	} {
		problems := card.Lint(with(t, map[string]string{"version": strconv.Quote(version)}))
		if (len(problems) > 0) != isRange {
			t.Errorf("%q: problems are %v; it is a range: %t", version, problems, isRange)
		}
	}
}

// with returns small with other members.
func with(t *testing.T, set map[string]string) []byte {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(small), &m); err != nil {
		t.Fatal(err)
	}
	for name, value := range set {
		m[name] = json.RawMessage(value)
	}
	changed, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

// What the schema refuses is said with what to write instead.
func TestLintSaysWhatToWrite(t *testing.T) {
	doc := with(t, map[string]string{"name": `"weather"`, "description": `"` + strings.Repeat("x", 101) + `"`, "$schema": `"x"`})
	var texts []string
	for _, p := range card.Lint(doc) {
		texts = append(texts, p.String())
	}
	all := strings.Join(texts, "\n")
	for _, want := range []string{"name: ", `such as "com.example/weather"`, "description: ", "1 to 100 characters", "$schema", card.SchemaURL} {
		if !strings.Contains(all, want) {
			t.Errorf("the problems do not say %q:\n%s", want, all)
		}
	}
	var missing []string
	for _, p := range card.Lint([]byte(`{"remotes":[{"type":"sse"}]}`)) {
		if strings.HasPrefix(p.Text, "it is missing") {
			missing = append(missing, p.Where)
		}
	}
	slices.Sort(missing)
	if want := []string{"$schema", "description", "name", "remotes[0].url", "version"}; !slices.Equal(missing, want) {
		t.Errorf("missing are %q, want %q", missing, want)
	}
}
