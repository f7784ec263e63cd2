package serverprobe

import (
	"slices"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

// relisted is a list that was asked for again, after everything else that the
// survey did: in the shared conversation, and in one of its own.
type relisted struct {
	before, again, elsewhere []string
	evidence                 []probe.Blame // the answers that again and elsewhere begin with
	why                      string        // set if a list could not be had again
}

// relist asks for a list again, once for all probes.
func (x *X) relist(l listing) *relisted {
	if r := x.lists[l.method]; r != nil {
		return r
	}
	r := &relisted{before: keys(l, x.offered(l))}
	x.lists[l.method] = r
	var ok bool
	if r.again, ok = r.ask(x.Main, l); !ok {
		return r
	}
	other, err := x.Scratch()
	if err != nil {
		r.why = "no other connection could be opened: " + err.Error()
		return r
	}
	if r.elsewhere, ok = r.ask(other, l); !ok {
		return r
	}
	if !sameSet(r.again, r.elsewhere) {
		r.insist(x.Main, other, l)
	}
	return r
}

// insist asks two connections with different lists once more: somebody else may
// have changed the list between the two.
func (r *relisted) insist(c, other *Conn, l listing) {
	once := &relisted{}
	again, _ := once.ask(c, l)
	elsewhere, _ := once.ask(other, l)
	if once.why == "" && (!sameSet(again, r.again) || !sameSet(elsewhere, r.elsewhere)) {
		r.why = "the list changes all the time"
	}
}

// ask asks for all pages of a list and returns the keys of its entries.
func (r *relisted) ask(c *Conn, l listing) ([]string, bool) {
	entries, first, whole := c.list(l.method, l.member)
	if !whole {
		r.why = "the list was not given again as a whole"
	}
	r.evidence = append(r.evidence, probe.Of(first)...)
	return keys(l, entries), whole
}

// offered are the entries that the survey found.
func (x *X) offered(l listing) []map[string]any {
	switch l.method {
	case toolList.method:
		return x.Offer.Tools
	case resourceList.method:
		return x.Offer.Resources
	case templateList.method:
		return x.Offer.Templates
	default:
		return x.Offer.Prompts
	}
}

func keys(l listing, entries []map[string]any) []string {
	all := []string{}
	for _, e := range entries {
		key, _ := e[l.key].(string)
		all = append(all, key)
	}
	return all
}

// sameSet reports whether two lists have the same entries, in any order.
func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// sameElsewhere is the finding for lists that must be the same for every
// connection. A list that has changed for all proves nothing.
func (x *X) sameElsewhere(l listing) probe.Finding {
	r := x.relist(l)
	switch {
	case r.why != "":
		return probe.Unverified("%s", r.why)
	case sameSet(r.again, r.elsewhere):
		return probe.Pass(r.evidence...)
	case sameSet(r.before, r.again):
		return probe.Fail(r.evidence, "another connection gets another list: %s instead of %s", peer.Encode(r.elsewhere), peer.Encode(r.again))
	default:
		return probe.Unverified("the list has changed meanwhile")
	}
}

// sameAfterward is the finding for lists that other requests of the connection
// must not change.
func (x *X) sameAfterward(l listing) probe.Finding {
	r := x.relist(l)
	switch {
	case r.why != "":
		return probe.Unverified("%s", r.why)
	case sameSet(r.before, r.again):
		return probe.Pass(r.evidence...)
	case sameSet(r.before, r.elsewhere):
		return probe.Fail(r.evidence, "after other requests this connection gets another list, which no other gets: %s instead of %s", peer.Encode(r.again), peer.Encode(r.before))
	default:
		return probe.Unverified("the list has changed meanwhile, for everybody")
	}
}

// sameOrder is the finding for lists whose order must not change.
func (x *X) sameOrder(l listing) probe.Finding {
	r := x.relist(l)
	switch {
	case r.why != "":
		return probe.Unverified("%s", r.why)
	case !sameSet(r.before, r.again):
		return probe.Unverified("the list has changed meanwhile")
	case len(r.again) < 2:
		return probe.Unverified("the list has less than two entries")
	case !slices.Equal(r.before, r.again):
		return probe.Fail(r.evidence, "the same list came in another order: %s after %s", peer.Encode(r.again), peer.Encode(r.before))
	case sameSet(r.again, r.elsewhere) && !slices.Equal(r.again, r.elsewhere):
		return probe.Fail(r.evidence, "another connection gets the same list in another order: %s instead of %s", peer.Encode(r.elsewhere), peer.Encode(r.again))
	default:
		return probe.Pass(r.evidence...)
	}
}
