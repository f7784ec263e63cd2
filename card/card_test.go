package card_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/card"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

var weather = mcp.Implementation{
	Name: "weather", Title: "Weather", Version: "1.2.3", Description: "Forecasts for any place.",
	WebsiteURL: "https://example.com/weather", Icons: []mcp.Icon{{Src: "https://example.com/w.png", MIMEType: "image/png"}},
}

func mustCard(t *testing.T, h mcp.Handler, o *card.Options) *card.Card {
	t.Helper()
	c, err := card.New(h, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func weatherCard(t *testing.T) *card.Card {
	t.Helper()
	return mustCard(t, server.New(weather, nil), &card.Options{Name: "com.example/weather", URL: "https://example.com/mcp"})
}

// A card says what the server says of itself.
func TestNew(t *testing.T) {
	c := mustCard(t, server.New(weather, nil), &card.Options{
		Name: "com.example/weather", URL: "https://example.com/mcp",
		Remotes:    []card.Remote{{Type: card.SSE, URL: "https://example.com/sse"}},
		Headers:    []card.Header{{Name: "Authorization", Input: card.Input{Secret: true, Required: true}}},
		Repository: &card.Repository{URL: "https://git.example.com/weather", Source: "forgejo"},
		Meta:       mcp.Meta{"com.example/tier": json.RawMessage(`"free"`)},
	})
	doc, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"$schema":"https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",` +
		`"name":"com.example/weather","version":"1.2.3","description":"Forecasts for any place.","title":"Weather",` +
		`"websiteUrl":"https://example.com/weather","repository":{"url":"https://git.example.com/weather","source":"forgejo"},` +
		`"icons":[{"src":"https://example.com/w.png","mimeType":"image/png"}],"remotes":[` +
		`{"type":"streamable-http","url":"https://example.com/mcp","headers":[{"name":"Authorization","isRequired":true,"isSecret":true}],` +
		`"supportedProtocolVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]},` +
		`{"type":"sse","url":"https://example.com/sse","supportedProtocolVersions":["2025-11-25","2025-06-18","2025-03-26","2024-11-05"]}],` +
		`"_meta":{"com.example/tier":"free"}}`
	if string(doc) != want {
		t.Errorf("the card is\n%s, want\n%s", doc, want)
	}
	if problems := card.Lint(doc); len(problems) > 0 {
		t.Errorf("problems: %v", problems)
	}
}

// A server that speaks some revisions only says so.
func TestNewNamesTheRevisionsOfTheServer(t *testing.T) {
	srv := server.New(weather, &server.Options{Revisions: []mcp.Revision{mcp.Revision20250618, mcp.Revision20260728}})
	c := mustCard(t, srv, &card.Options{Name: "com.example/weather", URL: "https://example.com/mcp"})
	if got, want := c.Remotes[0].SupportedProtocolVersions, []string{"2026-07-28", "2025-06-18"}; !reflect.DeepEqual(got, want) {
		t.Errorf("the revisions are %v, want %v", got, want)
	}
}

// A card that must not be published is an error when it is made, which says what to change.
func TestNewRefuses(t *testing.T) {
	long := weather
	long.Description = strings.Repeat("x", 101)
	silent := weather
	silent.Description = ""
	for _, c := range []struct {
		name string
		info mcp.Implementation
		opts *card.Options
		says []string
	}{
		{"no options", weather, nil, []string{"name: ", `such as "com.example/weather"`, "card.Options"}},
		{"name of another form", weather, &card.Options{Name: "weather"}, []string{"name: ", `such as "com.example/weather"`}},
		{"long description", long, &card.Options{Name: "com.example/w"}, []string{"description: ", "1 to 100 characters"}},
		{"no description", silent, &card.Options{Name: "com.example/w"}, []string{"description: ", "Options.Description"}},
		{"no URL", weather, &card.Options{Name: "com.example/w", URL: "/mcp"}, []string{"remotes[0].url"}},
		{"headers of nothing", weather, &card.Options{Name: "com.example/w", Headers: []card.Header{{Name: "A"}}}, []string{"Options.URL"}},
		{
			"secret", weather,
			&card.Options{Name: "com.example/w", URL: "https://example.com", Headers: []card.Header{{Name: "Authorization", Input: card.Input{Value: "Bearer hunter2"}}}},
			[]string{"remotes[0].headers[0].value", "everybody can read"},
		},
		{"key of the protocol", weather, &card.Options{Name: "com.example/w", Meta: mcp.Meta{"io.modelcontextprotocol/x": json.RawMessage("1")}}, []string{"_meta", "com.example/"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := card.New(server.New(c.info, nil), c.opts)
			if err == nil {
				t.Fatal("there is no error")
			}
			for _, want := range c.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error %q does not say %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error %q repeats the secret", err)
			}
		})
	}
}

// What a peer or a later revision adds survives being read and written.
func TestUnknownMembersSurvive(t *testing.T) {
	const doc = `{"$schema":"https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json","later":{"a":[1,2]},"name":"com.example/x","version":"1","description":"d",` +
		`"remotes":[{"type":"streamable-http","url":"https://example.com/mcp","region":"eu","headers":[{"name":"A","hint":1.50}]}],"repository":{"url":"https://e.com/a","source":"s","stars":12345678901234567890}}`
	c, err := card.Parse([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(c)
	if err != nil || string(again) != doc {
		t.Errorf("the card became\n%s (%v), want\n%s", again, err, doc)
	}
	c.Title = "New"
	c.Remotes[0].Headers[0].Required = true
	if again, err = json.Marshal(c); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"later":{"a":[1,2]}`, `"region":"eu"`, `"hint":1.50`, `"isRequired":true`, `"title":"New"`, `12345678901234567890`} {
		if !strings.Contains(string(again), want) {
			t.Errorf("the changed card lacks %s:\n%s", want, again)
		}
	}
}

// Bad documents are errors, and quick ones.
func TestParseOfHostileCards(t *testing.T) {
	for name, doc := range map[string]string{
		"nothing":       "",
		"text":          "<!doctype html><title>Welcome</title>",
		"list":          "[]",
		"null":          "null",
		"cut off":       small[:100],
		"two":           small + small,
		"twice a name":  strings.Replace(small, `"version"`, `"name":"com.example/y","version"`, 1),
		"bad UTF-8":     strings.Replace(small, "com.example/x", "com.example/\xff", 1),
		"wrong type":    string(with(t, map[string]string{"remotes": `[{"type":1,"url":2}]`})),
		"huge":          strings.Replace(small, `"d"`, `"`+strings.Repeat("d", 1<<20)+`"`, 1),
		"deep":          strings.Replace(small, `"d"`, strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000), 1),
		"deep in _meta": string(with(t, map[string]string{"_meta": `{"a":` + strings.Repeat(`{"a":`, 80) + "1" + strings.Repeat("}", 81)})),
		"no schema":     strings.Replace(small, "$schema", "schema", 1),
		"other schema":  strings.Replace(small, "/v1/", "/v2/", 1),
		"name":          strings.Replace(small, "com.example/x", "<script>", 1),
	} {
		if c, err := card.Parse([]byte(doc)); err == nil {
			t.Errorf("%s: it is the card %+v, want an error", name, c)
		} else if len(err.Error()) > 1000 {
			t.Errorf("%s: the error has %d bytes", name, len(err.Error()))
		}
		if len(card.Lint([]byte(doc))) == 0 {
			t.Errorf("%s: Lint finds no problem", name)
		}
	}
}

// Parse is tolerant where a card can still be used.
func TestParseTolerates(t *testing.T) {
	for name, set := range map[string]map[string]string{
		"long description": {"description": `"` + strings.Repeat("x", 200) + `"`},
		"later transport":  {"remotes": `[{"type":"websocket","url":"wss://example.com"}]`},
		"no version":       {"version": `""`},
	} {
		doc := with(t, set)
		if _, err := card.Parse(doc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLocation(t *testing.T) {
	for endpoint, want := range map[string]string{
		"https://example.com/mcp":         "https://example.com/mcp/server-card",
		"https://example.com/mcp/":        "https://example.com/mcp/server-card",
		"https://example.com":             "https://example.com/server-card",
		"https://example.com/":            "https://example.com/server-card",
		"https://example.com:8443/a%2Fb":  "https://example.com:8443/a%2Fb/server-card",
		"https://example.com/mcp?a=b#c":   "https://example.com/mcp/server-card",
		"https://u:p@example.com/mcp":     "https://example.com/mcp/server-card",
		"http://127.0.0.1:7331/mcp/deep/": "http://127.0.0.1:7331/mcp/deep/server-card",
	} {
		if got, err := card.Location(endpoint); got != want || err != nil {
			t.Errorf("Location(%q) = %q, %v; want %q", endpoint, got, err, want)
		}
	}
	for _, endpoint := range []string{"", "mcp", "/mcp", "ftp://example.com"} {
		if got, err := card.Location(endpoint); err == nil {
			t.Errorf("Location(%q) = %q, want an error", endpoint, got)
		}
	}
}

func TestResolve(t *testing.T) {
	r := card.Remote{
		URL: "https://{region}.example.com/{path}?v={v}",
		Variables: map[string]card.Input{
			"region": {Choices: []string{"eu", "us"}, Default: "eu"}, "path": {Value: "v1/mcp"}, "v": {Format: "number", Description: "The version."},
		},
		Headers: []card.Header{
			{Name: "Authorization", Input: card.Input{Value: "Bearer {key}"}, Variables: map[string]card.Input{"key": {Required: true, Secret: true}}},
			{Name: "X-Units", Input: card.Input{Default: "metric"}},
			{Name: "X-Extra"},
		},
	}
	at, header, err := r.Resolve(map[string]string{"region": "us", "path": "evil", "v": "2", "key": "k", "X-Units": "imperial"})
	if err != nil || at != "https://us.example.com/v1/mcp?v=2" {
		t.Errorf("the URL is %q, %v", at, err)
	}
	if header.Get("Authorization") != "Bearer k" || header.Get("X-Units") != "imperial" || len(header) != 2 {
		t.Errorf("the headers are %v", header)
	}
	for name, values := range map[string]map[string]string{
		"missing variable": {"key": "k"}, "missing secret": {"v": "2"}, "no choice": {"v": "2", "key": "k", "region": "mars"},
		"no number": {"v": "two", "key": "k"}, "line break": {"v": "2", "key": "k\r\nX-Evil: 1"},
	} {
		if at, header, err := r.Resolve(values); err == nil {
			t.Errorf("%s: %q, %v, want an error", name, at, header)
		}
	}
	var missing *card.MissingError
	if _, _, err := r.Resolve(nil); !errors.As(err, &missing) || missing.Name != "v" || !strings.Contains(err.Error(), "The version.") {
		t.Errorf("the error is %v, want one that names v and says what it is", err)
	}
	for _, bad := range []card.Remote{
		{URL: "file:///etc/passwd"},
		{URL: "{all}"},
		{URL: "https://u:p@example.com"},
		{URL: "https://example.com", Headers: []card.Header{{Name: "Host", Input: card.Input{Value: "other.example.com"}}}},
		{URL: "https://example.com", Headers: []card.Header{{Name: "Mcp-Session-Id", Input: card.Input{Value: "1"}}}},
	} {
		if at, header, err := bad.Resolve(nil); err == nil {
			t.Errorf("%+v: %q, %v, want an error", bad, at, header)
		}
	}
}
