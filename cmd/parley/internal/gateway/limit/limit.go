// Package limit keeps one client of a gateway, or one tool, from taking what is there for
// all: it bounds how often and how many at a time operations are served, how long they
// take, and how large their results are.
package limit

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Dimension is something that operations are told apart by.
type Dimension string

// The dimensions.
const (
	ByPrincipal Dimension = "principal" // without one, where the client comes from
	ByBackend   Dimension = "backend"
	BySubject   Dimension = "subject" // a tool, prompt or resource
	ByMethod    Dimension = "method"
)

// Dimensions are all dimensions.
func Dimensions() []Dimension { return []Dimension{ByPrincipal, ByBackend, BySubject, ByMethod} }

// of is an operation's value in a dimension.
func (d Dimension) of(op *guard.Operation) string {
	switch d {
	case ByPrincipal:
		if p := op.Exchange.Peer.Principal; p != "" {
			return p
		}
		return "from " + op.Exchange.Peer.Source
	case ByBackend:
		return op.Backend
	case BySubject:
		return op.Backend + "/" + op.Subject
	case ByMethod:
		return op.Method.Name
	}
	return ""
}

// Rule bounds the operations that it is about. Operations count together that are equal
// in all of its dimensions; without dimensions, all do.
type Rule struct {
	// By are the dimensions.
	By []Dimension
	// Backend, Subject and Method are patterns, in which * stands for any characters and ?
	// for one; "" is everything.
	Backend, Subject, Method string
	// Rate is how many operations there may be in a second, on average, and Burst how
	// many at once; 0 means no limit, and a burst of a second's worth.
	Rate  float64
	Burst int
	// Concurrent is how many may be served at a time; 0 means no limit.
	Concurrent int
	// Time is how long an operation may take; 0 means no limit.
	Time time.Duration
	// ResultBytes is how large a result may be; 0 means no limit. With Cut, the texts of
	// a larger result of a tool are cut, with a note; otherwise it is refused.
	ResultBytes int64
	Cut         bool
}

func (r *Rule) matches(op *guard.Operation) bool {
	return matches(r.Backend, op.Backend) && matches(r.Subject, op.Subject) && matches(r.Method, op.Method.Name)
}

// covers reports whether the rule is about a method where it is about no backend: a rule has
// to name the method, because what such requests cost is not what rules for operations are
// made for.
func (r *Rule) covers(m *mcp.Method) bool {
	return r.Backend == "" && r.Subject == "" && r.Method != "" && matches(r.Method, m.Name)
}

// matches reports whether a text fits a pattern, as those of names do.
func matches(pattern, text string) bool {
	return pattern == "" || naming.Selection{Include: []string{pattern}}.Has(text)
}

// Check refuses a rule that makes no sense.
func (r *Rule) Check() error {
	if r.Rate == 0 && r.Concurrent == 0 && r.Time == 0 && r.ResultBytes == 0 {
		return errors.New("the rule bounds nothing")
	}
	return nil
}

func (r *Rule) key(op *guard.Operation) string {
	var key strings.Builder
	for _, d := range r.By {
		key.WriteString(d.of(op))
		key.WriteByte(0)
	}
	return key.String()
}

// burst is how many operations there may be at once.
func (r *Rule) burst() int {
	if r.Burst > 0 {
		return r.Burst
	}
	return max(1, int(math.Ceil(r.Rate)))
}

// Limits is a guard that holds operations to rules. All that match have to admit one.
type Limits struct {
	rules []*counted
}

var _ guard.Admitter = (*Limits)(nil)

// New returns limits.
func New(rules []Rule) *Limits {
	l := new(Limits)
	for _, r := range rules {
		l.rules = append(l.rules, &counted{Rule: r, accounts: map[string]*account{}})
	}
	return l
}

// Sees implements guard.Guard: limits hide nothing.
func (l *Limits) Sees(context.Context, *mcp.Peer, *guard.Definition) bool { return true }

// Serve implements guard.Guard.
func (l *Limits) Serve(ctx context.Context, op *guard.Operation, next guard.Next) (any, error) {
	var matching []*counted
	for _, r := range l.rules {
		if !r.matches(op) {
			continue
		}
		end, err := r.admit(op)
		if err != nil {
			return nil, err
		}
		defer end()
		matching = append(matching, r)
	}
	ctx, stop := bounded(ctx, matching)
	defer stop()
	result, err := next(ctx, op)
	if err != nil {
		return nil, err
	}
	for _, r := range matching {
		if result, err = r.fit(op, result); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// Admit implements guard.Admitter: rates, and how many may be served at a time.
func (l *Limits) Admit(x *mcp.Exchange, m *mcp.Method) (end func(), err error) {
	var ends []func()
	end = func() {
		for _, f := range ends {
			f()
		}
	}
	op := &guard.Operation{Exchange: x, Method: m}
	for _, r := range l.rules {
		if !r.covers(m) {
			continue
		}
		over, err := r.admit(op)
		if err != nil {
			end()
			return nil, err
		}
		ends = append(ends, over)
	}
	return end, nil
}

// bounded bounds the time by the strictest rule.
func bounded(ctx context.Context, rules []*counted) (context.Context, context.CancelFunc) {
	var least time.Duration
	for _, r := range rules {
		if r.Time > 0 && (least == 0 || r.Time < least) {
			least = r.Time
		}
	}
	if least == 0 {
		return ctx, func() {}
	}
	late := jsonrpc.Errorf(jsonrpc.CodeInternalError, "it took longer than %s, which is all that the gateway allows", least)
	return context.WithTimeoutCause(ctx, least, late)
}

// counted is a rule, and what has been counted for it.
type counted struct {
	Rule
	mu       sync.Mutex
	accounts map[string]*account
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

// admit counts an operation, or refuses it. end is called when it is over.
func (c *counted) admit(op *guard.Operation) (end func(), err error) {
	if c.Rate == 0 && c.Concurrent == 0 {
		return func() {}, nil
	}
	key, now := c.key(op), time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.account(key, now)
	a.used = now
	if c.Concurrent > 0 && a.running >= c.Concurrent {
		return nil, c.refusal("%d are served already, which is as many as may be at a time; try again when one has ended", c.Concurrent)
	}
	if a.rate != nil && !a.rate.AllowN(now, 1) {
		wait := time.Duration((1 - a.rate.TokensAt(now)) / c.Rate * float64(time.Second))
		return nil, c.refusal("there are too many; try again in %s", max(wait, time.Millisecond).Round(time.Millisecond))
	}
	a.running++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		a.running--
	}, nil
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
func (c *counted) account(key string, now time.Time) *account {
	if a := c.accounts[key]; a != nil {
		return a
	}
	if len(c.accounts) >= maxAccounts {
		c.forget(now)
	}
	a := new(account)
	if c.Rate > 0 {
		a.rate = rate.NewLimiter(rate.Limit(c.Rate), c.burst())
	}
	c.accounts[key] = a
	return a
}

// forget removes the accounts that are as good as new, and then, if there still are
// too many, the tenth of them that has not been used for the longest time.
func (c *counted) forget(now time.Time) {
	var idle []string
	for key, a := range c.accounts {
		switch {
		case a.running > 0:
		case a.rate == nil || a.rate.TokensAt(now) >= float64(c.burst()):
			delete(c.accounts, key)
		default:
			idle = append(idle, key)
		}
	}
	if len(c.accounts) < maxAccounts {
		return
	}
	slices.SortFunc(idle, func(a, b string) int { return c.accounts[a].used.Compare(c.accounts[b].used) })
	for _, key := range idle[:min(len(idle), maxAccounts/10)] {
		delete(c.accounts, key)
	}
}
