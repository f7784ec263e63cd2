package web

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"
)

// Site is a page with its API, behind a door.
type Site struct {
	Door  *Door
	API   *API
	Files *Files
}

// ServeHTTP serves the page.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.Files.headers(w.Header())
	if err := s.Door.admits(r); err != nil {
		writeError(w, err)
		return
	}
	if r.ContentLength != 0 { // Request.Read lifts it
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(patience)) // not every writer supports deadlines
	}
	switch {
	case strings.HasPrefix(r.URL.Path, prefix+"/"):
		s.API.ServeHTTP(w, r)
	case isPage(r) && s.Door.letIn(w, r):
	default:
		s.Files.ServeHTTP(w, r)
	}
}

// Serve serves h until ctx ends, which also ends every request, and then waits for them.
func Serve(ctx context.Context, l net.Listener, h http.Handler, logger *slog.Logger) error {
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }() // ends with Shutdown, below
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err := server.Shutdown(last)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	if end := <-ended; !errors.Is(end, http.ErrServerClosed) {
		err = errors.Join(err, end)
	}
	return err
}

// LoopbackHosts are the authorities at which a page that listens at an address of the
// loopback is reached.
func LoopbackHosts(at net.Addr) []string {
	hosts := []string{at.String()}
	_, port, _ := net.SplitHostPort(at.String()) // an address of a listener has one
	for _, name := range []string{"127.0.0.1", "localhost", "::1"} {
		if host := net.JoinHostPort(name, port); host != hosts[0] {
			hosts = append(hosts, host)
		}
	}
	return hosts
}
