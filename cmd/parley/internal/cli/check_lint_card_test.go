package cli

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/card"
)

// The card of a server is judged with its definitions, wherever it is, and a server
// without one is not blamed for that.
func TestLintFindsTheCard(t *testing.T) {
	const bad = `{"$schema":"` + card.SchemaURL + `","name":"com.example/weather","version":"^1.0.0","description":"Forecasts."}`
	answer := func(mediaType, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", mediaType)
			_, _ = io.WriteString(w, text) // the command shows what it got
		}
	}
	for name, test := range map[string]struct {
		serve func(*testing.T, *cardSite)
		exit  int
		want  string
	}{
		"none":       {func(*testing.T, *cardSite) {}, exitOK, "0 errors"},
		"beside":     {func(_ *testing.T, s *cardSite) { s.mux.Handle("/mcp/server-card", answer(card.MediaType, bad)) }, exitTool, "card/invalid"},
		"no JSON":    {func(_ *testing.T, s *cardSite) { s.mux.Handle("/mcp/server-card", answer(card.MediaType, "{")) }, exitTool, "card/invalid"},
		"elsewhere":  {func(_ *testing.T, s *cardSite) { s.mux.Handle("/mcp/server-card", answer("text/html", "<p>")) }, exitOK, "0 errors"},
		"catalogued": {func(t *testing.T, s *cardSite) { catalogued(t, s, s.URL+"/mcp") }, exitOK, "card/advice"},
		"of another": {func(t *testing.T, s *cardSite) { catalogued(t, s, "https://mcp.example.com/mcp") }, exitOK, "0 warnings"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newCardSite(t)
			test.serve(t, s)
			c := new(console)
			if code := Run(t.Context(), c.streams("", false), []string{"check", "lint", "--ignore", "descriptions", s.URL + "/mcp"}); code != test.exit {
				t.Errorf("exit code %d, want %d\n%s", code, test.exit, &c.err)
			}
			if got := c.out.String(); !strings.Contains(got, test.want) || strings.Contains(got, "card/") != strings.Contains(test.want, "card/") {
				t.Errorf("it says\n%s\nwant %q", got, test.want)
			}
		})
	}
}

// catalogued lists a card in the catalogue of the host, which is not beside the server.
func catalogued(t *testing.T, s *cardSite, endpoint string) {
	t.Helper()
	c, err := card.New(s.srv, &card.Options{Name: "com.example/weather", URL: endpoint})
	if err != nil {
		t.Fatal(err)
	}
	list, err := card.NewCatalog(c)
	if err != nil {
		t.Fatal(err)
	}
	list.Entries[0].URL = s.URL + "/card.json"
	for path, handler := range map[string]func(*card.HandlerOptions) (http.Handler, error){card.CatalogPath: list.Handler, "/card.json": c.Handler} {
		h, err := handler(nil)
		if err != nil {
			t.Fatal(err)
		}
		s.mux.Handle(path, h)
	}
}
