package console

import (
	"bytes"
	"html/template"
	"net/http"
)

// pages are those of a login, which have no script. They lead on by a link, as a page of
// the console's own: what comes straight from another site does not get the cookie.
var pages = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Console of the gateway</title>
{{- if .To}}<meta http-equiv="refresh" content="0; url={{.To}}">{{end}}<link rel="stylesheet" href="/page.css"></head>
<body><main class="notice-page"><h1>Console of the gateway</h1><p>{{.Text}}</p><p><a href="{{if .To}}{{.To}}{{else}}/{{end}}">Go on to the console</a></p></main></body></html>
`))

func guarded(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
}

// onward leads a browser on, within the console.
func onward(w http.ResponseWriter, to string) {
	show(w, http.StatusOK, "You are logged in.", to)
}

// problem says what is wrong.
func problem(w http.ResponseWriter, status int, text string) { show(w, status, text, "") }

func show(w http.ResponseWriter, status int, text, to string) {
	var b bytes.Buffer
	if err := pages.Execute(&b, struct{ Text, To string }{text, to}); err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // a browser that is gone does not matter
}
