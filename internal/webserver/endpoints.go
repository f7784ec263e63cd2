package webserver

import (
	"context"
	"errors"
	"net/http"
)

// Endpoint is where clients reach a server: a streamable.Handler or an sse.Handler.
type Endpoint interface {
	http.Handler
	// Drain lets no requests begin any more, and waits for those in flight.
	Drain(ctx context.Context) error
	// Close cancels what is in flight, and ends all streams and sessions.
	Close(ctx context.Context) error
}

// Drain drains endpoints, all at the same time.
func Drain(ctx context.Context, endpoints []Endpoint) error {
	return each(endpoints, func(e Endpoint) error { return e.Drain(ctx) })
}

// Close closes endpoints, all at the same time.
func Close(ctx context.Context, endpoints []Endpoint) error {
	return each(endpoints, func(e Endpoint) error { return e.Close(ctx) })
}

func each(endpoints []Endpoint, f func(Endpoint) error) error {
	ended := make(chan error, len(endpoints))
	for _, e := range endpoints {
		go func() { ended <- f(e) }() // ends with the context of f, at the latest
	}
	var err error
	for range endpoints {
		err = errors.Join(err, <-ended)
	}
	return err
}
