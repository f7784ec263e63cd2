package clientprobe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/revision"
)

// course is the check in one revision.
type course struct {
	opts      *Options
	facts     *revision.Facts
	driver    Driver
	transport string
	played    []*X
	notes     []string
	begun     time.Time
}

// run plays the scenarios. It returns an error if the client does not speak the
// revision, or could not be started.
func (c *course) run(ctx context.Context) error {
	c.begun = time.Now()
	due := c.due()
	c.tell(due, 0)
	first, err := c.play(ctx, due[0])
	if err != nil || ctx.Err() != nil {
		return err
	}
	if !first.spoken() {
		return errors.New("the client does not speak the revision")
	}
	c.keep(first)
	return c.playTwists(ctx, due)
}

// playTwists plays the scenarios after the first, as many at once as the options
// say. What was played is kept in the order of the scenarios, whichever ended
// first.
func (c *course) playTwists(ctx context.Context, due []*Scenario) error {
	played, errs := make([]*X, len(due)), make([]error, len(due))
	var running sync.WaitGroup
	places := make(chan struct{}, max(c.opts.AtOnce, 1))
	failed := make(chan struct{}, len(due))
	for n := 1; n < len(due); n++ {
		places <- struct{}{}
		if ctx.Err() != nil || len(failed) > 0 {
			break
		}
		c.tell(due, n)
		running.Go(func() {
			defer func() { <-places }()
			x, err := c.play(ctx, due[n])
			if err != nil {
				errs[n] = err
				failed <- struct{}{}
			} else if ctx.Err() == nil {
				played[n] = x
			}
		})
	}
	running.Wait()
	for _, x := range played {
		if x != nil {
			c.keep(x)
		}
	}
	return cmp.Or(errs...)
}

// tell says that a scenario is about to be played.
func (c *course) tell(due []*Scenario, n int) {
	if c.opts.Progress != nil {
		c.opts.Progress(Progress{Revision: c.facts.Revision.String(), Transport: c.transport, Scenario: due[n], Done: n, Total: len(due)})
	}
}

// keep takes a scenario that was played for the judgement.
func (c *course) keep(x *X) {
	if len(x.Log.Messages()) == 0 {
		c.notes = append(c.notes, fmt.Sprintf("in the scenario %s of %s the client said nothing", x.Scenario.Name, x.Revision))
	}
	if c.opts.Played != nil {
		c.opts.Played(x)
	}
	c.played = append(c.played, x)
}

// due are the scenarios that are wanted and can be played.
func (c *course) due() []*Scenario {
	var due []*Scenario
	for _, sc := range Scenarios() {
		wanted := c.opts.Scenarios == nil || sc.Name == TheBase || slices.Contains(c.opts.Scenarios, sc.Name)
		if wanted && sc.plays(newStage(sc, c.facts, c.transport, c.opts)) {
			due = append(due, sc)
		}
	}
	return due
}

// stage opens the stage of a scenario.
func (c *course) stage(sc *Scenario) *Stage {
	facts := c.facts
	if sc.As == inSessions {
		facts = revision.Of(revision.Session(nil)[0])
	}
	return newStage(sc, facts, c.transport, c.opts)
}

// play plays one scenario.
func (c *course) play(ctx context.Context, sc *Scenario) (*X, error) {
	s := c.stage(sc)
	x := &X{Stage: s, ByHand: c.opts.ByHand, blamed: map[*peer.Message]bool{}}
	x.Base = x
	if len(c.played) > 0 {
		x.Base = c.played[0]
	}
	p := &Place{Scenario: sc, Revision: s.Revision, Transport: s.Transport, Connect: s.connect, Accept: s.Accept}
	if s.Transport != needsStdio {
		serve := c.opts.Serve
		if serve == nil {
			serve = listen
		}
		origin, other, stop, err := serve(s)
		if err != nil {
			return nil, fmt.Errorf("serving the scenario %s: %w", sc.Name, err)
		}
		defer stop()
		s.Origin, s.Other = origin, other
		p.URL = origin + pathMCP
		if s.Transport == needsSSE {
			p.URL = origin + pathEvents
		}
	}
	defer s.close()
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, cmp.Or(c.opts.Timeout, 30*time.Second))
	defer cancel()
	err := c.driver(limited, p)
	if errors.Is(err, ErrStart) {
		return nil, err
	}
	x.Ending = Ending{Late: limited.Err() != nil, Err: err, After: time.Since(began)}
	return x, nil
}
