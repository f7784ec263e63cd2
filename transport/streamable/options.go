package streamable

import (
	"net/http"
	"time"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/mcp"
)

// Options configure a Handler. The zero value is safe and complete.
type Options struct {
	mcp.ServeOptions

	// Hosts are the values of the Host header to accept, without port. nil means
	// any, except that requests to a loopback address must name a loopback host,
	// which stops DNS rebinding. Behind a proxy on the same machine, list the names
	// that the proxy passes on.
	//
	// Spec: 2026-07-28 basic/transports/streamable-http#security--endpoint.
	Hosts []string
	// Origins are the values of the Origin header to accept in addition to the
	// server's own, such as "https://app.example.com". "*" accepts any. Their pages may
	// also read the responses: preflights are answered, and the headers of CORS set;
	// see CORS for what stands around the Handler. An origin
	// is the server's own if its host is that of the request, and this host is
	// listed in Hosts, a loopback name, an IP address, or reached over TLS: anybody
	// could make another name resolve to this server.
	Origins []string
	// Principal returns the authenticated sender of a request, or "". nil means
	// the principal of mcp.AuthorizationFrom the request's context. Sessions and
	// the state of exchanges are bound to it.
	Principal func(r *http.Request) string
	// TrustedProxies are the networks, such as "10.0.0.0/8", and addresses of the
	// proxies whose X-Forwarded-For or Forwarded names the client. Limits count by
	// the last address there that is not a trusted proxy itself. nil means none: all
	// clients behind a proxy count as one, unless they have principals.
	TrustedProxies []string

	// SessionIdle is how long a session without requests and streams is kept. If
	// the client disconnected during a request, it may be up to twice as long. 0
	// means 30 minutes; negative means forever.
	SessionIdle time.Duration
	// MaxSessions bounds the sessions of the handler, and MaxSessionsPerClient those
	// of one principal, or one address if there is no principal. 0 means 10,000 and
	// 1,000; a negative MaxSessionsPerClient means no bound but MaxSessions. At a
	// bound, the oldest session that was opened and never used is ended for a new one;
	// if all are in use, the new one is refused.
	MaxSessions, MaxSessionsPerClient int
	// MaxPerClient bounds the requests that one principal, or one address if
	// there is no principal, has in flight, including subscriptions and streams.
	// 0 means 1,000; negative means no bound.
	MaxPerClient int
	// Rate and Burst bound the requests that one principal or address may send, in
	// requests per second and in requests. 0 means 200 and 400, and no bound for
	// clients on the loopback; a negative Rate means no bound for anybody.
	Rate  float64
	Burst int

	// MaxBytesInFlight bounds the bodies of requests that arrive or are served at a
	// time, of all clients together, in bytes; those of up to 64 KiB do not count. One
	// client gets a quarter, unless it is on the loopback. What does not fit is refused
	// with 503, to be sent again. 0 means 256 MiB; negative means no bound. When much
	// of it was used, unused memory is returned to the system soon afterwards.
	MaxBytesInFlight int64

	// ReadTimeout is how long a request's body may take to arrive. 0 means 30
	// seconds. For the header set http.Server.ReadHeaderTimeout.
	ReadTimeout time.Duration
	// WriteTimeout is how long a client may take to accept one message; a
	// slower reader is cut off. 0 means 30 seconds.
	WriteTimeout time.Duration
	// KeepAlive is the time between the comments that keep an idle stream
	// open. 0 means 15 seconds; negative means none.
	KeepAlive time.Duration
	// Retry is how long clients of a session are asked to wait before they come
	// back for the rest of a stream. 0 means 1 second.
	Retry time.Duration
	// Events keeps the messages of the streams of sessions, for clients that come
	// back for them. nil means NewMemoryEvents(nil).
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
	def(&d.MaxSessionsPerClient, 1000)
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
