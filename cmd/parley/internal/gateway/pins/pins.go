// Package pins keeps definitions from changing unseen. The first sight of a tool, a
// prompt or anything else that a server lists is locked in a file; what changes later is
// not shown and not called until somebody has looked at the difference and approved it.
package pins

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/mcp"
)

// Options configure Pins.
type Options struct {
	// File is where they are kept.
	File *File
	// Known demands approval of what is seen for the first time, too. Otherwise the first
	// sight is trusted.
	Known bool
	// WarnOnly only logs what would be withheld.
	WarnOnly bool
	// Card reads the card of a server, which is then pinned, too; it returns nil for a
	// server that cannot have one. nil reads none.
	Card func(ctx context.Context, backend string) (json.RawMessage, error)
	// Changed is called when something was approved elsewhere, or a card is read, so that
	// what clients see may differ from what it was. It must not block. nil is nobody.
	Changed func()
	// Logger is told of what changed. nil means slog.Default().
	Logger *slog.Logger
}

// Pins is a guard that withholds what has changed. Close ends it.
type Pins struct {
	opts Options

	mu     sync.Mutex
	known  map[Key]*Pin
	count  map[string]int  // of known, by backend
	full   map[string]bool // the backends of which the logger knows that they have too many
	judged map[Key][]judged
	told   map[Key]map[string]bool // the digests that the logger knows
	news   map[Key]bool            // what the file does not say yet
	flush  *time.Timer
	stamp  time.Time             // of the file, when it was read
	cards  map[string]*shownCard // by backend
	closed bool
	work   sync.WaitGroup

	running context.Context //nolint:containedctx // until Close
	end     context.CancelFunc
}

// judged is what was found of a definition, which is not looked at again while it is the
// same one in memory.
type judged struct {
	what    any // a pointer
	trusted bool
}

const (
	// gather is how long new definitions are gathered before they are written.
	gather = 200 * time.Millisecond
	// lookEvery is how often the file is looked at, for what was approved meanwhile.
	lookEvery = time.Second
	// writeAgain is how long a file is left alone that could not be written.
	writeAgain = 10 * time.Second
	// maxJudged and maxTold bound what is remembered of one name: how many versions that
	// are in use, and how many digests that were logged.
	maxJudged, maxTold = 16, 32
	// maxPins bounds the pins of one backend: each change writes all of them.
	maxPins = 20_000
)

var _ guard.Describer = (*Pins)(nil)

// New reads the file of pins.
func New(o Options) (*Pins, error) {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Changed == nil {
		o.Changed = func() {}
	}
	p := &Pins{opts: o, told: map[Key]map[string]bool{}, full: map[string]bool{}, news: map[Key]bool{}, cards: map[string]*shownCard{}}
	p.running, p.end = context.WithCancel(context.Background())
	stamp := o.File.modified()
	list, err := o.File.Read()
	if err != nil {
		p.end()
		return nil, err
	}
	p.take(list, stamp)
	p.work.Go(p.watch) // ends with Close
	return p, nil
}

// take takes the place of what is known with what the file has, to which what it does not
// have yet is added. The caller holds p.mu, or is New.
func (p *Pins) take(list []Pin, stamp time.Time) {
	known := make(map[Key]*Pin, len(list))
	for i := range list {
		known[list[i].Key] = &list[i]
	}
	merge(known, p.unwritten())
	p.known, p.judged, p.stamp = known, map[Key][]judged{}, stamp
	p.count = map[string]int{}
	for key := range known {
		p.count[key.Backend]++
	}
}

// keep has everything that is known written again if the file is gone: what it said holds for
// as long as this process runs. The caller holds p.mu.
func (p *Pins) keep(stamp time.Time) {
	if !stamp.IsZero() || p.stamp.IsZero() {
		return
	}
	p.opts.Logger.Error("the file of pins is gone; what it said holds, and is written again (to begin anew, use \"parley gateway pins forget\")", "file", p.opts.File.path)
	p.stamp = stamp
	for key := range p.known {
		p.news[key] = true
	}
	p.soon(gather)
}

// add makes room for another pin, and reports whether there is some. The caller holds p.mu.
func (p *Pins) add(key Key, pin *Pin) bool {
	if p.count[key.Backend] >= maxPins {
		if !p.full[key.Backend] {
			p.full[key.Backend] = true
			p.opts.Logger.Error("the backend has listed so many definitions that more are not trusted", "backend", key.Backend, "most", maxPins)
		}
		return false
	}
	p.count[key.Backend]++
	p.known[key] = pin
	return true
}

// unwritten are the pins of which the file does not say everything. The caller holds p.mu,
// or is New.
func (p *Pins) unwritten() []Pin {
	list := make([]Pin, 0, len(p.news))
	for key := range p.news {
		list = append(list, *p.known[key])
	}
	return list
}

func (f *File) modified() time.Time {
	info, err := os.Stat(f.path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// Close writes what is not in the file yet.
func (p *Pins) Close() error {
	p.mu.Lock()
	p.closed = true
	if p.flush != nil && p.flush.Stop() {
		p.work.Done()
	}
	p.mu.Unlock()
	p.end()
	p.work.Wait()
	return p.save()
}

// Sees implements guard.Guard: what has changed is not shown.
func (p *Pins) Sees(_ context.Context, _ *mcp.Peer, d *guard.Definition) bool {
	return p.trusts(d) || p.opts.WarnOnly
}

// Serve implements guard.Guard: what has changed is not called, and neither is a tool or
// a prompt that its server does not list, because nobody can have approved it.
func (p *Pins) Serve(ctx context.Context, op *guard.Operation, next guard.Next) (any, error) {
	why := ""
	switch d := op.Definition; {
	case p.opts.WarnOnly:
	case d != nil && !p.trusts(d):
		why = "its definition is not the one that was approved; \"parley gateway pins diff\" shows the difference, and \"parley gateway pins approve\" accepts it"
	case d == nil && slices.ContainsFunc(op.Templates, func(t *guard.Definition) bool { return !p.trusts(t) }):
		why = "a template that it can be made with is not one that was approved; \"parley gateway pins diff\" shows the difference, and \"parley gateway pins approve\" accepts it"
	case d == nil && isListed(op.Method):
		why = "its server does not list it, so there is nothing that could have been approved"
	}
	if why != "" {
		return nil, &mcp.ForbiddenError{Reason: op.Shown + " is withheld: " + why}
	}
	return next(ctx, op)
}

// Decides implements guard.Decider.
func (p *Pins) Decides() {}

// isListed reports whether a method is about what servers list: tools and prompts. Not
// all resources are, and tasks come of calls.
func isListed(m *mcp.Method) bool {
	return m.Feature == mcp.ToolFeature || m.Feature == mcp.PromptFeature
}

// trusts reports whether a definition is one that was approved.
func (p *Pins) trusts(d *guard.Definition) bool {
	var raw *byte
	if len(d.Raw) > 0 {
		raw = &d.Raw[0]
	}
	return p.judge(Key{d.Backend, kindName(d), d.Name}, raw, func() (json.RawMessage, error) { return d.Raw, nil })
}

// judge reports whether something is what was approved under its name. what points to it,
// and definition says what it is, unless that is known.
func (p *Pins) judge(key Key, what any, definition func() (json.RawMessage, error)) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, j := range p.judged[key] {
		if j.what == what {
			return j.trusted
		}
	}
	raw, err := definition()
	trusted := false
	if err == nil {
		trusted = p.read(key, raw)
	}
	had := p.judged[key]
	if len(had) == maxJudged {
		had = had[1:]
	}
	p.judged[key] = append(had, judged{what, trusted})
	return trusted
}

// read compares a definition with what was approved. The caller holds p.mu.
func (p *Pins) read(key Key, definition json.RawMessage) bool {
	digest, err := Digest(definition)
	return err == nil && p.compare(key, Version{Digest: digest, Since: time.Now().UTC().Truncate(time.Second), Definition: definition})
}

// Withheld returns how many definitions wait for approval.
func (p *Pins) Withheld() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, pin := range p.known {
		if pin.Pending != nil {
			n++
		}
	}
	return n
}

// watch reads the file again whenever another process has changed it, until Close.
func (p *Pins) watch() {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-p.running.Done():
			return
		case <-ticker.C:
		}
		if p.look() {
			p.opts.Changed()
		}
	}
}

// look reports whether another process has changed the file, and reads it then.
func (p *Pins) look() bool {
	stamp := p.opts.File.modified()
	p.mu.Lock()
	p.keep(stamp)
	same := stamp.Equal(p.stamp)
	p.stamp = stamp
	p.mu.Unlock()
	if same {
		return false
	}
	list, err := p.opts.File.Read()
	if err != nil {
		p.opts.Logger.Error("the file of pins cannot be read; what it said before holds", "error", err)
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.take(list, stamp)
	return true
}

// compare compares a version of a definition with those that were approved, and remembers it
// if it is another. The caller holds p.mu.
func (p *Pins) compare(key Key, v Version) bool {
	pin := p.known[key]
	switch {
	case pin == nil && !p.opts.Known:
		if !p.add(key, &Pin{Key: key, Approved: &v}) {
			return false
		}
		p.learn(key)
		return true
	case pin == nil:
		if pin = (&Pin{Key: key}); !p.add(key, pin) {
			return false
		}
	case pin.trusts(v.Digest):
		return true
	case pin.Pending != nil && (pin.Pending.Digest == v.Digest || !p.isNew(key, v.Digest)):
		return false // or what users see in turn would take the place of each other for ever
	}
	p.tell(pin, v.Digest)
	pin.Pending = &v
	p.learn(key)
	return false
}

// isNew reports whether the logger does not know of a version yet. The caller holds p.mu.
func (p *Pins) isNew(key Key, digest string) bool {
	told := p.told[key]
	return !told[digest] && len(told) < maxTold
}

// tell logs that a version waits for approval, once. The caller holds p.mu.
func (p *Pins) tell(pin *Pin, digest string) {
	if !p.isNew(pin.Key, digest) {
		return
	}
	if p.told[pin.Key] == nil {
		p.told[pin.Key] = map[string]bool{}
	}
	p.told[pin.Key][digest] = true
	if pin.Approved == nil && pin.Pending == nil {
		p.opts.Logger.Warn("a definition is seen for the first time, and waits for approval", "pin", pin.Key, "digest", digest)
		return
	}
	p.opts.Logger.Warn("a definition has changed, and waits for approval", "pin", pin.Key, "digest", digest, "warn_only", p.opts.WarnOnly, "last_to_be_logged", len(p.told[pin.Key]) == maxTold)
}

// learn has a pin written soon. The caller holds p.mu.
func (p *Pins) learn(key Key) {
	p.news[key] = true
	p.soon(gather)
}

// soon has the news written in a while, and again if that fails. The caller holds p.mu.
func (p *Pins) soon(wait time.Duration) {
	if p.flush != nil || p.closed {
		return
	}
	p.work.Add(1)
	p.flush = time.AfterFunc(wait, func() { // Close waits for it
		defer p.work.Done()
		if err := p.save(); err != nil {
			p.opts.Logger.Error("the pins cannot be written; what is in the file is not complete", "error", err, "again_in", writeAgain)
			p.mu.Lock()
			defer p.mu.Unlock()
			p.soon(writeAgain)
		}
	})
}

// save writes the news into the file. They are kept for the next time if that fails.
// Nobody waits for the file, which another process may have locked.
func (p *Pins) save() error {
	p.mu.Lock()
	p.keep(p.opts.File.modified())
	news := p.unwritten()
	p.flush = nil
	p.mu.Unlock()
	if len(news) == 0 {
		return nil
	}
	list, err := p.opts.File.change(func(pins map[Key]*Pin) { merge(pins, news) })
	stamp := p.opts.File.modified()
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		return err
	}
	for i := range news {
		if key := news[i].Key; p.known[key].Approved == news[i].Approved && p.known[key].Pending == news[i].Pending { // it has not changed since
			delete(p.news, key)
		}
	}
	p.take(list, stamp)
	return nil
}

// merge puts news among the pins of the file, which another process may have written
// meanwhile.
func merge(pins map[Key]*Pin, news []Pin) {
	for i := range news {
		ours := news[i]
		pin := pins[ours.Key]
		switch {
		case pin == nil:
			pins[ours.Key] = &ours
		case ours.Pending != nil && !pin.trusts(ours.Pending.Digest):
			pin.Pending = ours.Pending
		case ours.Pending == nil && !pin.trusts(ours.Approved.Digest):
			pin.Pending = ours.Approved
		}
	}
}

var kindNames = map[mcp.FeatureKind]string{
	mcp.ToolFeature: "tool", mcp.PromptFeature: "prompt", mcp.ResourceFeature: "resource", mcp.TemplateFeature: "template",
}

// kindName says what a definition is of. A skill has the URI of the resource that it begins
// with, and is another thing.
func kindName(d *guard.Definition) string {
	if d.List == mcp.MethodListSkills {
		return "skill"
	}
	if name, ok := kindNames[d.Kind]; ok {
		return name
	}
	return "other"
}
