package cli

import (
	"encoding/hex"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/status"
	"github.com/parley-mcp/parley/internal/redact"
)

// shown is what a running gateway says of its configuration to those who ask.
type shown struct {
	mu     sync.Mutex
	config *config.Config
	posts  *posts
	said   status.Configuration
}

// read remembers the configuration that is served from now on, and its guards.
func (s *shown) read(c *config.Config, p *posts) {
	file, err := filepath.Abs(c.Path)
	if err != nil {
		file = c.Path
	}
	sum := digestOf(c.Files())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.config, s.posts = c, p
	s.said = status.Configuration{File: file, Revision: hex.EncodeToString(sum[:6]), Since: time.Now()}
}

// now is the configuration that is served, and its guards.
func (s *shown) now() (*config.Config, *posts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.config, s.posts
}

// failed remembers why what the file says now is not served; nil says that it is.
func (s *shown) failed(err error, secrets *redact.Redactor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.said.Error = ""; err != nil {
		s.said.Error = secrets.Text(err.Error())
	}
}

// status says how the gateway is.
func (r *runningGateway) status(*http.Request, struct{}) (any, error) {
	g := status.Gateway{PID: os.Getpid(), Version: buildVersion(), Since: r.since, Addresses: r.addresses(), Sessions: r.sessions(), Backends: []status.Backend{}}
	r.shown.mu.Lock()
	c, guards := r.shown.config, r.shown.posts
	g.Configuration = r.shown.said
	r.shown.mu.Unlock()
	g.Guards = guards.status()
	g.Guards.Approvals = len(r.approvals.desk.Waiting())
	if guards.audit != nil {
		log := guards.audit.State()
		g.Guards.Audit = status.OfAudit(&log, r.hidden.Now())
	}
	for _, s := range r.gateway.State() {
		reached := ""
		if b := c.Backend(s.Name); b != nil {
			reached = b.String()
		}
		g.Backends = append(g.Backends, status.Of(&s, reached, r.hidden.Now()))
	}
	return g, nil
}

// addresses are where clients reach the gateway.
func (r *runningGateway) addresses() []string {
	if r.single {
		return []string{"standard input and output"}
	}
	return r.doors.addresses()
}
