package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

// types are the files that a page may have. Those of the system may say something else.
var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".map":  "application/json",
	".svg":  "image/svg+xml",
	"":      "text/plain; charset=utf-8",
}

// Files are the files of a page. They hold no secrets: everybody on this machine may read
// them, although no other page may.
type Files struct {
	all    map[string][]byte
	policy string
	media  string
	known  sync.Map // *file by name
}

// NewFiles serves files by their names, of which index.html is the page. frames is the origin that
// the page may show in frames; "" is none.
func NewFiles(all map[string][]byte, frames string) *Files {
	return &Files{all: all, policy: policy(frames), media: media(frames)}
}

// media keeps what a machine senses to frames, which get it by the page's choice.
func media(frames string) string {
	if frames != "" {
		frames = `"` + frames + `"`
	}
	return "camera=(" + frames + "), microphone=(" + frames + "), geolocation=(" + frames + ")"
}

// policy allows a page its own files, and nothing that a text could bring along.
func policy(frames string) string {
	if frames == "" {
		frames = "'none'"
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src data: blob:; " +
		"connect-src 'self'; frame-src " + frames + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
		"require-trusted-types-for 'script'; trusted-types 'none'"
}

func (f *Files) headers(h http.Header) {
	h.Set("Content-Security-Policy", f.policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", f.media)
}

// file is a file as it is sent.
type file struct {
	kind, tag   string
	plain, gzip []byte
}

// ServeHTTP answers a request that the door admits.
func (f *Files) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "files can only be read", http.StatusMethodNotAllowed)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "" {
		name = "index.html"
	}
	found, ok := f.file(name)
	if !ok {
		http.Error(w, "there is no such file", http.StatusNotFound)
		return
	}
	h := w.Header()
	h.Set("Content-Type", found.kind)
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", found.tag)
	h.Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("If-None-Match"), found.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := found.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") && len(found.gzip) < len(found.plain) {
		h.Set("Content-Encoding", "gzip")
		body = found.gzip
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(body)
	}
}

// file compresses a file, once.
func (f *Files) file(name string) (*file, bool) {
	if known, ok := f.known.Load(name); ok {
		return known.(*file), true //nolint:forcetypeassert // nothing else is stored
	}
	plain, ok := f.all[name]
	if !ok {
		return nil, false
	}
	sum := sha256.Sum256(plain)
	made := &file{kind: types[path.Ext(name)], tag: `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`, plain: plain, gzip: compress(plain)}
	f.known.Store(name, made)
	return made, true
}

func compress(plain []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level exists
	_, _ = z.Write(plain)                                 // a buffer takes everything
	_ = z.Close()
	return b.Bytes()
}
