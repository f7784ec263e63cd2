package serverprobe

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"runtime"
	"sync"

	"golang.org/x/time/rate"

	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/internal/revision"
)

// judgement is a check under way: revisions that are judged one after the other,
// or several at once.
type judgement struct {
	ctx    context.Context //nolint:containedctx // that of the check
	target Target
	opts   *Options
	common *common
	each   []*judged
	// turn has room for whoever begins a revision: in order, because what a server
	// says in one revision tells what is to be expected in older ones. It is no mutex,
	// since beginning takes time, which stands still in a bubble of testing/synctest
	// while anybody waits for a mutex.
	turn chan struct{}
	next int // the first that was not begun; guarded by turn

	told      sync.Mutex
	transport string // guarded by told
}

// judged is a revision, and what became of it.
type judged struct {
	facts         *revision.Facts
	name, version string // of the server
	run           *verdict.Run
	notes         []string
	refusal       error
	lonely        bool // to be tried again when nothing else is being judged

	under       bool // it is being judged; guarded by judgement.told, as what follows
	done, total int  // probes
}

// common is what the revisions of a server share.
type common struct {
	pace   *rate.Limiter
	claims claims // changed by whoever begins to speak a revision

	mu sync.Mutex
	// readers are tools that say in some revision that they only read: the first
	// revision has no words for that.
	readers map[string]bool
	// slow are tools that did not answer in time in some revision, which is their
	// right: they are not called again.
	slow map[string]bool
}

func newCommon(o *Options) *common {
	return &common{
		pace:   rate.NewLimiter(rate.Limit(cmp.Or(o.Rate, 100)), 10),
		claims: claims{}, readers: map[string]bool{}, slow: map[string]bool{},
	}
}

func (c *common) has(set map[string]bool, name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return set[name]
}

func (c *common) add(set map[string]bool, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	set[name] = true
}

// anySlow reports whether any tool did not answer in time.
func (c *common) anySlow() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.slow) > 0
}

func newJudgement(ctx context.Context, t Target, o *Options) *judgement {
	j := &judgement{ctx: ctx, target: t, opts: o, common: newCommon(o), turn: make(chan struct{}, 1)}
	for _, f := range revisions(o.Revisions) {
		j.each = append(j.each, &judged{facts: f, total: len(o.due(f.Revision.String()))})
	}
	return j
}

// jobs is how many revisions are judged at once.
func (j *judgement) jobs() int {
	n := j.opts.Jobs
	switch {
	case j.target.Lines == nil || !j.target.Apart:
		return 1
	case n == 0 && (j.opts.AllowAll || len(j.opts.Allow) > 0):
		return 1
	case n == 0:
		n = runtime.GOMAXPROCS(0)
	}
	return max(1, min(n, len(j.each)))
}

// judge judges all revisions.
func (j *judgement) judge() {
	company := j.jobs() > 1
	var workers sync.WaitGroup
	for range j.jobs() {
		workers.Go(func() { // ends when no revision is left, or the check ends
			for one, x := j.begin(company); one != nil; one, x = j.begin(company) {
				j.finish(one, x)
			}
		})
	}
	workers.Wait()
	for _, one := range j.each {
		if one.lonely && j.ctx.Err() == nil {
			if x := j.try(one, false); x != nil {
				j.finish(one, x)
			}
		}
	}
}

// begin begins the next revision that the server speaks, or returns nil.
func (j *judgement) begin(company bool) (*judged, *X) {
	j.turn <- struct{}{}
	defer func() { <-j.turn }()
	for j.next < len(j.each) && j.ctx.Err() == nil {
		one := j.each[j.next]
		j.next++
		if x := j.try(one, company); x != nil {
			return one, x
		}
	}
	return nil, nil
}

// try begins to speak a revision. Where it fails, and the reason may be that the
// server does not bear others beside it, it is to be tried again alone.
func (j *judgement) try(one *judged, company bool) *X {
	x := newX(j.ctx, j.target, j.opts, one.facts, j.common)
	err := x.begin()
	if err == nil && (x.refusal == nil || !company) && j.ctx.Err() == nil {
		x.claims = maps.Clone(x.claims) // those of the revisions until this one
		x.offerTools()
		j.tell(one, x, 0)
		return x
	}
	if one.lonely = company && !errors.Is(err, errNotClaimed); !one.lonely && j.ctx.Err() == nil {
		one.refusal = err
	}
	x.end()
	j.tell(one, nil, 0)
	return nil
}

// finish judges a revision that was begun.
func (j *judgement) finish(one *judged, x *X) {
	one.run = x.run(func(done int) { j.tell(one, x, done) })
	one.name, one.version, one.notes = x.Offer.Name, x.Offer.Version, x.notes
	x.end()
	j.tell(one, nil, one.total)
}

// tell says how far the check is. x is nil if the revision is not being judged
// any more.
func (j *judgement) tell(one *judged, x *X, done int) {
	j.told.Lock()
	defer j.told.Unlock()
	one.under, one.done = x != nil, done
	if x != nil {
		j.transport = x.Transport
	} else if one.run == nil && !one.lonely {
		one.total = 0 // it is not spoken
	}
	if j.opts.Progress == nil || x == nil {
		return
	}
	p := Progress{Transport: j.transport}
	for _, other := range j.each {
		p.Done, p.Total = p.Done+other.done, p.Total+other.total
		if other.under {
			p.Revisions = append(p.Revisions, other.facts.Revision.String())
		}
	}
	j.opts.Progress(p)
}
