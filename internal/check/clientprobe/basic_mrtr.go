package clientprobe

import (
	"bytes"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

const (
	mrtrNewID  = "mrtr/new-id"
	mrtrParams = "mrtr/same-params"
	mrtrOthers = "mrtr/no-other-request"
)

var basicMRTR = []Probe{
	{
		Info: probe.Info{
			ID: mrtrNewID, Rows: []string{"26.basic.patterns.mrtr-028", "26.server.tools-016"},
			Does:    "Compares the ID of a request with that of the one that brings the input for it.",
			Accepts: "Different IDs.",
			Mend:    "Give the retry an ID of its own.",
		},
		Needs: []string{needsStateless},
		Watch: eachRetry(func(w *probe.Watch, r *retry) {
			w.Saw(r.Again)
			if bytes.Equal(r.First.ID, r.Again.ID) {
				w.FaultOf([]probe.Blame{{Message: r.Again, Pointer: "/id"}, {Message: r.First}}, "the retry has the ID of the first request")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: mrtrParams, Rows: []string{"26.basic.patterns.mrtr-030"},
			Does:    "Compares the params of a request with those of the one that brings the input for it.",
			Accepts: "The same params, besides _meta, inputResponses and requestState.",
			Mend:    "Repeat the params of the first request.",
			After:   []string{mrtrOthers},
		},
		Needs: []string{needsStateless},
		Watch: eachRetry(func(w *probe.Watch, r *retry) {
			w.Saw(r.Again)
			if !reflect.DeepEqual(plain(r.First), plain(r.Again)) {
				w.FaultOf(probe.Of(r.Again, r.First), "the retry has other params than the first request")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "mrtr/state-echoed", Rows: []string{"26.basic.patterns.mrtr-026", "26.basic.patterns.mrtr-005"},
			Does:    "Answers with states that look like something: JSON with spaces, escapes and repeated names, a name, the empty string.",
			Accepts: "The same string in the retry.",
			Mend:    "Keep requestState as the string that it is, and send it back as it came.",
			After:   []string{mrtrOthers},
		},
		Needs: []string{needsStateless},
		Watch: eachRetry(func(w *probe.Watch, r *retry) {
			want, ok := r.Wanted.Get("result/requestState")
			if !ok {
				return
			}
			w.Saw(r.Again)
			if got, _ := r.Again.Get("params/requestState"); got != want {
				w.FaultOf([]probe.Blame{{Message: r.Again, Pointer: "/params/requestState"}, {Message: r.Wanted, Pointer: "/result/requestState"}}, "the state is not the one that was given")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "mrtr/no-state-of-its-own", Rows: []string{"26.basic.patterns.mrtr-027"},
			Does:    "Wants input first with a state, and then without one.",
			Accepts: "No requestState in the second retry.",
			Mend:    "Send the state of the last answer only.",
			After:   []string{mrtrOthers},
		},
		Needs: []string{needsStateless},
		Watch: eachRetry(func(w *probe.Watch, r *retry) {
			if _, ok := r.Wanted.Get("result/requestState"); ok {
				return
			}
			w.Saw(r.Again)
			if _, ok := r.Again.Get("params/requestState"); ok {
				w.FaultOf([]probe.Blame{{Message: r.Again, Pointer: "/params/requestState"}, {Message: r.Wanted}}, "the retry has a state, and none was given")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "mrtr/all-inputs", Rows: []string{"26.basic.patterns.mrtr-024"},
			Does:    "Wants several inputs at once.",
			Accepts: "A retry that has all of them, or no retry.",
			Mend:    "Come again only when all inputs are there.",
		},
		Needs: []string{needsStateless},
		Watch: eachRetry(func(w *probe.Watch, r *retry) {
			wanted, given := r.Wanted.Object("result/inputRequests"), r.Again.Object("params/inputResponses")
			if len(wanted) == 0 {
				return
			}
			w.Saw(r.Again)
			for _, key := range slices.Sorted(maps.Keys(wanted)) {
				if _, ok := given[key]; !ok && !hasStrange(given, wanted) {
					w.FaultOf(probe.Of(r.Again, r.Wanted), "the retry has no input for %q", key)
				}
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "mrtr/keys-and-results", Rows: []string{"26.basic.patterns.mrtr-004"},
			Does:    "Compares the keys of inputResponses with those of inputRequests, and looks at what they have.",
			Accepts: "The keys that were asked for, each with the result of its question.",
			Mend:    "Give each key the result itself, without anything around it.",
		},
		Needs: []string{needsStateless},
		Watch: eachRetry(watchInputs),
	},
	{
		Info: probe.Info{
			ID: mrtrOthers, Rows: []string{"26.basic.patterns.mrtr-029"},
			Does:    "Looks for input and states in requests that no input was wanted for.",
			Accepts: "None: they go with the retry of the request that they were wanted for.",
			Mend:    "Send inputs and states with the retry of their request only.",
		},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			wanted := map[string]int{} // when input was first wanted for a target
			for _, r := range x.retries() {
				w.Saw(r.Wanted)
				if _, ok := wanted[target(r.First)]; !ok {
					wanted[target(r.First)] = r.Wanted.Number
				}
			}
			for _, m := range x.Requests() {
				if n, ok := wanted[target(m)]; isRetry(m) && (!ok || n > m.Number) {
					w.Fault(m, "/params", "no input was wanted for this request")
				}
			}
			w.Nothing(probe.Unverified("the client made no request that input could be wanted for"))
		},
	},
}

// eachRetry looks at each request that came again, with the one before it.
func eachRetry(look func(*probe.Watch, *retry)) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		for _, r := range x.retries() {
			if r.Again != nil {
				look(w, r)
			}
		}
		w.Nothing(probe.Unverified("no request came again with the input that was wanted"))
	}
}

// hasStrange reports whether there are keys that nobody asked for: then it is
// they that are wrong.
func hasStrange(given, wanted object) bool {
	for key := range given {
		if _, ok := wanted[key]; !ok {
			return true
		}
	}
	return false
}

// mainMembers are what the result of a question can't be without.
var mainMembers = map[string][]string{elicit: {"action"}, sample: {"role", "content", "model"}, rootsList: {"roots"}}

func watchInputs(w *probe.Watch, r *retry) {
	wanted, given := r.Wanted.Object("result/inputRequests"), r.Again.Object("params/inputResponses")
	for _, key := range slices.Sorted(maps.Keys(given)) {
		w.Saw(r.Again)
		at := "/params/inputResponses/" + pointer(key)
		if _, ok := wanted[key]; !ok {
			w.FaultOf([]probe.Blame{{Message: r.Again, Pointer: at}, {Message: r.Wanted}}, "nobody asked for %q", key)
			continue
		}
		method, _ := peer.Get(wanted[key], "method")
		name, _ := method.(string)
		if a := (&asked{Answer: r.Again, At: strings.TrimPrefix(at, "/")}); a.lacksAll(mainMembers[name]...) {
			w.FaultOf([]probe.Blame{{Message: r.Again, Pointer: at}, {Message: r.Wanted}}, "this is not the result of %s", name)
		}
	}
}
