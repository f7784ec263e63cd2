// Package webserver runs an http.Server with bounds, until a context ends.
package webserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// What servers have for their end if nobody says otherwise.
const (
	GracePeriod  = 10 * time.Second
	CloseTimeout = 10 * time.Second
)

// Server is an http.Server that ends with a context.
type Server struct {
	Handler http.Handler
	// CertFile and KeyFile, or TLS, serve HTTPS. At most one of the two is set.
	CertFile, KeyFile string
	TLS               *tls.Config
	// Logger gets what goes wrong below the Handler.
	Logger *slog.Logger
	// Drain waits for running requests, before End; nil if nothing is to be waited for.
	// It has GracePeriod, and fails if some are left then. If that is not positive, Drain is
	// not called.
	Drain       func(ctx context.Context) error
	GracePeriod time.Duration
	// End ends the requests that would not end by themselves; nil if there are none.
	End func(ctx context.Context) error
	// CloseTimeout bounds End and the end of all requests.
	CloseTimeout time.Duration
}

// Serve serves at l until ctx ends. Then it drains, ends all requests, and returns nil
// if they did end within CloseTimeout. When it returns, l and all connections are closed.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	web := &http.Server{
		Handler:           s.Handler,
		TLSConfig:         s.TLS,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.Logger.Handler(), slog.LevelWarn),
		BaseContext:       func(net.Listener) context.Context { return context.WithoutCancel(ctx) }, // End ends requests
	}
	new(newcomers).watch(web)
	ended := make(chan error, 1)
	go func() { ended <- s.listen(web, l) }() // ends with Shutdown or Close, below
	select {
	case err := <-ended:
		return errors.Join(err, s.stop(ctx, web))
	case <-ctx.Done():
	}
	s.drain(ctx, web)
	err := s.stop(ctx, web)
	if end := <-ended; !errors.Is(end, http.ErrServerClosed) {
		err = errors.Join(end, err)
	}
	return err
}

// CheckCertificate returns why HTTPS cannot be served with a certificate and its key, so that
// nobody is told of an address at which nothing answers. Neither file means no HTTPS.
func CheckCertificate(certFile, keyFile string) error {
	if certFile == "" && keyFile == "" {
		return nil
	}
	if _, err := tls.LoadX509KeyPair(certFile, keyFile); err != nil {
		return fmt.Errorf("the certificate %q with the key %q cannot be used: %w", certFile, keyFile, err)
	}
	return nil
}

func (s *Server) listen(web *http.Server, l net.Listener) error {
	if s.CertFile == "" && s.TLS == nil {
		return web.Serve(l)
	}
	err := web.ServeTLS(l, s.CertFile, s.KeyFile)
	_ = l.Close() // a certificate that cannot be read leaves it open
	return err
}

// drain goes on serving while running requests finish: what belongs to them comes in on
// connections of its own, and so does the question whether the server is alive. Each
// connection ends with its next response, so that its client looks for another server.
func (s *Server) drain(ctx context.Context, web *http.Server) {
	if s.Drain == nil || s.GracePeriod <= 0 {
		return
	}
	web.SetKeepAlivesEnabled(false)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.GracePeriod)
	defer cancel()
	if err := s.Drain(ctx); err != nil {
		s.Logger.WarnContext(ctx, "some requests did not finish in time, and are cancelled", "time", s.GracePeriod)
	}
}

// stop first ends the streams, cleanly: Shutdown would wait for them.
func (s *Server) stop(ctx context.Context, web *http.Server) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.CloseTimeout)
	defer cancel()
	var err error
	if s.End != nil {
		err = s.End(ctx)
	}
	if late := web.Shutdown(ctx); late != nil {
		err = errors.Join(err, late, web.Close())
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("some requests did not end within %v: %w", s.CloseTimeout, err)
	}
	return err
}
