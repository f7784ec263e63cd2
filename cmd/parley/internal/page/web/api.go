package web

import (
	"errors"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/wire"
)

const (
	prefix = "/api/v1"
	// maxBody is how long the body of a request may be.
	maxBody = 8 << 20
)

// API is what the page calls: routes below /api/v1, for visitors whom the door has let in.
type API struct {
	door *Door
	mux  *http.ServeMux
}

// NewAPI returns an API for those whom door lets in, with the stream of what hub hears.
func NewAPI(door *Door, hub *Hub) *API {
	a := &API{door: door, mux: http.NewServeMux()}
	a.Raw("GET /events", hub.stream)
	return a
}

// Request is a call of the API.
type Request struct {
	*http.Request
	// Who calls.
	Who Visitor

	control *http.ResponseController
	lasts   func() bool // the visit goes on
}

// Handle adds a route that answers in JSON; nil is answered with 204. The pattern is that
// of an http.ServeMux, below /api/v1: "POST /connections/{c}/calls".
func (a *API) Handle(pattern string, f func(r *Request) (any, error)) {
	a.Raw(pattern, func(w http.ResponseWriter, r *Request) error {
		v, err := f(r)
		return answer(w, v, err)
	})
}

// answer answers in JSON, unless there is an error.
func answer(w http.ResponseWriter, v any, err error) error {
	switch {
	case err != nil:
		return err
	case v == nil:
		w.WriteHeader(http.StatusNoContent)
	default:
		writeJSON(w, http.StatusOK, v)
	}
	return nil
}

// Raw adds a route that answers in a form of its own. f must not have written anything
// when it returns an error.
func (a *API) Raw(pattern string, f func(w http.ResponseWriter, r *Request) error) {
	a.handle(pattern, a.door.visitor, f)
}

// Open adds a route that is for everybody whose request the door admits, such as one of a
// login. It answers as Handle does.
func (a *API) Open(pattern string, f func(w http.ResponseWriter, r *Request) (any, error)) {
	nobody := func(*http.Request) (Visitor, error) { return Visitor{}, nil }
	a.handle(pattern, nobody, func(w http.ResponseWriter, r *Request) error {
		v, err := f(w, r)
		return answer(w, v, err)
	})
}

func (a *API) handle(pattern string, visitor func(*http.Request) (Visitor, error), f func(w http.ResponseWriter, r *Request) error) {
	method, path, _ := strings.Cut(pattern, " ")
	if strings.HasSuffix(path, "/") {
		path += "{$}" // one route, not all below it
	}
	a.mux.HandleFunc(method+" "+prefix+path, func(w http.ResponseWriter, r *http.Request) {
		who, err := visitor(r)
		if err == nil {
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
			err = f(w, &Request{r, who, http.NewResponseController(w), func() bool { return a.door.lasts(r) }})
		}
		if err != nil {
			writeError(w, err)
		}
	})
}

// ServeHTTP answers a request that the door admits.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	h, pattern := a.mux.Handler(r)
	if pattern != "" {
		a.mux.ServeHTTP(w, r)
		return
	}
	seen := &headOnly{header: http.Header{}}
	h.ServeHTTP(seen, r)
	if seen.status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", seen.header.Get("Allow"))
		writeError(w, Errorf(seen.status, "method", "%s does not take %s; it takes %s", r.URL.Path, r.Method, seen.header.Get("Allow")))
		return
	}
	writeError(w, Errorf(http.StatusNotFound, "route", "there is no %s", r.URL.Path))
}

// headOnly is a response of which only the head is wanted.
type headOnly struct {
	header http.Header
	status int
}

func (w *headOnly) Header() http.Header         { return w.header }
func (w *headOnly) WriteHeader(status int)      { w.status = status }
func (w *headOnly) Write(p []byte) (int, error) { return len(p), nil }

// Read decodes the body of a request, strictly: what into does not have is an error.
func (r *Request) Read(into any) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return Errorf(http.StatusUnsupportedMediaType, "type", "the body must be application/json")
	}
	err := wire.ReadStrict(r.Body, into)
	var long *http.MaxBytesError
	var unknown *wire.UnknownMemberError
	switch {
	case err == nil:
		_ = r.control.SetReadDeadline(time.Time{}) // not every writer supports deadlines
		return nil
	case errors.As(err, &long):
		return Errorf(http.StatusRequestEntityTooLarge, "size", "the body is longer than %d bytes", long.Limit)
	case errors.As(err, &unknown):
		e := Errorf(http.StatusBadRequest, "body", "there is no member %q", unknown.Name)
		e.Field = unknown.Name
		return e
	}
	return Errorf(http.StatusBadRequest, "body", "the body: %v", err)
}
