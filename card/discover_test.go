package card_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/card"
)

// pages serves texts by path.
func pages(texts map[string]string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := texts[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, text)
	})
}

func entries(list ...string) string {
	return `{"specVersion":"1.3","later":true,"entries":[` + strings.Join(list, ",") + `]}`
}

func named(name string) string {
	return strings.Replace(small, "com.example/x", "com.example/"+name, 1)
}

const cardType, catalogType = `"type":"application/mcp-server-card+json"`, `"type":"application/ai-catalog+json"`

// Discovery yields every card once, in order, and says what cannot be had.
func TestDiscover(t *testing.T) {
	site := pages(map[string]string{
		card.CatalogPath: entries(
			`{"identifier":"a",`+cardType+`,"url":"/a"}`,
			`{"identifier":"b",`+cardType+`,"data":`+named("b")+`}`,
			`{"identifier":"dataset","type":"text/csv","url":"/csv"}`,
			`{"identifier":"e",`+cardType+`,"url":"beside","data":null}`,
			`{"identifier":"gone",`+cardType+`,"url":"/gone"}`,
			`{"identifier":"neither",`+cardType+`}`,
			`{"identifier":"both",`+cardType+`,"url":"/a","data":{}}`,
			`{"identifier":"broken",`+cardType+`,"data":{"name":1}}`,
			`{"identifier":"more",`+catalogType+`,"url":"/more/catalog"}`,
			`{"identifier":"circle",`+catalogType+`,"url":"/more/catalog"}`,
			`{"identifier":"inline",`+catalogType+`,"data":`+entries(`{"identifier":"d",`+cardType+`,"data":`+named("d")+`}`)+`}`,
			`{"identifier":"file",`+cardType+`,"url":"file:///etc/passwd"}`,
		),
		"/a":                  named("a"),
		"/.well-known/beside": named("e"),
		"/more/c":             named("c"),
		"/more/catalog":       entries(`{"identifier":"c",`+cardType+`,"url":"c"}`, `{"identifier":"back",`+catalogType+`,"url":"/more/catalog"}`),
	})
	on(t, site, func(t *testing.T, c *card.Client, url string) {
		var got []string
		for f, err := range c.Discover(t.Context(), url) {
			switch {
			case err != nil:
				got = append(got, "!"+f.Entry.Identifier)
				if f.Card != nil || !strings.Contains(err.Error(), f.Entry.Identifier) {
					t.Errorf("%+v, %v: want no card, and an error that names the entry", f, err)
				}
			default:
				got = append(got, f.Card.Name)
			}
		}
		want := "com.example/a com.example/b com.example/e !gone !neither !both !broken com.example/c com.example/d !file"
		if strings.Join(got, " ") != want {
			t.Errorf("found %s, want %s", got, want)
		}
		for range c.Discover(t.Context(), url) {
			break // must not go on
		}
	})
}

// A catalogue cannot make a client fetch without end.
func TestDiscoverIsBounded(t *testing.T) {
	asked := 0
	wide := make([]string, 1000)
	for i := range wide {
		wide[i] = fmt.Sprintf(`{"identifier":"i%d",%s,"url":"/card"}`, i, cardType)
	}
	deep := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		fmt.Fprint(w, entries(fmt.Sprintf(`{"identifier":"i",%s,"url":"%s/x"}`, catalogType, r.URL.Path)))
	})
	for name, c := range map[string]struct {
		site http.Handler
		most int
		says string
	}{
		"wide": {http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked++
			pages(map[string]string{card.CatalogPath: entries(wide...), "/card": small}).ServeHTTP(w, r)
		}), 201, "more than 200 documents"},
		"deep": {deep, 4, "more than 4 levels"},
	} {
		t.Run(name, func(t *testing.T) {
			asked = 0
			on(t, c.site, func(t *testing.T, cl *card.Client, url string) {
				var last error
				for _, err := range cl.Discover(t.Context(), url) {
					last = err
				}
				if asked > c.most || last == nil || !strings.Contains(last.Error(), c.says) {
					t.Errorf("asked %d times, at the end %v; want at most %d, and an error that says %q", asked, last, c.most, c.says)
				}
			})
		})
	}
	on(t, http.NotFoundHandler(), func(t *testing.T, c *card.Client, url string) {
		n := 0
		for f, err := range c.Discover(t.Context(), url) {
			if n++; f != nil || err == nil {
				t.Errorf("%+v, %v, want an error alone", f, err)
			}
		}
		if n != 1 {
			t.Errorf("there were %d answers, want 1", n)
		}
	})
}

func TestLintCatalog(t *testing.T) {
	good := `{"identifier":"urn:air:example.com:mcp:x",` + cardType + `,"url":"https://example.com/mcp/server-card"}`
	if problems := card.LintCatalog([]byte(entries(good))); len(problems) > 0 {
		t.Errorf("problems: %v", problems)
	}
	for name, c := range map[string]struct{ doc, where, says string }{
		"text":           {"hello", "", "no JSON object"},
		"no version":     {`{"entries":[]}`, "", "specVersion"},
		"later version":  {`{"specVersion":"2.0","entries":[]}`, "", "version 1 can be read"},
		"no entries":     {`{"specVersion":"1.0"}`, "entries", "missing"},
		"nameless host":  {`{"specVersion":"1.0","entries":[],"host":{}}`, "host.displayName", "missing"},
		"key":            {`{"specVersion":"1.0","entries":[],"extensions":{"tier":1}}`, "extensions", "reverse DNS"},
		"twice":          {entries(good, good), "entries[1].identifier", "twice"},
		"version once":   {entries(good, strings.Replace(good, "{", `{"version":"1.0.0",`, 1)), "entries[1].version", "entries[0]"},
		"version later":  {entries(strings.Replace(good, "{", `{"version":"1.0.0",`, 1), good), "entries[1].version", "version"},
		"no identifier":  {entries(`{` + cardType + `,"url":"https://example.com/a"}`), "entries[0].identifier", "missing"},
		"no type":        {entries(`{"identifier":"a","url":"https://example.com/a"}`), "entries[0].type", "missing"},
		"neither":        {entries(`{"identifier":"a",` + cardType + `}`), "entries[0]", "neither url nor data"},
		"both":           {entries(`{"identifier":"a",` + cardType + `,"url":"https://example.com/a","data":` + small + `}`), "entries[0]", "both"},
		"bad card":       {entries(`{"identifier":"a",` + cardType + `,"data":{}}`), "entries[0].data", ""},
		"bad URL":        {entries(`{"identifier":"a",` + cardType + `,"url":"card"}`), "entries[0].url", "http"},
		"password":       {entries(`{"identifier":"a",` + cardType + `,"url":"https://u:p@example.com/a"}`), "entries[0].url", "user name"},
		"private":        {entries(`{"identifier":"a",` + cardType + `,"url":"https://10.0.0.1/a"}`), "entries[0].url", "one machine or network"},
		"not encrypted":  {entries(`{"identifier":"a",` + cardType + `,"url":"http://example.com/a"}`), "entries[0].url", "https"},
		"key of a thing": {entries(strings.Replace(good, "{", `{"extensions":{"x":1},`, 1)), "entries[0].extensions", "reverse DNS"},
	} {
		problems := card.LintCatalog([]byte(c.doc))
		if len(problems) == 0 || !strings.HasPrefix(problems[0].Where, c.where) || !strings.Contains(problems[0].Text, c.says) {
			t.Errorf("%s: problems are %+v, want one at %q that says %q", name, problems, c.where, c.says)
		}
	}
}
