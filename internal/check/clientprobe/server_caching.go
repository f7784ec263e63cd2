package clientprobe

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

// What a client keeps shows by what it no longer asks for: these probes compare a
// scenario with the base, of clients that do the same in both.
var serverCaching = []Probe{
	{
		Info: probe.Info{
			ID: "caching/own-key", Rows: []string{"26.server.utilities.caching-008"},
			Does:    "Lets everything be kept, and compares what is asked for with what is when nothing is kept.",
			Accepts: "At least one request for each list, page and resource.",
			Mend:    "Keep results by method and params.",
		},
		Needs: []string{needsStateless}, In: []string{scenarioFresh},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(x.notAlike())
			if !x.doesAsInBase() {
				return
			}
			asked := map[string]bool{}
			for _, m := range x.cacheable() {
				asked[keyOf(m)] = true
				w.Saw(m)
			}
			for _, m := range x.Base.cacheable() {
				if !asked[keyOf(m)] {
					w.Fault(m, "/params", "this is asked for if nothing is kept, and never if other results are")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "caching/no-retried-results", Rows: []string{"26.server.utilities.caching-009"},
			Does:    "Lets resources be kept that took two rounds, and compares how often they are read.",
			Accepts: "As many readings as of resources that are not to be kept.",
			Mend:    "Do not keep the result of a request with inputResponses or requestState.",
		},
		Needs: []string{needsStateless}, In: []string{scenarioStale},
		Watch: func(x *X, w *probe.Watch) {
			x.compare(w, mcp.MethodReadResource, func(m *peer.Message) bool { return !isRetry(m) }, "the resource is not read again after a reading that took two rounds")
		},
	},
	{
		Info: probe.Info{
			ID: "caching/no-hint", Rows: []string{"26.server.utilities.caching-013"},
			Does:    "Leaves ttlMs out, and compares how often the tools are listed.",
			Accepts: "As often as with the ttlMs 0.",
		},
		Needs: []string{needsStateless}, In: []string{scenarioStale},
		Watch: func(x *X, w *probe.Watch) {
			x.compare(w, mcp.MethodListTools, isFirstPage, "the tools are kept although ttlMs is absent")
		},
	},
	{
		Info: probe.Info{
			ID: "caching/negative", Rows: []string{"26.server.utilities.caching-014"},
			Does:    "Gives a negative ttlMs, and compares how often the prompts are listed.",
			Accepts: "As often as with the ttlMs 0.",
		},
		Needs: []string{needsStateless}, In: []string{scenarioStale},
		Watch: func(x *X, w *probe.Watch) {
			x.compare(w, mcp.MethodListPrompts, isFirstPage, "the prompts are kept although ttlMs is negative")
		},
	},
	{
		Info: probe.Info{
			ID: "caching/stale", Rows: []string{"26.server.utilities.caching-016", "26.server.utilities.caching-011"},
			Does:    "Gives a ttlMs of 1, and compares how often the resources are listed.",
			Accepts: "As often as with the ttlMs 0.",
		},
		Needs: []string{needsStateless}, In: []string{scenarioStale},
		Watch: func(x *X, w *probe.Watch) {
			if !x.Base.listsBetween(mcp.MethodListResources) {
				w.Nothing(probe.Unverified("the client does not list the resources again after something else"))
				return
			}
			x.compare(w, mcp.MethodListResources, isFirstPage, "the resources are kept beyond their ttlMs")
		},
	},
	{
		Info: probe.Info{
			ID: "caching/fresh", Rows: []string{"26.server.utilities.caching-012"},
			Does:    "Lets everything be kept, and looks for requests that are made again, by clients that keep anything.",
			Accepts: "No request again without a change or an error before it.",
		},
		Needs: []string{needsStateless}, In: []string{scenarioFresh},
		Watch: watchFresh,
	},
	{
		Info: probe.Info{
			ID: "caching/change", Rows: []string{"26.server.utilities.caching-026"},
			Does:    "Lets lists be kept, says that they have changed, and compares whether they are asked for again.",
			Accepts: "A request after the change, if one is made when nothing is kept.",
			Mend:    "Drop what is kept of a list when the server says that it has changed.",
			After:   []string{"caching/own-key"},
		},
		Needs: []string{needsStateless}, In: []string{scenarioFresh},
		Watch: watchChange,
	},
}

func (x *X) cacheable() []*peer.Message {
	return x.Requests(mcp.MethodListTools, mcp.MethodListPrompts, mcp.MethodListResources, mcp.MethodListTemplates, mcp.MethodReadResource)
}

func isFirstPage(m *peer.Message) bool {
	_, has := m.Get("params/cursor")
	return !has
}

// keyOf is what a result is kept by.
func keyOf(m *peer.Message) string { return m.Method + string(peer.Encode(plain(m))) }

// doesAsInBase reports whether the client did in the scenario what it does in the
// base, as far as that does not depend on what it keeps.
func (x *X) doesAsInBase() bool {
	did := func(x *X) map[string]int {
		all := map[string]int{}
		for _, m := range x.Requests(mcp.MethodCallTool, mcp.MethodGetPrompt, mcp.MethodComplete) {
			all[keyOf(m)]++
		}
		return all
	}
	before, now := did(x.Base), did(x)
	return len(now) > 0 && !x.Ending.Late && reflect.DeepEqual(before, now)
}

func (x *X) notAlike() probe.Finding {
	return probe.Unverified("the client did other things than in the base, so that they can't be compared")
}

// compare wants requests to be made as often as in the base.
func (x *X) compare(w *probe.Watch, method string, which func(*peer.Message) bool, fault string) {
	count := func(x *X) (n int, last *peer.Message) {
		for _, m := range x.Requests(method) {
			if which(m) {
				n, last = n+1, m
			}
		}
		return n, last
	}
	before, _ := count(x.Base)
	now, last := count(x)
	switch {
	case !x.doesAsInBase():
		w.Nothing(x.notAlike())
	case before < 2:
		w.Nothing(probe.Unverified("the client does not use %s twice", method))
	case now < before && last != nil:
		w.Fault(last, "", "%s: %d requests, and %d in the base", fault, now, before)
	case last != nil:
		w.Saw(last)
	}
}

// listsBetween reports whether tools or prompts are listed before each further time
// that a list is asked for, which takes longer than the list may be kept.
func (x *X) listsBetween(method string) bool {
	pause := true
	for _, m := range x.cacheable() {
		switch {
		case m.Method == mcp.MethodListTools || m.Method == mcp.MethodListPrompts:
			pause = true
		case m.Method == method && isFirstPage(m):
			if !pause {
				return false
			}
			pause = false
		}
	}
	return true
}

// watchFresh looks for requests that are repeated without need.
func watchFresh(x *X, w *probe.Watch) {
	w.Nothing(probe.Unverified("the client keeps nothing, or wants nothing twice"))
	if !x.doesAsInBase() || len(x.cacheable()) >= len(x.Base.cacheable()) {
		return
	}
	last := map[string]*peer.Message{}
	for _, m := range x.Log.Messages() {
		row := mcp.MethodNamed(m.Method)
		switch {
		case m.Sent && (m.IsError() || m.IsNotification() && (strings.HasSuffix(m.Method, "list_changed") || strings.HasSuffix(m.Method, "updated"))):
			clear(last)
		case m.IsRequest() && !m.Sent && row != nil && row.Cacheable && m.Method != mcp.MethodDiscover && !isRetry(m):
			w.Saw(m)
			before := last[keyOf(m)]
			last[keyOf(m)] = m
			if before == nil {
				continue
			}
			result := x.Log.ResponseTo(before)
			if ttl := ttlOf(result); ttl > 0 && result.Number < m.Number && m.At < result.At+ttl {
				w.FaultOf(probe.Of(m, result), "the result of the same request may still be used")
			}
		}
	}
}

func ttlOf(result *peer.Message) time.Duration {
	if result == nil {
		return 0
	}
	v, _ := result.Get("result/ttlMs")
	n, _ := v.(json.Number)
	ms, _ := n.Int64() // nothing, if it is none
	return time.Duration(ms) * time.Millisecond
}

// watchChange wants lists to be asked for after they have changed, if they are in
// the base.
// staysAfter reports whether the client says something that much later: who waits a
// while before it asks again may have ended by then.
func (x *X) staysAfter(m *peer.Message, much time.Duration) bool {
	return len(x.After(m, func(later *peer.Message) bool { return later.At-m.At >= much })) > 0
}

func watchChange(x *X, w *probe.Watch) {
	w.Nothing(probe.Unverified("the client listens to no changes, or does other things than in the base"))
	if !x.doesAsInBase() {
		return
	}
	for _, kind := range [][2]string{
		{mcp.MethodListTools, "notifications/tools/list_changed"}, {mcp.MethodListPrompts, "notifications/prompts/list_changed"},
	} {
		method, changed := kind[0], kind[1]
		after := func(x *X) (change, listed *peer.Message) {
			for _, note := range x.Sent(is(changed)) {
				change = note
			}
			for _, m := range x.After(change, is(method)) {
				listed = m
			}
			return change, listed
		}
		was, before := after(x.Base)
		switch change, now := after(x); {
		case change == nil || before == nil:
		case now == nil && x.heardAfter(change) && x.staysAfter(change, 2*(before.At-was.At)):
			w.FaultOf(probe.Of(change), "%s is not asked for again after the change, as it is when nothing is kept", method)
		case now != nil:
			w.Saw(now)
		}
	}
}
