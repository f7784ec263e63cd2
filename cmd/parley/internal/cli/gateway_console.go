package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/control"
	consolepage "github.com/parley-mcp/parley/cmd/parley/internal/page/console"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/static"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/internal/webserver"
	"github.com/parley-mcp/parley/internal/wire"
)

const gatewayConsoleLong = `Print an address that opens the console of a gateway that runs. It lets one browser in, as
an operator, within ten minutes: whoever can ask for it is the user who runs the gateway.

A gateway has a console if it was started with --console ADDR, or if FILE says
console: {listen: ADDR}.`

// gatewayConsole is "parley gateway console".
func (a *app) gatewayConsole() *cobra.Command {
	cmd := &cobra.Command{
		Use: "console FILE", Short: "Print an address that opens the console of a gateway",
		Long: gatewayConsoleLong, Example: "  parley gateway console gateway.yaml\n  parley gateway console gateway.yaml --open",
	}
	open := cmd.Flags().Bool("open", false, "open it in a browser, too")
	honours(cmd, a.flags.format)
	completesFile(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.flags.check(); err != nil {
			return err
		}
		if len(args) != 1 {
			return usagef("name one file: %s", cmd.UseLine())
		}
		address, err := a.consoleAddress(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		if a.flags.json() {
			raw, err := wire.Marshal(map[string]string{"url": address})
			a.out.json(raw)
			return err
		}
		a.out.printf("%s\n", address)
		if *open {
			return oauth.OpenBrowser(cmd.Context(), address)
		}
		return nil
	}
	return cmd
}

// consoleAddress asks the first gateway of a file that has a console for an address.
func (a *app) consoleAddress(ctx context.Context, file string) (string, error) {
	found, err := a.gatewaysOf(file)
	if err != nil {
		return "", err
	}
	for _, c := range found {
		var in struct {
			URL string `json:"url"`
		}
		ctx, cancel := context.WithTimeout(ctx, asking)
		err = c.Do(ctx, http.MethodPost, "/console", nil, &in)
		cancel()
		if err == nil {
			return in.URL, nil
		}
	}
	return "", &failure{code: codeFailed, err: err, hint: "start the gateway with --console 127.0.0.1:7332"}
}

// consoleSite is the console of a running gateway: where it listens, and its pages once it
// is known how visitors log in. nil is none.
type consoleSite struct {
	listener net.Listener
	files    map[string][]byte
	origin   string
	hosts    []string
	pages    *consolepage.Console
	end      context.CancelFunc
	ended    chan error
	closing  sync.Once
}

// openConsole listens for the console, if there is to be one.
func (r *runningGateway) openConsole(ctx context.Context, f *gatewayFlags) error {
	said := r.config.Console
	if said == nil {
		said = new(config.Console)
	}
	addr := cmp.Or(f.console, said.Listen)
	if addr == "" {
		return nil
	}
	addr = webserver.Address(addr)
	local := isLoopback(addr)
	if known := !f.stdio && (f.http.auth.mode != "" || f.http.bearer != ""); !known && !local {
		return usagef("the console at %s could be reached from other machines, and the gateway knows none of its users; let it listen on 127.0.0.1, or demand a login with --auth or --bearer", addr)
	}
	files, err := static.Pack(static.Console)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return usagef("the console cannot listen on %q: %v", addr, err)
	}
	s := &consoleSite{listener: listener, files: files, origin: strings.TrimSuffix(said.PublicURL, "/")}
	if s.origin == "" {
		s.origin = f.http.scheme() + "://" + listener.Addr().String()
	}
	if err := s.name(local && said.PublicURL == ""); err != nil {
		return errors.Join(err, listener.Close())
	}
	if f.http.cert != "" {
		pair, err := tls.LoadX509KeyPair(f.http.cert, f.http.key)
		if err != nil {
			return errors.Join(usagef("the certificate for the console: %v", err), listener.Close())
		}
		s.listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}})
	}
	r.console = s
	r.live.Secrets = r.hidden
	r.live.Changed = func() { r.watchers.tell("exchange") }
	return nil
}

// name finds the authorities that the console is reached by. On the loopback, these are all
// of its names.
func (s *consoleSite) name(everyName bool) error {
	u, err := url.Parse(s.origin)
	if err != nil || u.Host == "" {
		return usagef("console.public_url %q is not of the form https://HOST[:PORT]", s.origin)
	}
	if ip := net.ParseIP(u.Hostname()); ip != nil && ip.IsUnspecified() {
		return usagef("nobody knows under which name browsers reach the console at %s; console.public_url of the configuration says it", s.listener.Addr())
	}
	s.hosts = []string{strings.ToLower(u.Host)}
	if everyName {
		for _, host := range []string{"127.0.0.1", "localhost", "::1"} {
			s.hosts = append(s.hosts, net.JoinHostPort(host, u.Port()))
		}
	}
	return nil
}

// serveConsole begins to serve the console. s is the site that clients reach, whose gates
// know who has which token; nil is standard input and output.
func (r *runningGateway) serveConsole(s *site) {
	c := r.console
	if c == nil {
		return
	}
	entrance := r.entrance(s)
	c.pages = consolepage.New(consolepage.Options{
		Gateway: &consoleGateway{r: r}, Entrance: entrance, Origin: c.origin, Hosts: c.hosts, Files: c.files, Logger: r.logger,
	})
	ctx, end := context.WithCancel(context.Background())
	c.end, c.ended = end, make(chan error, 1)
	go func() { c.ended <- web.Serve(ctx, c.listener, c.pages, r.logger) }() // ends with closeConsole
	r.control.Handle("POST /console", control.Answer(func(*http.Request, struct{}) (any, error) {
		return map[string]string{"url": c.pages.Address()}, nil
	}))
	address := c.origin + "/"
	if entrance.Bearer == nil && entrance.Issuer == nil {
		address = c.pages.Address()
	}
	r.logger.Info("serving the console", "url", c.origin)
	r.a.err.printf("console: %s\n", address)
}

// closeConsole ends the console.
func (r *runningGateway) closeConsole() {
	if r.console != nil {
		r.console.closing.Do(func() { r.console.close(r.logger) })
	}
}

func (s *consoleSite) close(logger *slog.Logger) {
	if s.pages == nil {
		_ = s.listener.Close() // nobody has come
		return
	}
	s.end()
	if err := <-s.ended; err != nil && !errors.Is(err, http.ErrServerClosed) {
		logger.Warn("the console has not ended well", "error", err)
	}
	s.pages.Close()
}
