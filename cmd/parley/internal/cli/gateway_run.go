package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/approval"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/audit"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/backend"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/control"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/live"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/login"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/telemetry"
	"github.com/parley-mcp/parley/internal/redact"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/transport/stdio"
)

// gatewayFlags are the flags of gateway itself.
type gatewayFlags struct {
	frontFlags

	stdio    bool
	view     string
	console  string
	logLevel string
}

// check refuses flags that make no sense, and takes what they do not say from the
// configuration.
func (f *gatewayFlags) check(c *config.Config) error {
	if f.http.addr != "" && f.stdio {
		return usagef("say how to serve: --stdio or --http, not both")
	}
	if f.view != "" && !f.stdio {
		return usagef("--view is for --stdio; over HTTP, each view has a path of its own")
	}
	if f.stdio {
		return f.frontFlags.check()
	}
	if err := f.fromFile(c); err != nil {
		return err
	}
	if f.http.addr == "" {
		return usagef("say how to serve: --stdio, or --http ADDR, or listen: {http: ADDR} in the file")
	}
	return f.frontFlags.check()
}

// fromFile takes what the flags do not say from the configuration.
func (f *gatewayFlags) fromFile(c *config.Config) error {
	l := &c.Listen
	for flag, text := range map[*string]string{&f.http.addr: l.HTTP, &f.http.auth.public: l.PublicURL} {
		if *flag == "" {
			*flag = text
		}
	}
	if f.http.cert == "" && f.http.key == "" {
		f.http.cert, f.http.key = l.Cert, l.Key
	}
	for flag, list := range map[*[]string][]string{&f.http.hosts: l.Hosts, &f.http.origins: l.Origins, &f.http.proxies: l.Proxies} {
		if *flag == nil {
			*flag = list
		}
	}
	if !f.http.given("grace") {
		f.http.grace = l.Grace
	}
	switch {
	case f.noAuth || f.bearer != "" || f.http.auth.mode != "":
	case c.Auth.Issuer != nil:
		i := c.Auth.Issuer
		f.http.auth.mode = "issuer"
		f.http.auth.real = &realServer{issuer: i.URL, audience: i.Audience, keys: i.KeysURL, scopes: i.Scopes}
	case !c.Auth.Bearer.IsZero():
		token, err := c.Auth.Bearer.Reveal()
		if err != nil {
			return usagef("%w", err)
		}
		f.http.bearer = token
	default:
		f.noAuth = c.Auth.None
	}
	return nil
}

// looking is how long the gateway waits for its servers before it serves.
const looking = 3 * time.Second

// collectLess has garbage collected half as often, unless GOGC says how often: what a
// gateway keeps is small, and what it throws away with each call is not. Collecting by
// default takes a tenth of its processor time, and is what the slowest calls wait for.
func (a *app) collectLess() {
	const percent = 200
	if said, _ := a.io.LookupEnv("GOGC"); said == "" {
		debug.SetGCPercent(percent)
	}
}

// runGateway serves what a file says.
func (a *app) runGateway(ctx context.Context, file string, f *gatewayFlags) error {
	a.collectLess()
	c, err := config.Read(file, a.environment(ctx))
	if err != nil {
		return a.misconfigured(file, err)
	}
	if err := f.check(c); err != nil {
		return err
	}
	f.http.auth.keep = slices.ContainsFunc(c.Backends, (*config.Backend).NeedsTokens)
	if f.view != "" && c.View(f.view) == nil {
		return usagef("--view %s: the file has no such view", f.view)
	}
	logger, err := a.serverLogger(f.logLevel)
	if err != nil {
		return err
	}
	hidden := new(redact.Changing)
	logger = redact.Logger(logger, hidden)
	r := &runningGateway{a: a, file: file, logger: logger, hidden: hidden, single: f.stdio, config: c, secrets: f.secrets(), posts: new(posts), logins: logins{a: a}, since: time.Now(), restarts: map[string]int{}, orders: make(chan func(context.Context))}
	r.approvals = newApprovals(logger)
	r.approvals.desk.Watch(func(approval.Event) { r.watchers.tell("approval") })
	if err := r.openConsole(ctx, f); err != nil {
		return err
	}
	defer r.closeConsole()
	seen, err := a.telemetryOf(c, f, logger)
	if err != nil {
		return err
	}
	if r.telemetry, err = telemetry.New(ctx, seen); err != nil {
		return usagef("telemetry: %w", err)
	}
	defer r.farewell() //nolint:contextcheck // ctx has ended by then
	r.gateway = gateway.New(gateway.Options{
		Info:   mcp.Implementation{Name: "parley-gateway", Title: "Parley gateway", Version: buildVersion()},
		Around: r.telemetry.Around(), Logger: logger, Grace: f.http.grace,
	})
	r.doors = doors{gateway: r.gateway, listen: c.Listen, logger: logger}
	r.openDesk(ctx, c)
	defer r.closeDesk()
	r.openControl() //nolint:contextcheck // it lives until the gateway ends
	if err := r.load(ctx, c); err != nil {
		return errors.Join(err, r.close())
	}
	r.control.Serve()
	r.look(ctx, looking)
	stop, err := r.watch(ctx)
	if err != nil {
		return errors.Join(err, r.close())
	}
	err = r.serve(ctx, f)
	if ctx.Err() != nil {
		err = nil // being told to stop is not a failure
	}
	stop()
	r.closeConsole()
	return errors.Join(err, r.close())
}

// misconfigured says what is wrong with a file on standard error: standard output may be
// the channel of the protocol.
func (a *app) misconfigured(file string, err error) error {
	mistakes, ok := errors.AsType[config.Mistakes](err)
	if !ok {
		return a.invalid(file, err)
	}
	for _, m := range mistakes {
		a.err.printf("%s\n", m)
	}
	return &failure{code: codeConfig}
}

// runningGateway is a gateway that serves what a file says, also when that changes.
type runningGateway struct {
	a         *app
	file      string
	logger    *slog.Logger
	single    bool // there is only one client
	gateway   *gateway.Gateway
	config    *config.Config
	secrets   []string         // of the command line, besides those of the configuration
	hidden    *redact.Changing // what is shown of nothing
	posts     *posts
	logins    logins
	doors     doors
	since     time.Time
	pages     *http.Server // of the desk, if nothing else is served over HTTP
	shown     shown
	control   *control.Server      // commands speak to it; nil if they cannot
	telemetry *telemetry.Telemetry // nil sees nothing
	// approvals outlive configurations.
	approvals *approvals
	console   *consoleSite // nil for none
	live      live.Log
	watchers  consoleWatchers
	// restarts is how often somebody has had a backend started again, by its name.
	restarts map[string]int
	// reported is what was reported on, by the names of backends; see same.
	reported map[string]string
	// orders are what the goroutine is to do that reads the configuration.
	orders chan func(context.Context)
}

// close ends the backends, and then the guards, which have seen their last exchange.
func (r *runningGateway) close() error {
	return errors.Join(r.control.Close(), r.gateway.Close(), r.posts.relieve(new(posts)))
}

// serve serves clients until ctx ends.
func (r *runningGateway) serve(ctx context.Context, f *gatewayFlags) error {
	if err := r.telemetry.Observe(r.gateway.State, r.sessions); err != nil {
		return err
	}
	if f.stdio {
		r.serveConsole(nil) //nolint:contextcheck // it lives until the gateway ends
		return stdio.ServeOn(ctx, r.gateway.View(f.view), r.a.io.In, r.a.io.Out, &mcp.ServeOptions{Logger: r.logger})
	}
	f.http.ready = func(context.Context) error { return r.ready() }
	f.http.pages = map[string]http.Handler{login.Path: r.logins.desk}
	f.http.opened = func(s *site) { //nolint:contextcheck // endpoints live until the site is closed
		r.doors.attach(s)
		r.welcome(s)
		r.serveConsole(s)
	}
	f.http.metrics = metricsPage{pages: r.telemetry.Pages(), at: r.config.Listen.Metrics, hosts: f.http.hosts}
	return r.a.serveHTTP(ctx, f.http, r.doors.at(), r.logger)
}

var (
	// errNoneReached says that the gateway has nothing to show.
	errNoneReached = errors.New("none of the servers behind the gateway can be reached")
	// errNotAudited says that the gateway refuses everything. Why is not for everybody who can ask
	// whether it is ready: it has paths.
	errNotAudited = fmt.Errorf(`%w; "parley gateway status" says why`, audit.ErrRequired)
)

// ready says why the gateway is of no use now, or returns nil.
func (r *runningGateway) ready() error {
	if _, guards := r.shown.now(); guards != nil && guards.audit != nil && guards.audit.Ready() != nil {
		return errNotAudited
	}
	states := r.gateway.State()
	if len(states) == 0 || slices.ContainsFunc(states, func(s backend.State) bool { return s.Reachable() }) {
		return nil
	}
	return errNoneReached
}

// look learns what the servers are, and reports how those are after a while that have not
// been there before. What takes longer goes on.
func (r *runningGateway) look(ctx context.Context, wait time.Duration) {
	done := make(chan struct{})
	go func() { // ends with ctx at the latest
		defer close(done)
		r.gateway.Look(ctx)
	}()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-ctx.Done():
	}
	reported := map[string]string{}
	for _, s := range r.gateway.State() {
		b := r.config.Backend(s.Name)
		if b == nil {
			continue
		}
		reported[s.Name] = r.same(b)
		if r.reported[s.Name] != reported[s.Name] {
			r.report(b, &s)
		}
	}
	r.reported = reported
}

// report says how a server is.
func (r *runningGateway) report(b *config.Backend, s *backend.State) {
	log := r.logger.With("backend", s.Name, "reached", b.String())
	for _, line := range s.Words {
		log.Debug("it has written", "line", line)
	}
	switch s.Status {
	case backend.Up:
		log.Info("backend is up", "server", fmt.Sprintf("%s %s", s.Info.Name, s.Info.Version), "revision", s.Revision.String())
	case backend.Connecting:
		log.Warn("backend is slow to start; clients will be told when it is there")
	case backend.Broken:
		log.Warn("backend is not available", "error", s.Err)
	case backend.Idle:
		if s.Failures > 0 { // and may be tried again by now
			log.Warn("backend is not available", "error", s.Err)
			break
		}
		log.Info("backend is started on demand")
	}
}

// hangups calls f when the terminal is gone, which tells services to read their files
// again.
func (a *app) hangups(f func()) (release func()) {
	if a.io.CatchHangup == nil {
		return func() {}
	}
	return a.io.CatchHangup(f)
}
