package cli

import (
	"errors"
	"log/slog"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/approval"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/audit"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/limit"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/pins"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/policy"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/scan"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/status"
	"github.com/parley-mcp/parley/internal/redact"
)

// posts are the guards of a running gateway. Those that have a file, or count something, go
// on as they are when another configuration says the same of them.
type posts struct {
	audit   *audit.Log
	audited audit.Options // without secrets
	secrets []string      // which the log does not keep
	pins    *pins.Pins
	pinned  pinning
	scan    *scan.Scan
	scanned scan.Options
	limits  *limit.Limits
}

// pinning is what a configuration says of pins.
type pinning struct {
	path                 string
	approveAll, warnOnly bool
	cards                map[string]string // where they are
}

// post returns the guards of a configuration. What old has and the new ones do not is to
// be relieved once they are in place. The log keeps neither the secrets of the
// configuration nor those of the command line.
func post(c *config.Config, old *posts, secrets []string, announce func(), logger *slog.Logger) (_ *posts, err error) {
	now := new(posts)
	defer func() {
		if err != nil {
			err = errors.Join(err, now.relieve(old))
		}
	}()
	if c.Audit != nil {
		if err := now.keepAudit(c, old, secrets, logger); err != nil {
			return now, err
		}
	}
	if c.Pins != nil {
		if err := now.keepPins(c, old, announce, logger); err != nil {
			return now, err
		}
	}
	if c.Scan != nil {
		now.keepScan(c.Scan, old, logger)
	}
	now.keepLimits(c.Limits, old)
	return now, nil
}

func (p *posts) keepAudit(c *config.Config, old *posts, secrets []string, logger *slog.Logger) (err error) {
	a := c.Audit
	p.secrets = append(c.Secrets(), secrets...)
	p.audited = audit.Options{
		Level: a.Level, Backends: a.Levels(), MaxMiB: a.MaxMiB,
		KeepFiles: a.KeepFiles, KeepDays: a.KeepDays, Required: a.Required, Logger: logger,
	}
	if p.audited.Path, err = a.Path(); err != nil {
		return err
	}
	if old.audit != nil && reflect.DeepEqual(p.audited, old.audited) && slices.Equal(p.secrets, old.secrets) {
		p.audit = old.audit
		return nil
	}
	o := p.audited
	o.Secrets = redact.New(nil, p.secrets...)
	p.audit, err = audit.New(o)
	return err
}

func (p *posts) keepPins(c *config.Config, old *posts, announce func(), logger *slog.Logger) (err error) {
	said := c.Pins
	p.pinned = pinning{approveAll: said.ApproveAll, warnOnly: said.WarnOnly}
	if p.pinned.path, err = said.Path(); err != nil {
		return err
	}
	if !said.IgnoreCards {
		if p.pinned.cards, err = cardPlaces(c.Backends); err != nil {
			return err
		}
	}
	if old.pins != nil && reflect.DeepEqual(p.pinned, old.pinned) {
		p.pins = old.pins
		return nil
	}
	p.pins, err = pins.New(pins.Options{
		File: pins.Open(p.pinned.path), Known: said.ApproveAll, WarnOnly: said.WarnOnly,
		Card: cardReader(p.pinned.cards), Changed: announce, Logger: logger,
	})
	return err
}

// keepScan goes on with what a scan has counted and logged.
func (p *posts) keepScan(c *config.Scan, old *posts, logger *slog.Logger) {
	p.scanned = scan.Options{Except: c.Except, Logger: logger}
	p.scanned.Definitions, p.scanned.Results = c.Actions()
	if p.scan = old.scan; p.scan == nil || !reflect.DeepEqual(p.scanned, old.scanned) {
		p.scan = scan.New(p.scanned)
	}
}

// keepLimits goes on with what is counted for limits that stay.
func (p *posts) keepLimits(rules []limit.Rule, old *posts) {
	switch {
	case len(rules) == 0:
	case old.limits == nil:
		p.limits = limit.New(rules)
	default:
		p.limits = limit.Renew(old.limits, rules)
	}
}

// status says what the guards have withheld and found.
func (p *posts) status() (g status.Guards) {
	if p.pins != nil {
		g.Pins = p.pins.Withheld()
	}
	if p.scan != nil {
		g.Findings = p.scan.Counts()
	}
	return g
}

// relieve ends the guards that are not among those that stay.
func (p *posts) relieve(stay *posts) error {
	var err error
	if p.audit != nil && p.audit != stay.audit {
		err = p.audit.Close()
	}
	if p.pins != nil && p.pins != stay.pins {
		err = errors.Join(err, p.pins.Close())
	}
	return err
}

// chain returns the guards in their order, behind those in front: the log sees what all others refuse and
// what a scan has changed, and no human is asked about what is not possible anyway.
func (p *posts) chain(c *config.Config, front []guard.Guard, desk *approval.Desk, logger *slog.Logger) (chain []guard.Guard, err error) {
	demands := c.Approval != nil
	chain = append(chain, front...)
	if p.audit != nil {
		chain = append(chain, p.audit)
	}
	if p.limits != nil {
		chain = append(chain, p.limits)
	}
	if c.Policy != nil {
		rules, err := policies(c.Policy, logger)
		if err != nil {
			return nil, err
		}
		chain = append(chain, rules)
		demands = demands || rules.Demands()
	}
	if p.pins != nil {
		chain = append(chain, p.pins)
	}
	if demands {
		a := c.Approvals()
		chain = append(chain, approval.New(desk, approval.Options{Rules: a.Rules, Ask: a.Ask, Wait: a.Wait, File: filepath.Base(c.Path)}))
	}
	if p.scan != nil {
		chain = append(chain, p.scan)
	}
	return chain, nil
}

// policies returns the guard of a configuration's policies.
func policies(p *config.Policy, logger *slog.Logger) (*policy.Policy, error) {
	sources, err := p.Sources()
	if err != nil {
		return nil, err
	}
	return policy.New(sources, policy.Options{AllowByDefault: p.AllowByDefault, DryRun: p.DryRun, Logger: logger})
}
