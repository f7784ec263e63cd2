package cli

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/check/authprobe"
	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/report"
	"github.com/parley-mcp/parley/internal/httpcall"
	"github.com/parley-mcp/parley/internal/redact"
)

const checkAuthLong = `Judge the authorization of an endpoint: its challenges and metadata, and the authorization
server that they lead to. --issuer names an authorization server instead, alone or in place
of the one that the endpoint names.

By itself the command only reads documents and sends what has to be refused: requests
without a token and with bad ones, wrong redirect URIs, codes that nobody issued. The flags
allow more: --register makes clients, and deletes them if the server lets it; tokens show
what is made of audiences, scopes and sessions; --login opens a browser, three times or four,
and logs in as the client of --client-id, a registered one, or that of --client-metadata.

The exit code is 1 if a MUST was seen broken that --baseline does not accept.`

// authJudging are the flags of check auth.
type authJudging struct {
	issuer, other, narrow, second string
	register, login               bool
	metadata, clientID            string
	rate                          float64
	patience                      time.Duration
	only                          []string
}

func (f *authJudging) flags(set *pflag.FlagSet) {
	set.StringVar(&f.issuer, "issuer", "", "judge the authorization server with this issuer `URL`")
	set.StringVar(&f.other, "other-token", "", "a good `TOKEN` for another resource: it must be refused (@FILE)")
	set.StringVar(&f.narrow, "narrow-token", "", "a good `TOKEN` with too few scopes for some tool (@FILE)")
	set.StringVar(&f.second, "second-token", "", "a good `TOKEN` of another user (@FILE)")
	set.BoolVar(&f.register, "register", false, "register clients, and delete them afterwards if the server lets it")
	set.StringVar(&f.metadata, "client-metadata", "", "the `URL` of a Client ID Metadata Document; it has to be served with a query, too")
	set.BoolVar(&f.login, "login", false, "log in with the browser, and look at codes and tokens")
	set.StringVar(&f.clientID, "client-id", "", "log in as the public client with this `ID`; its redirect URI is http://127.0.0.1/callback with any port")
	set.Float64Var(&f.rate, "rate", 20, "send at most `N` requests a second")
	set.DurationVar(&f.patience, "patience", 5*time.Second, "wait this `TIME` for an answer")
	set.StringArrayVar(&f.only, "probe", nil, "run only the probe `ID` (repeatable)")
}

// check returns an error if a value makes no sense.
func (f *authJudging) check() error {
	switch {
	case f.rate <= 0:
		return usagef("--rate %v is not a number of requests", f.rate)
	case f.patience <= 0:
		return usagef("--patience %s is no time to wait", f.patience)
	case f.clientID != "" && !f.login:
		return usagef("--client-id is for --login")
	}
	for name, value := range map[string]string{"--issuer": f.issuer, "--client-metadata": f.metadata} {
		if _, err := httpcall.ParseURL(value); value != "" && err != nil {
			return usagef("%s: %v", name, err)
		}
	}
	for name, token := range map[string]*string{"--other-token": &f.other, "--narrow-token": &f.narrow, "--second-token": &f.second} {
		var err error
		if *token, err = readToken(*token, name); err != nil {
			return err
		}
	}
	for _, id := range f.only {
		if !slices.ContainsFunc(authprobe.All(), func(p *authprobe.Probe) bool { return p.ID == id }) {
			return usagef(`--probe %q: there is no such probe; "parley check requirements --who authorization-server" lists them`, id)
		}
	}
	return nil
}

func (a *app) checkAuth() *cobra.Command {
	var f authJudging
	var shown reporting
	cmd := &cobra.Command{
		Use:   "auth [URL|@NAME]",
		Short: "Judge the authorization of an endpoint, and its authorization server",
		Long:  checkAuthLong,
		Example: `  parley check auth https://mcp.example.com/mcp
  parley check auth https://mcp.example.com/mcp --register --login
  parley check auth --issuer https://auth.example.com --output markdown`,
	}
	honours(cmd, a.flags.dial, a.flags.bounded, f.flags, shown.register)
	a.completes(cmd, nil)
	split := func(cmd *cobra.Command, args []string) (target.Target, []string, error) {
		if f.issuer != "" && len(args) == 0 && a.shell == nil && a.flags.server == "" && a.flags.config == "" {
			return target.Target{}, nil, nil
		}
		return a.splitTarget(cmd, args)
	}
	cmd.RunE = a.onTarget(split, 0, 0, func(ctx context.Context, t target.Target, _ []string) error {
		return a.runAuth(ctx, t, &f, &shown)
	})
	return cmd
}

func (a *app) runAuth(ctx context.Context, t target.Target, f *authJudging, shown *reporting) error {
	if err := errors.Join(f.check(), shown.check()); err != nil {
		return err
	}
	if t.URL == "" && t.Command != nil {
		return usagef("authorization is for servers at a URL; a command gets its secrets from the environment")
	}
	judged, o, err := a.authOptions(t, f)
	if err != nil {
		return err
	}
	if f.login {
		end, err := a.loginFor(ctx, f, o)
		if err != nil {
			return err
		}
		defer end()
	}
	judgement, err := authprobe.Check(ctx, judged, o)
	a.hideBar()
	if err != nil {
		return &failure{code: codeFailed, err: err, hint: "--issuer judges an authorization server alone; --patience gives it more time"}
	}
	report.Redact(judgement, redact.New(judged.Header, o.Token, o.OtherToken, o.NarrowToken, o.SecondToken))
	return a.showReport(ctx, judgement, shown)
}

func (a *app) authOptions(t target.Target, f *authJudging) (authprobe.Target, *authprobe.Options, error) {
	judged := authprobe.Target{Endpoint: t.URL, Issuer: f.issuer, Header: http.Header{}}
	revisions, err := a.flags.revisions()
	if err != nil {
		return judged, nil, err
	}
	given, err := a.flags.header()
	if err != nil {
		return judged, nil, err
	}
	for _, some := range []http.Header{t.Header, given} {
		for name, values := range some {
			judged.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	if judged.Header.Get("Authorization") != "" {
		return judged, nil, usagef("the header Authorization is what is judged here: give the token with --token")
	}
	o := &authprobe.Options{
		Tool: checker(), OtherToken: f.other, NarrowToken: f.narrow, SecondToken: f.second,
		Register: f.register, ClientMetadata: f.metadata, Rate: f.rate, Patience: peer.Patience{Reply: f.patience},
		Only: f.only, Trap: setTrap,
	}
	if t.URL != "" {
		if o.Token, err = a.token(); err != nil {
			return judged, nil, err
		}
	}
	for _, r := range revisions {
		o.Revisions = append(o.Revisions, r.String())
	}
	parts := a.newParts("checking")
	o.Progress = func(probe string, done, total int) { parts.show("authorization", done, total) }
	return judged, o, nil
}

// loginFor gets ready to have a person log in.
func (a *app) loginFor(ctx context.Context, f *authJudging, o *authprobe.Options) (end func(), err error) {
	reception, err := a.browser().Listen(ctx, nil)
	if err != nil {
		return nil, err
	}
	o.Login = &authprobe.Login{
		RedirectURI: reception.RedirectURI(), ClientID: f.clientID,
		Visit: func(ctx context.Context, page, state string) (url.Values, error) {
			a.hideBar()
			return reception.Receive(ctx, oauth.AuthorizationRequest{URL: page, Issuer: hostOf(page), State: state})
		},
	}
	return func() { _ = reception.Close() }, nil // nobody comes any more
}

func hostOf(page string) string {
	u, err := url.Parse(page)
	if err != nil {
		return page
	}
	return u.Scheme + "://" + u.Host
}

// trap is a port of this machine that nobody has a reason to call.
type trap struct {
	net.Listener
	calls atomic.Int64
}

// Addr implements authprobe.Trap.
func (t *trap) Addr() string { return t.Listener.Addr().String() }

// Calls implements authprobe.Trap.
func (t *trap) Calls() int { return int(t.calls.Load()) }

func setTrap(ctx context.Context) (authprobe.Trap, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	t := &trap{Listener: l}
	go func() { // ends with Close
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			t.calls.Add(1)
			_ = conn.Close() // that it came is all that counts
		}
	}()
	return t, nil
}
