package inspect

import (
	"net/http"
	"slices"

	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/mcp"
)

// Routes adds all routes.
func (s *Server) Routes(api *web.API) {
	api.Handle("GET /", s.getRoot)
	api.Handle("GET /servers", s.getServers)
	api.Handle("POST /masked", s.postMasked)
	api.Handle("GET /connections", s.getConnections)
	api.Handle("POST /connections", s.postConnection)
	api.Handle("GET /connections/{c}", s.on(func(c *Connection, _ *web.Request) (any, error) { return c.whole(), nil }))
	api.Handle("DELETE /connections/{c}", s.on(func(c *Connection, _ *web.Request) (any, error) { return nil, s.remove(c) }))
	api.Handle("POST /connections/{c}/reconnect", s.on(s.reconnect))
	api.Handle("POST /connections/{c}/disconnect", s.on(func(c *Connection, _ *web.Request) (any, error) {
		c.disconnect()
		return c.whole(), nil
	}))
	api.Handle("GET /connections/{c}/card", s.on(s.card))
	for _, p := range s.parts {
		p.routes(api)
	}
}

// on makes the handler of a route below a connection.
func (s *Server) on(f func(c *Connection, r *web.Request) (any, error)) func(*web.Request) (any, error) {
	return func(r *web.Request) (any, error) {
		c, err := s.connection(r)
		if err != nil {
			return nil, err
		}
		return f(c, r)
	}
}

// getRoot says what there is.
func (s *Server) getRoot(*web.Request) (any, error) {
	revisions := []string{}
	for _, r := range slices.Backward(mcp.Revisions()) {
		revisions = append(revisions, r.String())
	}
	return struct {
		Program    mcp.Implementation `json:"program"`
		Revisions  []string           `json:"revisions"` // newest first
		Transports []string           `json:"transports"`
		Most       int                `json:"mostConnections"`
	}{s.opts.Client, revisions, []string{"auto", "http", "sse"}, maxConnections}, nil
}

func (s *Server) getConnections(*web.Request) (any, error) {
	list := []*shownConnection{}
	for _, c := range s.all() {
		list = append(list, c.withCounts())
	}
	return struct {
		Run         string             `json:"run"`
		Connections []*shownConnection `json:"connections"`
	}{s.run, list}, nil
}

func (s *Server) postConnection(r *web.Request) (any, error) {
	var f form
	if err := r.Read(&f); err != nil {
		return nil, err
	}
	w, err := s.wish(r.Context(), &f)
	if err != nil {
		return nil, err
	}
	c, err := s.open(w)
	if err != nil {
		return nil, err
	}
	return c.whole(), nil
}

// reconnect begins anew, in another way if the request says so.
func (s *Server) reconnect(c *Connection, r *web.Request) (any, error) {
	if r.ContentLength != 0 {
		var f form
		if err := r.Read(&f); err != nil {
			return nil, err
		}
		f.Like = c.ID
		w, err := s.wish(r.Context(), &f)
		if err != nil {
			return nil, err
		}
		c.become(w)
	}
	c.connect()
	return c.whole(), nil
}

// become changes what the connection is to, from the next attempt on.
func (c *Connection) become(w *wish) {
	c.mu.Lock()
	c.wish = w
	c.mu.Unlock()
	c.Frames.Mask(w.redactor())
}

// getServers lists what configuration files name.
func (s *Server) getServers(r *web.Request) (any, error) {
	list := []target.Listed{}
	if s.opts.Servers != nil {
		found, err := s.opts.Servers(r.Context())
		if err != nil {
			return nil, &web.Error{Status: http.StatusInternalServerError, Code: "servers", Message: err.Error()}
		}
		list = append(list, found...)
	}
	return struct {
		Files []target.Listed `json:"files"`
	}{list}, nil
}

// card returns the server cards of a connection's server.
func (s *Server) card(c *Connection, r *web.Request) (any, error) {
	w := c.wished()
	if w.URL == "" || s.opts.Cards == nil {
		return nil, web.Errorf(http.StatusConflict, "no_card", "a server that is a command has no server card: cards are for servers at a URL")
	}
	cards, err := s.opts.Cards(r.Context(), &w.Target)
	if err != nil {
		e := web.Errorf(http.StatusBadGateway, "no_card", "%v", err)
		e.Hint = "Few servers publish a card yet; the connection works without one."
		return nil, e
	}
	return cards, nil
}
