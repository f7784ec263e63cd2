package auth

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"
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

	mu    sync.Mutex // also held while the document is fetched: all wait for the same one
	known *serverMetadata
	err   error
	until time.Time
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
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); now.Before(p.until) {
		return p.known, p.err
	}
	// The fetch serves all who wait, so it does not end with the request that began it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
	defer cancel()
	defer p.fetch.rest()
	m, err := p.fetch.discover(ctx, p.issuer)
	switch {
	case err == nil:
		p.known, p.err, p.until = m, nil, time.Now().Add(relayAge)
	case p.known != nil:
		p.until = time.Now().Add(relayPause)
	default:
		p.err, p.until = err, time.Now().Add(relayPause)
	}
	return p.known, p.err
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
