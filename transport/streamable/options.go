package streamable

import (
	"net/http"
	"time"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/mcp"
)

// Options configure a Handler. The zero value is safe and complete; every
// bound has a knob.
type Options struct {
	mcp.ServeOptions

	// Hosts are the values of the Host header to accept, without port. nil
	// means: any, but on a loopback address only names of the loopback, which
	// is what stops DNS rebinding. Behind a proxy on the same machine, list
	// the names the proxy passes on.
	//
	// Spec: 2026-07-28 basic/transports/streamable-http#security--endpoint.
	Hosts []string
	// Origins are the values of the Origin header to accept beside the
	// server's own, such as "https://app.example.com". "*" accepts any. An
	// origin is the server's own when it has the host of the request, and that
	// is listed in Hosts, a name of the loopback, an IP address, or reached
	// over TLS: any other name could have been pointed here by a stranger.
	Origins []string
	// Principal says who sent a request, after whatever authenticated it. nil
	// means who mcp.AuthorizationFrom finds in the request's context, if
	// anybody. Sessions and the state of exchanges are bound to it.
	Principal func(r *http.Request) string

	// SessionIdle is how long a session without requests and streams is kept,
	// and at most twice as long if a client left while it was served. 0 means
	// 30 minutes; negative means for ever.
	SessionIdle time.Duration
	// MaxSessions bounds the sessions of the handler. 0 means 10,000.
	MaxSessions int
	// MaxPerClient bounds the requests that one principal, or one address
	// where there is no principal, has under way; subscriptions and streams
	// count. 0 means 1,000; negative means no bound.
	MaxPerClient int
	// Rate and Burst bound how many requests in a second one principal or
	// address may send. 0 means 200 and 400, and no bound for clients on the
	// loopback; a negative Rate means no bound for anybody.
	Rate  float64
	Burst int

	// ReadTimeout is how long a request's body may take to arrive. 0 means 30
	// seconds. The header is the http.Server's business: set its
	// ReadHeaderTimeout.
	ReadTimeout time.Duration
	// WriteTimeout is how long a client may take to accept one message; a
	// slower reader is cut off. 0 means 30 seconds.
	WriteTimeout time.Duration
	// KeepAlive is the time between the comments that keep an idle stream
	// open. 0 means 15 seconds; negative means none.
	KeepAlive time.Duration
	// Retry is how long clients of a session should wait before they come
	// back for the rest of a stream. 0 means 1 second.
	Retry time.Duration
	// Events keeps the messages of sessions' streams, for clients that come
	// back. nil means NewMemoryEvents(nil).
	Events EventStore
}

func (o *Options) withDefaults() Options {
	var d Options
	if o != nil {
		d = *o
	}
	d.ServeOptions = era.WithDefaults(&d.ServeOptions)
	def(&d.SessionIdle, 30*time.Minute)
	def(&d.MaxSessions, 10_000)
	def(&d.MaxPerClient, 1000)
	def(&d.ReadTimeout, 30*time.Second)
	def(&d.WriteTimeout, 30*time.Second)
	def(&d.KeepAlive, 15*time.Second)
	def(&d.Retry, time.Second)
	if d.Events == nil {
		d.Events = NewMemoryEvents(nil)
	}
	return d
}

func def[T comparable](v *T, value T) {
	var zero T
	if *v == zero {
		*v = value
	}
}
