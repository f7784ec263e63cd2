package inspect

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/parley-mcp/parley/apps"
	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/appframe"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/jsonrpc"
)

// mostApps bounds the apps that are kept for a connection; the oldest go first.
const mostApps = 32

// appsPart has the apps of servers: it reads them, opens frames for them, and does for an
// app what its host may do. What the app says reaches this by way of the page, which
// speaks with it (static/inspect/app.js).
//
// Spec: extensions/apps 2026-01-26 specification#communication-protocol.
type appsPart struct {
	s      *Server
	frames *appframe.Frames // nil if apps cannot be shown
}

// appShelf has the apps of a connection that the page shows.
type appShelf struct {
	mu   sync.Mutex
	last int
	apps []*readApp // oldest first
}

// readApp is an app as it was read.
type readApp struct {
	ID   string          `json:"id"`
	URI  string          `json:"uri"`
	HTML string          `json:"html"`
	UI   apps.ResourceUI `json:"ui"`
	// Wrong is what it asks for and does not get, because it is not valid.
	Wrong string `json:"wrong,omitzero"`

	frame string // the ID of its frame; "" if it has none
}

func (p *appsPart) routes(api *web.API) {
	api.Handle("POST /connections/{c}/apps", p.s.on(p.read))
	api.Handle("DELETE /connections/{c}/apps/{a}", p.s.on(p.on(func(c *Connection, a *readApp, _ *web.Request) (any, error) {
		p.forget(c, a)
		return nil, nil //nolint:nilnil // answered without a body
	})))
	api.Handle("POST /connections/{c}/apps/{a}/frame", p.s.on(p.on(p.open)))
	api.Handle("POST /connections/{c}/apps/{a}/calls", p.s.on(p.on(p.call)))
	api.Handle("POST /connections/{c}/apps/{a}/reads", p.s.on(p.on(p.readFor)))
}

// prepare declares that apps can be shown.
//
// Spec: extensions/apps 2026-01-26 specification#client-host-capabilities.
func (p *appsPart) prepare(_ *Connection, o *client.Options) {
	if p.frames == nil {
		return
	}
	declared := maps.Clone(o.Extensions)
	if declared == nil {
		declared = map[string]any{}
	}
	declared[apps.Extension] = apps.Supported()
	o.Extensions = declared
}

func (p *appsPart) connected(*Connection) {}

func (p *appsPart) ended(c *Connection) {
	shelf := partOf[appShelf](c)
	shelf.mu.Lock()
	kept := shelf.apps
	shelf.apps = nil
	shelf.mu.Unlock()
	for _, a := range kept {
		p.closeFrame(a)
	}
}

// on makes the handler of a route below an app.
func (p *appsPart) on(f func(c *Connection, a *readApp, r *web.Request) (any, error)) func(*Connection, *web.Request) (any, error) {
	return func(c *Connection, r *web.Request) (any, error) {
		shelf := partOf[appShelf](c)
		shelf.mu.Lock()
		at := slices.IndexFunc(shelf.apps, func(a *readApp) bool { return a.ID == r.PathValue("a") })
		var a *readApp
		if at >= 0 {
			a = shelf.apps[at]
		}
		shelf.mu.Unlock()
		if a == nil {
			err := web.Errorf(http.StatusNotFound, "no_app", "there is no app %q", r.PathValue("a"))
			err.Hint = "show it anew"
			return nil, err
		}
		return f(c, a, r)
	}
}

// read reads an app from the server.
func (p *appsPart) read(c *Connection, r *web.Request) (any, error) {
	var asked struct {
		URI string `json:"uri"`
	}
	if err := r.Read(&asked); err != nil {
		return nil, err
	}
	cl, err := c.live()
	if err != nil {
		return nil, err
	}
	found, err := cl.ReadApp(r.Context(), asked.URI)
	if err != nil {
		return nil, &web.Error{Status: http.StatusBadGateway, Code: "app", Message: err.Error(), Hint: "what the tool returned is shown without its app"}
	}
	a := &readApp{URI: found.URI, HTML: found.HTML, UI: found.UI}
	if wrong := found.UI.Check(); wrong != nil {
		a.Wrong = wrong.Error()
	}
	p.keep(c, a)
	return a, nil
}

// keep gives an app its ID.
func (p *appsPart) keep(c *Connection, a *readApp) {
	shelf := partOf[appShelf](c)
	shelf.mu.Lock()
	defer shelf.mu.Unlock()
	shelf.last++
	a.ID = "a" + strconv.Itoa(shelf.last)
	shelf.apps = append(shelf.apps, a)
	if len(shelf.apps) > mostApps {
		p.closeFrame(shelf.apps[0])
		shelf.apps = shelf.apps[1:]
	}
}

func (p *appsPart) forget(c *Connection, a *readApp) {
	shelf := partOf[appShelf](c)
	shelf.mu.Lock()
	shelf.apps = slices.DeleteFunc(shelf.apps, func(one *readApp) bool { return one == a })
	p.closeFrame(a)
	shelf.mu.Unlock()
}

// closeFrame forgets the frame of an app that has one. The shelf is locked, or no longer
// has the app.
func (p *appsPart) closeFrame(a *readApp) {
	if a.frame != "" {
		p.frames.Close(a.frame)
	}
}

// shownFrame is a frame and what the app in it gets, for the page and for the app itself.
type shownFrame struct {
	*appframe.Frame
	Permissions apps.Permissions `json:"permissions"`
	CSP         *apps.CSP        `json:"csp,omitzero"`
}

// open opens a frame for an app, with what the person who looks at it grants. Without
// "network" the app reaches nothing, whatever it declares.
//
// Spec: extensions/apps 2026-01-26 specification#host-behavior ("No Loosening").
func (p *appsPart) open(c *Connection, a *readApp, r *web.Request) (any, error) {
	var granted struct {
		Network     bool             `json:"network"`
		Permissions apps.Permissions `json:"permissions"`
	}
	if err := r.Read(&granted); err != nil {
		return nil, err
	}
	if p.frames == nil {
		return nil, web.Errorf(http.StatusConflict, "no_frames", "this page has no frames for apps")
	}
	ui := a.UI
	if !granted.Network {
		ui.CSP = nil
	}
	frame := p.frames.Open(ui, granted.Permissions)
	shelf := partOf[appShelf](c)
	shelf.mu.Lock()
	p.closeFrame(a)
	a.frame = frame.ID
	shelf.mu.Unlock()
	both := slices.DeleteFunc(slices.Clone(ui.Permissions), func(p apps.Permission) bool { return !slices.Contains(granted.Permissions, p) })
	return &shownFrame{frame, both, ui.CSP}, nil
}

// answer is what a server said to an app: a result, or the error that it gave.
type answer struct {
	Result json.RawMessage `json:"result,omitzero"`
	Error  *jsonrpc.Error  `json:"error,omitzero"`
}
