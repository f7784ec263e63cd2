package appframe

import (
	"embed"
	"io/fs"
	"net"
	"net/http"
	"strings"
)

// files are the sandbox proxy.
//
//go:embed files
var files embed.FS

// types are those of the files that there are.
var types = map[string]string{
	"sandbox.html": "text/html; charset=utf-8",
	"sandbox.css":  "text/css; charset=utf-8",
	"sandbox.js":   "text/javascript; charset=utf-8",
}

// ServeHTTP serves a frame or what it is made of. Whatever is asked, there are no cookies,
// and nothing depends on any.
func (f *Frames) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-DNS-Prefetch-Control", "off")
	h.Set("Cache-Control", "no-store")
	h.Set("Origin-Agent-Cluster", "?1")
	switch {
	case r.Host != net.JoinHostPort(host, f.port):
		http.Error(w, "this is not the host of these frames", http.StatusMisdirectedRequest)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "frames can only be read", http.StatusMethodNotAllowed)
	default:
		f.serve(w, r)
	}
}

func (f *Frames) serve(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/")
	if id, rest, ok := strings.Cut(path, "/"); ok && rest == "" {
		f.serveFrame(w, r, id)
		return
	}
	if path == "sandbox.html" { // only as a frame
		path = ""
	}
	serveFile(w, path)
}

// serveFrame serves the proxy under the policy of an app, which the app's document inherits.
func (f *Frames) serveFrame(w http.ResponseWriter, r *http.Request, id string) {
	one := f.byID(id)
	dest := r.Header.Get("Sec-Fetch-Dest")
	switch {
	case one == nil:
		http.Error(w, "there is no such frame: it was closed, or belongs to an earlier run", http.StatusNotFound)
	case dest != "" && dest != "iframe": // browsers that do not say so have frame-ancestors
		http.Error(w, "this is shown in a frame of the page only", http.StatusForbidden)
	default:
		w.Header().Set("Content-Security-Policy", one.policy)
		w.Header().Set("Permissions-Policy", one.grants)
		serveFile(w, "sandbox.html")
	}
}

func serveFile(w http.ResponseWriter, name string) {
	kind, ok := types[name]
	if !ok {
		http.Error(w, "there is no such file", http.StatusNotFound)
		return
	}
	body, err := fs.ReadFile(files, "files/"+name)
	if err != nil {
		http.Error(w, "the file cannot be read", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(body) //nolint:gosec // a file of this program; a browser that is gone does not matter
}
