package auth

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/flight"
)

const (
	relayAge   = 5 * time.Minute // how long a document is served before it is fetched again
	relayPause = 5 * time.Second // after a failure, before the next attempt
)

// relay serves the metadata of an authorization server at the origin of the
// resource: clients of 2025-03-26 know of no resource metadata, and look there for
// the server's own authorization server.
//
// Spec: 2025-03-26 basic/authorization#server-metadata-discovery.
type relay struct {
	fetch  *fetcher
	issuer string

	flight flight.Group[struct{}]

	mu     sync.Mutex
	known  *serverMetadata
	failed error
	until  time.Time // no other attempt before
}

func newRelay(c *http.Client, issuer string) (*relay, error) {
	u, err := url.Parse(issuer)
	if err != nil {
		return nil, err
	}
	return &relay{fetch: newFetcher(c, u), issuer: issuer}, nil
}

// metadata returns the issuer's metadata. If it can no longer be had, the last one
// stays good: endpoints seldom move.
func (p *relay) metadata(ctx context.Context) (*serverMetadata, error) {
	if known, failed, fresh := p.state(); fresh {
		return known, failed
	}
	select {
	case <-p.begin(ctx):
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	known, failed, _ := p.state()
	return known, failed
}

// state returns what is known, and whether that is to do for now.
func (p *relay) state() (known *serverMetadata, failed error, fresh bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known, p.failed, time.Now().Before(p.until)
}

// begin fetches the metadata, unless a fetch is under way already. It does not end
// with the request that began it, because others may be waiting too.
func (p *relay) begin(ctx context.Context) <-chan struct{} {
	return p.flight.Begin("", func() (struct{}, error) { // ends after fetchTimeout at the latest
		if _, _, fresh := p.state(); fresh {
			return struct{}{}, nil // another call has just fetched it
		}
		fetching, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
		defer cancel()
		p.take(p.fetch.discover(fetching, p.issuer))
		p.fetch.rest()
		return struct{}{}, nil // the result is in p
	}).Done()
}

// take stores the result of a fetch.
func (p *relay) take(m *serverMetadata, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err == nil:
		p.known, p.failed, p.until = m, nil, time.Now().Add(relayAge)
	case p.known != nil:
		p.until = time.Now().Add(relayPause)
	default:
		p.failed, p.until = err, time.Now().Add(relayPause)
	}
}

// IssuerMetadata returns a handler that serves the metadata of the first of
// Options.AuthorizationServers (RFC 8414) as it is, for clients of 2025-03-26. It is
// public; web pages of any origin may read it. It is fetched when it is asked for,
// and kept for five minutes; while there is none, the answer is 502.
//
// Spec: 2025-03-26 basic/authorization#authorization-base-url.
func (g *Guard) IssuerMetadata() http.Handler {
	return document(func(w http.ResponseWriter, r *http.Request) []byte {
		m, err := g.relay.metadata(r.Context())
		if err != nil {
			g.log.WarnContext(r.Context(), "no metadata for clients of 2025-03-26", "error", err)
			http.Error(w, "the metadata of the authorization server cannot be had at the moment", http.StatusBadGateway)
			return nil
		}
		return m.whole
	})
}
