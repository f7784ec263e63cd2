package cli

import (
	"log/slog"
	"sync"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
)

// doors are where clients reach a gateway over HTTP: the whole, and each view, of which
// there can be others when the file is read again.
type doors struct {
	gateway *gateway.Gateway
	listen  config.Listen // as it was at the start
	logger  *slog.Logger

	mu    sync.Mutex
	views []*config.View
	site  *site // nil until there is one
}

// show makes the views of a configuration those that clients reach.
func (d *doors) show(c *config.Config) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.views = c.Views
	d.serveLocked()
}

// attach has a site serve what there is, now and later.
func (d *doors) attach(s *site) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.site = s
	d.serveLocked()
}

// at returns the endpoints.
func (d *doors) at() []endpoint {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.atLocked()
}

func (d *doors) atLocked() []endpoint {
	at := endpointsAt(d.listen.Path, d.gateway.View(""))
	for _, v := range d.views {
		at = append(at, endpoint{path: d.listen.ViewPath(v.Name), handler: d.gateway.View(v.Name)})
	}
	return at
}

func (d *doors) serveLocked() {
	if d.site == nil {
		return
	}
	if err := d.site.serve(d.atLocked()); err != nil {
		d.logger.Error("the paths of views stay as they were", "error", err)
	}
}

// sessions counts those that clients have open, by the name of the transport.
func (d *doors) sessions() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.site == nil {
		return nil
	}
	return d.site.sessions()
}

// addresses are the URLs of the endpoints.
func (d *doors) addresses() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	urls := []string{}
	if d.site == nil {
		return urls
	}
	for _, e := range d.atLocked() {
		urls = append(urls, d.site.origin+e.path)
	}
	return urls
}
