package httpserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/parley-mcp/parley/auth"
	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/webserver"
	"github.com/parley-mcp/parley/transport/sse"
	"github.com/parley-mcp/parley/transport/streamable"
)

// Options configure a server. The zero value is safe and complete.
type Options struct {
	// Options are those of the endpoints: who may come in by Host and Origin, limits,
	// trusted proxies, times, and where is logged. If there is a Guard and Hosts is nil,
	// the hosts to accept are that of the Guard's Options.Resource, which clients use and
	// most proxies pass on, that of SSEGuard's, and localhost, 127.0.0.1 and ::1.
	streamable.Options

	// Path is where Streamable HTTP is served. "" means the path in Guard's
	// Options.Resource or, without a Guard, "/mcp".
	Path string
	// SSEPath is where HTTP+SSE is served, for clients of 2024-11-05: "/sse", as a rule.
	// "" means nowhere. Revision 2025-03-26 deprecates HTTP+SSE (docs/deprecated.md).
	SSEPath string
	// Guard, if set, lets in only requests with an access token, and publishes at the
	// well-known URIs where to get one. Server.Use(guard.Enforce) adds its rules for
	// single operations. SSEGuard does the same for SSEPath, which is another resource;
	// where there is a Guard, SSEPath needs one.
	Guard, SSEGuard *auth.Guard

	// CertFile and KeyFile are the files of a certificate and its key, with which HTTPS is
	// served. TLS does the same with more to choose, such as certificates that are
	// replaced while the server runs (tls.Config.GetCertificate); only one of the two may be set.
	CertFile, KeyFile string
	TLS               *tls.Config

	// Ready, if set, is asked by the page /readyz: an error becomes 503, with its text.
	// From the moment the server is told to end, /readyz is 503 without asking. /healthz
	// says that the process answers, also while it ends. Both pages are there always.
	Ready func(ctx context.Context) error
	// Mount, if set, adds pages of your own.
	Mount func(mux *http.ServeMux) error
	// Wrap, if set, is put around everything, to log requests or to trace them.
	Wrap func(next http.Handler) http.Handler

	// GracePeriod is how long the requests in flight may go on when the server is told to
	// end. Streams that have no end of their own, those of GET and of
	// subscriptions/listen, are not waited for. 0 means 10 seconds; negative means that all
	// requests are cancelled at once.
	GracePeriod time.Duration
	// CloseTimeout is how long the end may take after that. 0 means 10 seconds.
	CloseTimeout time.Duration
	// Finish, if set, is called once all requests have ended, with what is left of
	// CloseTimeout. server.Server.Close is such a function: it waits for tasks and jobs.
	Finish func(ctx context.Context) error
}

func (o *Options) withDefaults() Options {
	var d Options
	if o != nil {
		d = *o
	}
	d.ServeOptions = era.WithDefaults(&d.ServeOptions)
	if d.GracePeriod == 0 {
		d.GracePeriod = webserver.GracePeriod
	}
	if d.CloseTimeout == 0 {
		d.CloseTimeout = webserver.CloseTimeout
	}
	if d.Path == "" {
		d.Path = pathOf(d.Guard)
	}
	if d.Hosts == nil && d.Guard != nil {
		d.Hosts = hostsOf(d.Guard, d.SSEGuard)
	}
	return d
}

// hostsOf returns the hosts at which clients reach what the guards protect, and the names
// of the loopback, which programs of this machine use. A guard may be nil.
func hostsOf(guards ...*auth.Guard) []string {
	hosts := []string{"localhost", "127.0.0.1", "::1"}
	for _, g := range guards {
		if g == nil {
			continue
		}
		if u, err := url.Parse(g.Resource()); err == nil {
			hosts = append(hosts, u.Hostname())
		}
	}
	return hosts
}

// pathOf returns the path of the endpoint that a guard protects.
func pathOf(g *auth.Guard) string {
	if g == nil {
		return "/mcp"
	}
	u, err := url.Parse(g.Resource())
	if err != nil || u.Path == "" {
		return "/"
	}
	return u.Path
}

func (o *Options) check() error {
	paths := []string{webserver.HealthPath, webserver.ReadyPath}
	for _, p := range []string{o.Path, o.SSEPath} {
		switch {
		case p == "": // there is no SSEPath
			continue
		case !strings.HasPrefix(p, "/") || strings.ContainsAny(p, "{} "):
			return fmt.Errorf("httpserver: path %q is not of the form /mcp", p)
		case slices.Contains(paths, p):
			return fmt.Errorf("httpserver: path %q is taken", p)
		}
		paths = append(paths, p)
	}
	switch {
	case (o.CertFile == "") != (o.KeyFile == ""):
		return errors.New("httpserver: Options.CertFile and KeyFile go together")
	case o.CertFile != "" && o.TLS != nil:
		return errors.New("httpserver: set Options.CertFile and KeyFile, or TLS, but not both")
	case o.Guard != nil && o.SSEPath != "" && o.SSEGuard == nil:
		return errors.New("httpserver: Options.SSEPath would be open to everybody: it needs an SSEGuard, whose Resource is its URL")
	case o.SSEGuard != nil && o.SSEPath == "":
		return errors.New("httpserver: Options.SSEGuard is set, but SSEPath is not")
	case o.CloseTimeout < 0:
		return fmt.Errorf("httpserver: Options.CloseTimeout is %v", o.CloseTimeout)
	}
	if err := webserver.CheckCertificate(o.CertFile, o.KeyFile); err != nil {
		return fmt.Errorf("httpserver: %w", err)
	}
	return nil
}

func (o *Options) hasTLS() bool { return o.CertFile != "" || o.TLS != nil }

// forSSE returns the options for HTTP+SSE that correspond to these.
func (o *Options) forSSE() *sse.Options {
	return &sse.Options{
		ServeOptions: o.ServeOptions, Hosts: o.Hosts, Origins: o.Origins, Principal: o.Principal, TrustedProxies: o.TrustedProxies,
		MaxStreams: o.MaxSessions, MaxPerClient: o.MaxPerClient, Rate: o.Rate, Burst: o.Burst, MaxBytesInFlight: o.MaxBytesInFlight,
		ReadTimeout: o.ReadTimeout, WriteTimeout: o.WriteTimeout, KeepAlive: o.KeepAlive,
	}
}
