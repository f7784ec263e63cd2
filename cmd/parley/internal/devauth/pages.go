package devauth

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
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

// policy allows a page its one style sheet, and to post its form to this server
// and be redirected to the client; it lets nobody frame the page.
func policy(target string) string {
	sum := sha256.Sum256([]byte(style))
	if target != "" {
		target = " " + target
	}
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; form-action 'self'" + target +
		"; base-uri 'none'; frame-ancestors 'none'"
}

// show writes a page. target is where its form may lead besides this server.
func show(w http.ResponseWriter, status int, name, target string, data any) {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy(target))
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin") // the query of a page is nobody else's business
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // a browser that is gone does not matter
}

// problem tells the user what is wrong, without a redirect.
func (s *Server) problem(w http.ResponseWriter, status int, text string) {
	show(w, status, "problem", "", text)
}

type loginForm struct{ Action, Form, Wrong string }

func (s *Server) loginPage(w http.ResponseWriter, r *http.Request, status int, wrong string) {
	q := r.URL.Query()
	show(w, status, "login", formTarget(q.Get("redirect_uri")), loginForm{
		Action: pathAuthorize + "?" + q.Encode(),
		Form:   s.formToken(s.visitor(w, r), q),
		Wrong:  wrong,
	})
}
