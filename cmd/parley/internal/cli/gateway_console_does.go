package cli

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/approval"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/audit"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/pins"
	consolepage "github.com/parley-mcp/parley/cmd/parley/internal/page/console"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
)

// decider is who decides, in the words of those who are told. A code lets the operator of
// this machine in, as commands do.
func decider(by string) string {
	if by == web.Operator.String() {
		return approval.TheOperator
	}
	return by
}

// Allow implements consolepage.Gateway.
func (g *consoleGateway) Allow(id string, t consolepage.Terms, by string) (consolepage.Trace, error) {
	trace := consolepage.Trace{Before: g.waits(id), Detail: "once"}
	if t.Seconds > 0 {
		trace.Detail = "for " + seconds(t.Seconds).String()
	}
	if t.Tool {
		trace.Detail += ", with any arguments"
	}
	err := g.r.approvals.desk.Allow(id, approval.Terms{For: seconds(t.Seconds), Tool: t.Tool}, decider(by))
	if err == nil {
		trace.After = string(approval.Given)
	}
	return trace, refusedInConsole(err)
}

func seconds(n float64) time.Duration {
	const most = 7 * 24 * time.Hour // more is refused, and no number is too large to be one
	return time.Duration(min(n, (2*most).Seconds()) * float64(time.Second))
}

// waits identifies what waits under an ID; "" if nothing does.
func (g *consoleGateway) waits(id string) string {
	r, err := g.r.approvals.desk.Request(id)
	if err != nil {
		return ""
	}
	return r.Digest
}

// Deny implements consolepage.Gateway.
func (g *consoleGateway) Deny(id, reason, by string) (consolepage.Trace, error) {
	trace := consolepage.Trace{Before: g.waits(id), Detail: reason}
	err := g.r.approvals.desk.Deny(id, reason, decider(by))
	if err == nil {
		trace.After = string(approval.Refused)
	}
	return trace, refusedInConsole(err)
}

// Revoke implements consolepage.Gateway.
func (g *consoleGateway) Revoke(id, by string) (consolepage.Trace, error) {
	var trace consolepage.Trace
	for _, given := range g.r.approvals.desk.Given() {
		if given.ID == id {
			trace = consolepage.Trace{Before: given.Digest, Detail: "until " + given.Until.UTC().Format(time.RFC3339)}
		}
	}
	err := g.r.approvals.desk.Revoke(id, decider(by))
	if err == nil {
		trace.After = string(approval.Revoked)
	}
	return trace, refusedInConsole(err)
}

// ApprovePin implements consolepage.Gateway.
func (g *consoleGateway) ApprovePin(k consolepage.PinKey, digest string) (trace consolepage.Trace, err error) {
	file, err := g.pinFile()
	if err != nil {
		return trace, err
	}
	before, err := file.ApproveVersion(pins.Key(k), digest)
	if err != nil {
		return trace, refusedInConsole(err)
	}
	if before != nil {
		trace.Before = before.Digest
	}
	trace.After = digest
	g.r.watchers.tell("pin")
	return trace, nil
}

// WithdrawPin implements consolepage.Gateway.
func (g *consoleGateway) WithdrawPin(k consolepage.PinKey, digest string) (trace consolepage.Trace, err error) {
	file, err := g.pinFile()
	if err != nil {
		return trace, err
	}
	if err := file.Withdraw(pins.Key(k), digest); err != nil {
		return trace, refusedInConsole(err)
	}
	g.r.watchers.tell("pin")
	return consolepage.Trace{Before: digest}, nil
}

// ForgetLogin implements consolepage.Gateway.
func (g *consoleGateway) ForgetLogin(ctx context.Context, key consolepage.LoginKey) (trace consolepage.Trace, err error) {
	k, err := g.keptLogins(ctx)
	if err != nil {
		return trace, err
	}
	for i := range k.list {
		e := &k.list[i]
		if consolepage.LoginKey(e.Owner) != key {
			continue
		}
		trace = consolepage.Trace{Before: "since " + e.Since.Format(time.RFC3339), Detail: "revoked"}
		if err := k.forget(ctx, e); err != nil {
			trace.Detail = fmt.Sprintf("forgotten here, but not revoked: %v", err)
		}
		g.r.gateway.Changed(e.Backend)
		return trace, nil
	}
	return trace, web.Errorf(http.StatusNotFound, "login", "there is no such login")
}

// Reload implements consolepage.Gateway.
func (g *consoleGateway) Reload(ctx context.Context) (trace consolepage.Trace, err error) {
	trace.Before = g.revision()
	err = g.r.order(ctx, func(ctx context.Context) error {
		changes, err := g.r.reload(ctx)
		trace.Detail = changes.String()
		return err
	})
	if err != nil {
		e := web.Errorf(http.StatusConflict, "configuration", "%v", err)
		e.Hint = "the configuration from before is still served"
		return trace, e
	}
	trace.After = g.revision()
	return trace, nil
}

// revision identifies the configuration that is served.
func (g *consoleGateway) revision() string { return g.Overview().Configuration.Revision }

// Restart implements consolepage.Gateway.
func (g *consoleGateway) Restart(ctx context.Context, backend string) (trace consolepage.Trace, err error) {
	r := g.r
	err = r.order(ctx, func(ctx context.Context) error {
		if r.config.Backend(backend) == nil {
			return web.Errorf(http.StatusNotFound, "backend", "there is no backend %q", backend)
		}
		trace.Before = g.statusOf(backend)
		r.restarts[backend]++
		if err := r.load(ctx, r.config); err != nil {
			r.restarts[backend]--
			return err
		}
		r.look(ctx, looking)
		trace.After = g.statusOf(backend)
		return nil
	})
	return trace, err
}

// statusOf says how a backend is.
func (g *consoleGateway) statusOf(backend string) string {
	for _, s := range g.r.gateway.State() {
		if s.Name == backend {
			return string(s.Status)
		}
	}
	return ""
}

// Ready implements consolepage.Gateway.
func (g *consoleGateway) Ready() error {
	if _, posts := g.r.shown.now(); posts.audit != nil {
		return posts.audit.Ready()
	}
	return nil
}

// Changed implements consolepage.Gateway.
func (g *consoleGateway) Changed(c consolepage.Change) error {
	attrs := []any{"by", c.By, "role", c.Role, "action", c.Action, "target", c.Target, "refused", c.Refused}
	if c.Err != nil {
		attrs = append(attrs, "error", c.Err)
	}
	g.r.logger.Info("in the console", attrs...)
	_, posts := g.r.shown.now()
	if posts.audit == nil {
		return nil
	}
	return posts.audit.Changed(audit.Change{
		By: c.By, Role: c.Role, Action: c.Action, Target: c.Target, Before: c.Before, After: c.After, Detail: c.Detail, Refused: c.Refused,
	}, c.Source, c.Err)
}

// Watch implements consolepage.Gateway.
func (g *consoleGateway) Watch(f func(topic string)) (stop func()) { return g.r.watchers.add(f) }
