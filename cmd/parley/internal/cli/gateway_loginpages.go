package cli

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"sync"
	"time"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/login"
	"github.com/parley-mcp/parley/internal/webserver"
	"github.com/parley-mcp/parley/mcp"
)

// openDesk gets ready for users who log in at servers themselves. Nothing is opened before
// the first of them does.
func (r *runningGateway) openDesk(ctx context.Context, c *config.Config) {
	o := login.DeskOptions{Logger: r.logger}
	if r.single {
		o.Reach = r.serveDesk
	}
	r.logins.desk = login.NewDesk(o)
	r.logins.changed = r.gateway.Changed
	r.logins.vault = sync.OnceValues(func() (*login.Vault, error) {
		v, err := r.a.loginVault(ctx, c, r.logger)
		if v == nil && err == nil {
			r.logger.Warn("logins of users end with the gateway, because there is no keyring to encrypt them with; the key logins.key names a key")
			v, err = passingVault(r.logger)
		}
		return v, err
	})
}

// closeDesk ends all logins.
func (r *runningGateway) closeDesk() {
	r.logins.keep(nil)
	r.logins.desk.Close()
	if r.pages != nil {
		_ = r.pages.Close() // nobody waits for it
	}
}

// loginVault is where logins are kept; nil if there is nothing to encrypt them with.
func (a *app) loginVault(ctx context.Context, c *config.Config, logger *slog.Logger) (*login.Vault, error) {
	dir, err := c.Logins.Dir()
	if err != nil {
		return nil, err
	}
	if dir == "" {
		state := a.stateFolder()
		if state == "" {
			return nil, usagef("there is no folder for the logins of users; the key logins.dir names one")
		}
		dir = filepath.Join(state, "gateway-logins")
	}
	keys, err := c.Logins.Keys()
	if err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		if !a.hasKeyring() {
			return nil, nil //nolint:nilnil // there is no key
		}
		files, err := oauth.NewFileStore(dir)
		if err != nil {
			return nil, err
		}
		key, err := keyringKey(ctx, files)
		if err != nil {
			return nil, fmt.Errorf("the keyring: %w", err)
		}
		keys = [][]byte{key}
	}
	seal, err := login.NewSeal(keys[0], keys[1:]...)
	if err != nil {
		return nil, err
	}
	return login.NewVault(dir, seal, logger), nil
}

// passingVault keeps logins in memory.
func passingVault(logger *slog.Logger) (*login.Vault, error) {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	seal, err := login.NewSeal(key)
	return login.NewVault("", seal, logger), err
}

// serveDesk serves the pages of the desk on the loopback, for a gateway that serves
// nothing else over HTTP. It returns where they are.
func (r *runningGateway) serveDesk() (origin string, v login.Visitors, err error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return "", v, err
	}
	mux := http.NewServeMux()
	mux.Handle(login.Path, r.logins.desk)
	r.pages = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(r.logger.Handler(), slog.LevelWarn)}
	go func() { _ = r.pages.Serve(listener) }() // ends with closeDesk
	return "http://" + listener.Addr().String(), login.Visitors{Alone: true}, nil
}

// welcome says where the pages of the desk are, on the site that they are a part of, and
// how they know who visits them.
func (r *runningGateway) welcome(s *site) {
	here, err := url.Parse(s.origin)
	if err != nil || net.ParseIP(here.Hostname()).IsUnspecified() {
		return // nobody knows under which name
	}
	r.logins.desk.Open(s.origin, r.visitors(s))
}

// visitors says how pages know who visits them.
func (r *runningGateway) visitors(s *site) (v login.Visitors) {
	switch {
	case s.gates != nil:
		v.Issuer = &login.Issuer{Resource: s.origin + r.doors.listen.Path, Verify: s.gates.whose}
		if i := r.config.Auth.Issuer; i != nil {
			var err error
			if v.Issuer.PreRegistered, err = i.PreRegistered(); err != nil {
				r.logger.Error("users cannot log in at the gateway itself as the file says", "error", err)
			}
		}
	case s.f.bearer != "":
		v.Bearer = oauth.Secret(s.f.bearer)
	default:
		v.Alone = isLoopback(webserver.Address(s.f.addr)) && s.f.auth.public == ""
	}
	return v
}

// whose returns whose token it is, if it is good for the first endpoint.
func (g *gates) whose(ctx context.Context, token string) (*mcp.Authorization, error) {
	var a *mcp.Authorization
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "/", http.NoBody)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	g.first.Protect(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { a = mcp.AuthorizationFrom(r.Context()) })).ServeHTTP(deaf{}, r)
	if a == nil {
		return nil, fmt.Errorf("%w: the gateway does not take the token that was got for it", mcp.ErrUnauthorized)
	}
	return a, nil
}

// deaf is a response that nobody hears.
type deaf struct{}

func (deaf) Header() http.Header         { return http.Header{} }
func (deaf) Write(b []byte) (int, error) { return len(b), nil }
func (deaf) WriteHeader(int)             {}
