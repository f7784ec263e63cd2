package limit

import (
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/jsonrpc"
)

// counted is a rule, and what has been counted for it.
type counted struct {
	Rule
	mu       sync.Mutex
	accounts map[key]*account
}

// account is what one value of the dimensions has used.
type account struct {
	rate    *rate.Limiter
	running int
	used    time.Time
}

// maxAccounts bounds the accounts of a rule. Beyond it, those that are full again are
// forgotten, which makes no difference to them.
const maxAccounts = 10_000

// place is one of those that a rule has for what is served at a time.
type place struct {
	rule    *counted
	account *account
	lender  *place // that of a task, which an operation about it has meanwhile; nil if it has its own
	lent    bool
}

// leave gives the place back.
func (p *place) leave() {
	p.rule.mu.Lock()
	defer p.rule.mu.Unlock()
	if p.lender != nil {
		p.lender.lent = false
		return
	}
	p.account.running--
}

// places are those of one operation.
type places []*place

func (all places) leave() {
	for _, p := range all {
		p.leave()
	}
}

// lend returns the place that a task has in an account, unless another operation has it.
// The caller holds the rule's mu.
func (all places) lend(a *account) *place {
	for _, p := range all {
		if p.account == a && !p.lent {
			p.lent = true
			return p
		}
	}
	return nil
}

// admit counts an operation, or refuses it. The place that it has is to be left when it is
// over; it is nil if the rule does not count places. What is asked about a task needs none
// besides that of the task: otherwise nobody could ask where a task has the only one.
func (c *counted) admit(op *guard.Operation, about *task) (*place, error) {
	if c.Rate == 0 && c.Concurrent == 0 {
		return nil, nil //nolint:nilnil // there is no place
	}
	of, now := c.key(op), time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.account(of, now)
	a.used = now
	var lender *place
	if about != nil {
		lender = about.taken.lend(a)
	}
	if err := c.mayLocked(a, lender, now); err != nil {
		if lender != nil {
			lender.lent = false
		}
		return nil, err
	}
	switch {
	case c.Concurrent == 0:
		return nil, nil //nolint:nilnil // likewise
	case lender == nil:
		a.running++
	}
	return &place{rule: c, account: a, lender: lender}, nil
}

// mayLocked refuses an operation for which there is no room. The caller holds c.mu.
func (c *counted) mayLocked(a *account, lender *place, now time.Time) error {
	if c.Concurrent > 0 && lender == nil && a.running >= c.Concurrent {
		return c.refusal("%d are served already, which is as many as may be at a time; try again when one has ended", c.Concurrent)
	}
	if a.rate != nil && !a.rate.AllowN(now, 1) {
		wait := time.Duration((1 - a.rate.TokensAt(now)) / c.Rate * float64(time.Second))
		return c.refusal("there are too many; try again in %s", max(wait, time.Millisecond).Round(time.Millisecond))
	}
	return nil
}

func (c *counted) refusal(format string, args ...any) error {
	what := "operations"
	if len(c.By) > 0 {
		words := make([]string, len(c.By))
		for i, d := range c.By {
			words[i] = string(d)
		}
		what += " of this " + strings.Join(words, " and ")
	}
	return jsonrpc.Errorf(jsonrpc.CodeInternalError, "the gateway limits "+what+": "+format, args...)
}

// account returns the account of a key. The caller holds c.mu.
func (c *counted) account(of key, now time.Time) *account {
	if a := c.accounts[of]; a != nil {
		return a
	}
	if len(c.accounts) >= maxAccounts {
		c.forget(now)
	}
	a := new(account)
	if c.Rate > 0 {
		a.rate = rate.NewLimiter(rate.Limit(c.Rate), c.burst())
	}
	c.accounts[of] = a
	return a
}

// forget removes the accounts that are as good as new, and then, if there still are
// too many, the tenth of them that has not been used for the longest time.
func (c *counted) forget(now time.Time) {
	var idle []key
	for of, a := range c.accounts {
		switch {
		case a.running > 0:
		case a.rate == nil || a.rate.TokensAt(now) >= float64(c.burst()):
			delete(c.accounts, of)
		default:
			idle = append(idle, of)
		}
	}
	if len(c.accounts) < maxAccounts {
		return
	}
	slices.SortFunc(idle, func(a, b key) int { return c.accounts[a].used.Compare(c.accounts[b].used) })
	for _, of := range idle[:min(len(idle), maxAccounts/10)] {
		delete(c.accounts, of)
	}
}
