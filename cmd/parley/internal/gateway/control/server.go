package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/wire"
)

// Options say which gateway a Server speaks for.
type Options struct {
	// Dir is the folder for the sockets of this user. It is made if it is not there.
	Dir string
	// File is the configuration of the gateway.
	File string
	// Logger is told what goes wrong. nil means slog.Default().
	Logger *slog.Logger
}

// Server answers commands. Its handlers are those of Handle, from Serve on. One that is nil
// answers nothing: a gateway to which nobody can speak still serves.
type Server struct {
	mux    *http.ServeMux
	listen net.Listener
	http   *http.Server
	end    context.CancelFunc
	logger *slog.Logger

	mu     sync.Mutex
	closed bool
	work   sync.WaitGroup // begins only while it is not closed
}

// Listen opens a socket. Commands that come before Serve wait for it.
func Listen(o Options) (*Server, error) {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	begin, err := prefix(o.File)
	if err != nil {
		return nil, err
	}
	dir, err := folder(o.Dir)
	if err != nil {
		return nil, err
	}
	if err := private(dir); err != nil {
		return nil, err
	}
	l, err := listen(dir, begin)
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithCancel(context.Background())
	s := &Server{mux: http.NewServeMux(), listen: l, end: end, logger: o.Logger}
	s.http = &http.Server{
		Handler: http.HandlerFunc(s.answer), ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    slog.NewLogLogger(o.Logger.Handler(), slog.LevelWarn),
	}
	return s, nil
}

// listen binds the first name of this process that no other gateway has. A socket of an
// earlier process of the same number is in nobody's way.
func listen(dir, prefix string) (net.Listener, error) {
	const most = 99 // gateways of one file in one process
	for i := range most {
		name := fmt.Sprintf("%s%d", prefix, os.Getpid())
		if i > 0 {
			name = fmt.Sprintf("%s-%d", name, i+1)
		}
		path := filepath.Join(dir, name+suffix)
		if _, err := os.Lstat(path); err == nil {
			if answers(path) == nil {
				continue
			}
			if err := os.Remove(path); err != nil {
				return nil, err
			}
		}
		return net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	}
	return nil, errors.New("too many gateways of one file in one process")
}

// Handle adds a handler for a pattern of http.ServeMux; see Answer. It may be called at
// any time.
func (s *Server) Handle(pattern string, h http.Handler) {
	if s != nil {
		s.mux.Handle(pattern, h)
	}
}

// Serve begins to answer, and returns at once.
func (s *Server) Serve() {
	if s == nil {
		return
	}
	s.work.Go(func() { // ends with Close
		if err := s.http.Serve(s.listen); !errors.Is(err, http.ErrServerClosed) {
			s.logger.Warn("commands cannot speak to this gateway any more", "error", err)
		}
	})
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	if s.begin() {
		defer s.work.Done()
		s.mux.ServeHTTP(w, r)
	}
}

func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.work.Add(1)
	return true
}

// Close ends what is being answered, and removes the socket.
func (s *Server) Close() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end()
	err := s.http.Close()
	if closed := s.listen.Close(); err == nil && !errors.Is(closed, net.ErrClosed) {
		err = closed
	}
	s.work.Wait()
	return err
}

// Error is why a gateway does not do what a command asks for.
type Error struct {
	// Status is one of HTTP.
	Status int `json:"-"`
	// Message is for people.
	Message string `json:"error"`
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Errorf returns an error with a status.
func Errorf(status int, format string, args ...any) error {
	return &Error{status, fmt.Sprintf(format, args...)}
}

// most bounds what either side sends, in bytes.
const most = 64 << 20

// Answer is a handler whose request is an In and whose response is what f returns, both
// as JSON; a request without a body is the zero value. Errors are sent as an Error; those
// that are none have the status 500. f finds values of the pattern in the request.
func Answer[In any](f func(r *http.Request, in In) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, out := http.StatusOK, any(nil)
		var in In
		err := read(w, r, &in)
		if err == nil {
			out, err = f(r, in)
		}
		if err != nil {
			told, ok := errors.AsType[*Error](err)
			if !ok {
				told = &Error{http.StatusInternalServerError, err.Error()}
			}
			status, out = told.Status, told
		}
		write(w, status, out)
	})
}

func read(w http.ResponseWriter, r *http.Request, in any) error {
	if r.ContentLength == 0 {
		return nil
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err == nil {
		err = wire.Unmarshal(text, in)
	}
	if err != nil {
		return Errorf(http.StatusBadRequest, "the request cannot be read: %v", err)
	}
	return nil
}

func write(w http.ResponseWriter, status int, out any) {
	text, err := wire.Marshal(out)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // a command that is gone needs no answer
}
