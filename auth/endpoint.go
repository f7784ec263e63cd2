package auth

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/flight"
)

// endpoint is the URL at which an issuer is asked about tokens.
type endpoint struct {
	fetch  *fetcher
	issuer string
	flight flight.Group[string]

	mu     sync.Mutex
	url    string // "" until it is known
	tried  time.Time
	failed error
}

// get returns the URL. A URL that discovery finds is kept; if it finds none, it
// is tried again after a while.
func (e *endpoint) get(ctx context.Context) (string, error) {
	e.mu.Lock()
	at, failed, again := e.url, e.failed, time.Since(e.tried) >= pauseFirst
	e.mu.Unlock()
	switch {
	case at != "":
		return at, nil
	case failed != nil && !again:
		return "", failed
	}
	// ctx does not belong to one client's request, so one lookup may serve all.
	return e.flight.Do("", func() (string, error) {
		at, err := e.discover(ctx)
		e.mu.Lock()
		defer e.mu.Unlock()
		e.url, e.failed, e.tried = at, err, time.Now()
		return at, err
	})
}

func (e *endpoint) discover(ctx context.Context) (string, error) {
	m, err := e.fetch.discover(ctx, e.issuer)
	if err != nil {
		return "", err
	}
	if m.Introspection == "" {
		return "", errors.New("the metadata of the issuer names no introspection_endpoint; see IntrospectionOptions.Endpoint")
	}
	if err := e.fetch.checkURL(m.Introspection); err != nil {
		return "", fmt.Errorf("introspection_endpoint: %w", err)
	}
	return m.Introspection, nil
}
