package cli

import (
	"net/http"
	"sync"

	"github.com/parley-mcp/parley/cmd/parley/internal/trouble"
)

// demands is an HTTP transport that remembers what a server demanded last, to
// tell whoever cannot be asked to log in.
type demands struct {
	base http.RoundTripper

	mu     sync.Mutex
	code   code     // codeLogin or codeScope
	scopes []string // with codeScope: those that are missing
}

// RoundTrip implements http.RoundTripper.
func (d *demands) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := d.base.RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
		return resp, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.code, d.scopes = codeLogin, nil
	if scopes := trouble.Scopes(resp.Header); resp.StatusCode == http.StatusForbidden && scopes != nil {
		d.code, d.scopes = codeScope, scopes
	}
	return resp, nil
}

// CloseIdleConnections passes http.Client.CloseIdleConnections on to base.
func (d *demands) CloseIdleConnections() {
	if closer, ok := d.base.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

// last returns what was demanded last; a login, if nothing was.
func (d *demands) last() (code, []string) {
	if d == nil {
		return codeLogin, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.code == "" {
		return codeLogin, nil
	}
	return d.code, d.scopes
}
