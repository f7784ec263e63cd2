package cli

import (
	"bufio"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/spf13/pflag"

	"github.com/parley-mcp/parley/card"
	"github.com/parley-mcp/parley/internal/webserver"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/sse"
	"github.com/parley-mcp/parley/transport/streamable"
)

// httpFlags are the flags of serve --http.
type httpFlags struct {
	addr      string
	cert, key string
	hosts     []string
	origins   []string
	proxies   []string
	auth      authFlags
	// bearer is a token that every request must have, or "".
	bearer string
	// card is the name of the server in its server card; "" publishes none.
	card string
	// idle is how long a session may be idle, and sessions how many there may be;
	// 0 means the defaults.
	idle     time.Duration
	sessions int
	// grace is how long calls may go on when the program is told to end; 0 cancels them at
	// once.
	grace time.Duration
	// ready says at /readyz why the server cannot serve yet; nil means that it can.
	ready func(ctx context.Context) error
	// pages are served besides the endpoints, by their patterns.
	pages map[string]http.Handler
	// metrics are for Prometheus.
	metrics metricsPage
	// opened gets what serves the endpoints, which can then be others; nil if they stay.
	opened func(*site)

	set *pflag.FlagSet // that the flags are of
}

// given reports whether whoever started the program has given a flag.
func (f *httpFlags) given(name string) bool { return f.set.Changed(name) }

// endpoint is where a server is reached.
type endpoint struct {
	path    string
	handler mcp.Handler
	old     bool // it speaks HTTP+SSE of 2024-11-05, and otherwise Streamable HTTP
}

// ssePath is where clients of 2024-11-05 reach a server.
const ssePath = "/sse"

// endpoints are those of one server.
func endpoints(srv mcp.Handler) []endpoint { return endpointsAt("/mcp", srv) }

func endpointsAt(path string, srv mcp.Handler) []endpoint {
	return []endpoint{{path: path, handler: srv}, {path: ssePath, handler: srv, old: true}}
}

// open makes what serves an endpoint.
func (e *endpoint) open(f *httpFlags, logger *slog.Logger) (webserver.Endpoint, error) {
	options := mcp.ServeOptions{Logger: logger}
	if e.old {
		return sse.New(e.handler, &sse.Options{ServeOptions: options, Hosts: f.hosts, Origins: f.origins, TrustedProxies: f.proxies})
	}
	return streamable.New(e.handler, &streamable.Options{
		ServeOptions: options, Hosts: f.hosts, Origins: f.origins, TrustedProxies: f.proxies, SessionIdle: f.idle, MaxSessions: f.sessions,
	})
}

// register registers the flags that every server over HTTP has.
func (f *httpFlags) register(set *pflag.FlagSet) {
	f.set = set
	set.StringVar(&f.addr, "http", "", "serve HTTP at `ADDR`, for example :7331 on this machine only, or 0.0.0.0:7331 for everybody")
	set.StringVar(&f.cert, "tls-cert", "", "serve HTTPS with the certificate in `FILE`")
	set.StringVar(&f.key, "tls-key", "", "the certificate's key, in `FILE`")
	set.StringArrayVar(&f.hosts, "allow-host", nil, "accept only requests to this `HOST` (repeatable)")
	set.StringArrayVar(&f.origins, "allow-origin", nil, "let pages of this `ORIGIN` use the server (repeatable)")
	set.StringArrayVar(&f.proxies, "trusted-proxy", nil, "believe the X-Forwarded-For and Forwarded of the proxies in `CIDR`, for limits by address (repeatable)")
	set.DurationVar(&f.grace, "grace", webserver.GracePeriod, "let running calls finish for this `TIME` when the program is told to end; 0 cancels them at once")
	set.StringVar(&f.auth.public, "public-url", "", "the `ORIGIN` at which clients reach the server, if that is not its own address")
}

// check refuses flags that make no sense together.
func (f *httpFlags) check() error {
	switch {
	case (f.cert == "") != (f.key == ""):
		return usagef("--tls-cert and --tls-key go together")
	case f.grace < 0:
		return usagef("--grace %s is negative", f.grace)
	}
	if err := webserver.CheckCertificate(f.cert, f.key); err != nil {
		return usagef("%v", err)
	}
	return nil
}

// serveHTTP serves endpoints over HTTP, and pages about health, until ctx ends, and calls
// have had their time to finish. The first endpoint is what a server card is about.
func (a *app) serveHTTP(ctx context.Context, f httpFlags, at []endpoint, logger *slog.Logger) error {
	if err := f.check(); err != nil {
		return err
	}
	srv := at[0].handler
	listener, err := webserver.Listen(ctx, f.addr)
	if err != nil {
		return usagef("cannot listen on %q: %v", f.addr, err)
	}
	gates, err := a.openGates(&f, listener, at, logger) //nolint:contextcheck // asking a handler for its name takes no time
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	origin, err := f.origin(listener.Addr().String())
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	site := &site{
		f: &f, origin: origin, gates: gates, logger: logger, open: map[string]webserver.Endpoint{},
		health: webserver.Health{Ending: ctx.Done(), Ready: f.ready},
	}
	if f.metrics.isHere() {
		if site.metrics, err = f.metrics.guarded(); err != nil {
			return errors.Join(err, listener.Close())
		}
	}
	if err := site.serve(at); err != nil { //nolint:contextcheck // endpoints live until the site is closed
		return errors.Join(err, listener.Close())
	}
	pages, err := streamable.CORS(f.origins, site)
	if err != nil {
		return errors.Join(usagef("%v", err), listener.Close())
	}
	all, err := f.published(pages, listener.Addr(), srv, logger) //nolint:contextcheck // making a card takes no time
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	if f.opened != nil {
		f.opened(site)
	}
	a.announce(logger, listener.Addr(), f, at)
	unmeasure, err := f.metrics.serve(ctx, logger)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	web := webserver.Server{
		Handler: accessLog(logger, all), CertFile: f.cert, KeyFile: f.key,
		Logger: logger, Drain: site.drain, GracePeriod: f.grace, End: site.close, CloseTimeout: webserver.CloseTimeout,
	}
	return errors.Join(web.Serve(ctx, listener), unmeasure())
}

// openGates protects the server as the flags say. It takes the listener because
// the origin depends on its address.
func (a *app) openGates(f *httpFlags, l net.Listener, at []endpoint, logger *slog.Logger) (*gates, error) {
	origin, err := f.origin(l.Addr().String())
	if err != nil {
		return nil, err
	}
	g, err := a.gates(&f.auth, origin, at, logger)
	if s, ok := at[0].handler.(*server.Server); ok && err == nil {
		g.enforce(s)
	}
	return g, err
}

// published adds the server card, and the catalogue that lists it, to what is served. They
// are for everybody, so they stand outside of the gates, and of the rules about origins.
func (f *httpFlags) published(pages http.Handler, addr net.Addr, srv mcp.Handler, logger *slog.Logger) (http.Handler, error) {
	tcp, ok := addr.(*net.TCPAddr)
	switch {
	case f.card == "":
		return pages, nil
	case ok && tcp.IP.IsUnspecified() && f.auth.public == "":
		logger.Info("there is no server card, because nobody knows at which URL clients reach this server; --public-url says it")
		return pages, nil
	}
	origin, err := f.origin(addr.String())
	if err != nil {
		return nil, err
	}
	c, err := card.New(srv, &card.Options{Name: f.card, URL: origin + "/mcp", Remotes: []card.Remote{{Type: card.SSE, URL: origin + ssePath}}})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/", pages)
	return mux, card.Mount(mux, &card.HandlerOptions{TrustedProxies: f.proxies}, c)
}

func (a *app) announce(logger *slog.Logger, addr net.Addr, f httpFlags, at []endpoint) {
	for _, e := range at {
		if !e.old {
			logger.Info("serving", "url", f.scheme()+"://"+addr.String()+e.path)
		}
	}
	if webserver.IsPublic(addr) && f.auth.mode == "" && f.bearer == "" {
		logger.Warn("this address can be reached from other machines, and clients are not authenticated")
	}
}

// accessLog writes a line for each request when it has ended.
func accessLog(logger *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin, seen := time.Now(), &witness{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(seen, r)
		level := slog.LevelInfo
		if r.URL.Path == webserver.HealthPath || r.URL.Path == webserver.ReadyPath {
			level = slog.LevelDebug
		}
		logger.LogAttrs(r.Context(), level, "request",
			slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Int("status", seen.status),
			slog.Int64("bytes", seen.bytes), slog.Duration("took", time.Since(begin)), slog.String("remote", r.RemoteAddr),
			slog.String("rpc", r.Header.Get("Mcp-Method")), slog.String("revision", r.Header.Get("Mcp-Protocol-Version")))
	})
}

// witness records the status and the size of a response.
type witness struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// Unwrap lets http.ResponseController flush and set deadlines.
func (w *witness) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Hijack implements http.Hijacker. Without it, each request of a session would need a
// goroutine of its own.
func (w *witness) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(w.ResponseWriter).Hijack()
}

// WriteHeader implements http.ResponseWriter.
func (w *witness) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *witness) Write(b []byte) (int, error) {
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}
