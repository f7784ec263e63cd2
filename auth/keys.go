package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/parley-mcp/parley/internal/flight"
)

// How long keys are used.
const (
	defaultFresh = 15 * time.Minute // when the issuer does not say
	minFresh     = time.Minute
	maxFresh     = 24 * time.Hour
	// maxStale is how long keys are used while the issuer cannot be reached.
	maxStale = 24 * time.Hour
	// pauseFetch is the minimum time between two fetches, whatever tokens say,
	// and pauseFirst as long as none has succeeded.
	pauseFetch = 30 * time.Second
	pauseFirst = 2 * time.Second
)

// keySource provides the keys that an issuer signs with.
type keySource interface {
	// find returns the keys that a token may be signed with; none if the issuer
	// has no such key. id may be "".
	find(ctx context.Context, id string, alg jose.SignatureAlgorithm) ([]jose.JSONWebKey, error)
}

// fixedKeys never change.
type fixedKeys []jose.JSONWebKey

func (k fixedKeys) find(_ context.Context, id string, alg jose.SignatureAlgorithm) ([]jose.JSONWebKey, error) {
	return candidates(k, id, alg), nil
}

// remoteKeys are fetched when they are needed, and kept. Concurrent callers
// share one fetch.
type remoteKeys struct {
	fetch  *fetcher
	issuer string
	url    string // of the JWK set; "" means that the issuer's metadata names it
	flight flight.Group[struct{}]

	mu      sync.Mutex
	keys    []jose.JSONWebKey
	fetched time.Time // when the keys arrived; zero is never
	expires time.Time // when they should be fetched again
	tried   time.Time // when they were last asked for
	failed  error     // the error of that fetch, or nil
}

func (k *remoteKeys) find(ctx context.Context, id string, alg jose.SignatureAlgorithm) ([]jose.JSONWebKey, error) {
	keys, err := k.current(ctx)
	if err != nil {
		return nil, err
	}
	if found := candidates(keys, id, alg); len(found) > 0 || !k.mayFetch() {
		return found, nil
	}
	// The issuer may have added a key.
	if keys, err = k.refresh(ctx); err != nil {
		return nil, err
	}
	return candidates(keys, id, alg), nil
}

// current returns fresh keys or, if none can be fetched, keys that are not too
// stale.
func (k *remoteKeys) current(ctx context.Context) ([]jose.JSONWebKey, error) {
	k.mu.Lock()
	keys, fresh, failed := k.keys, time.Now().Before(k.expires), k.failed
	k.mu.Unlock()
	if fresh {
		return keys, nil
	}
	if !k.mayFetch() {
		return k.stale(failed)
	}
	if failed != nil {
		// An issuer that is down may take long to fail again.
		if keys, err := k.stale(failed); err == nil {
			k.begin(ctx)
			return keys, nil
		}
	}
	return k.refresh(ctx)
}

// stale returns the known keys, or why there are none.
func (k *remoteKeys) stale(failed error) ([]jose.JSONWebKey, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fetched.IsZero() || time.Since(k.fetched) > maxStale {
		return nil, fmt.Errorf("the keys of the issuer %s cannot be had: %w", k.issuer, failed)
	}
	return k.keys, nil
}

// mayFetch reports whether the last fetch is long enough ago for another one:
// tokens with unknown key identifiers must not each become a request to the
// issuer.
func (k *remoteKeys) mayFetch() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	pause := pauseFetch
	if k.fetched.IsZero() {
		pause = pauseFirst
	}
	return k.tried.IsZero() || time.Since(k.tried) >= pause
}

// refresh fetches the keys, or waits for a fetch under way. The fetch does not
// end with the request that began it, because others may be waiting too.
func (k *remoteKeys) refresh(ctx context.Context) ([]jose.JSONWebKey, error) {
	select {
	case <-k.begin(ctx):
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	k.mu.Lock()
	failed := k.failed
	k.mu.Unlock()
	return k.stale(failed)
}

// begin fetches the keys, unless a fetch is under way already.
func (k *remoteKeys) begin(ctx context.Context) <-chan struct{} {
	return k.flight.Begin("", func() (struct{}, error) { // ends after fetchTimeout at the latest
		if !k.mayFetch() {
			return struct{}{}, nil // another call has just fetched them
		}
		fetching, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
		defer cancel()
		k.take(k.load(fetching))
		k.fetch.rest()
		return struct{}{}, nil // the result is in k
	}).Done()
}

// take stores the result of a fetch.
func (k *remoteKeys) take(keys []jose.JSONWebKey, fresh time.Duration, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tried, k.failed = time.Now(), err
	if err == nil {
		k.keys, k.fetched, k.expires = keys, k.tried, k.tried.Add(fresh)
	}
}

// load asks the issuer for its keys.
func (k *remoteKeys) load(ctx context.Context) ([]jose.JSONWebKey, time.Duration, error) {
	at := k.url
	if at == "" {
		m, err := k.fetch.discover(ctx, k.issuer)
		if err != nil {
			return nil, 0, err
		}
		if at = m.Keys; at == "" {
			return nil, 0, errors.New("the metadata names no jwks_uri")
		}
		if err := k.fetch.checkURL(at); err != nil {
			return nil, 0, fmt.Errorf("jwks_uri: %w", err)
		}
	}
	a, err := k.fetch.get(ctx, at)
	if err != nil {
		return nil, 0, err
	}
	keys, err := parseKeys(a.body)
	return keys, freshness(a.header), err
}

// freshness returns how long a document may be kept, within bounds.
func freshness(h http.Header) time.Duration {
	for directive := range strings.SplitSeq(h.Get("Cache-Control"), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch strings.ToLower(name) {
		case "no-store", "no-cache":
			return minFresh
		case "max-age":
			if n, err := strconv.ParseInt(strings.Trim(value, `"`), 10, 32); err == nil {
				return min(max(time.Duration(n)*time.Second, minFresh), maxFresh)
			}
		}
	}
	return defaultFresh
}
