package login

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the pages
	"encoding/base64"
	"html/template"
	"net/http"
)

//go:embed pages/pages.html
var source string

//go:embed pages/style.css
var style string

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"style": func() template.CSS { return template.CSS(style) }, //nolint:gosec // it is ours
}).Parse(source))

// policy allows a page its one style sheet, and to post its form to the gateway. There is
// no script, and nobody can frame a page.
var policy = func() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}()

// shown is what pages show.
type shown struct {
	Backend, Server, Action string
	Wrong                   bool
}

// guarded sets the headers that all answers have. The query of a page is nobody else's
// business.
func guarded(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
}

// show writes a page.
func show(w http.ResponseWriter, status int, name string, data any) {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // a browser that is gone does not matter
}

// problem says what is wrong.
func problem(w http.ResponseWriter, status int, text string) { show(w, status, "problem", text) }
