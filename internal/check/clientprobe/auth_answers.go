package clientprobe

import "github.com/parley-mcp/parley/internal/check/probe"

// What clients make of the answers of authorization servers.
var authAnswers = []Probe{
	{
		Info: probe.Info{
			ID:      "auth/iss-wrong",
			Rows:    []string{"26.basic.authorization.index-025", "26.basic.authorization.index-024", "26.basic.authorization.index-021", "26.changelog-008"},
			Does:    "Answers with the iss of somebody else.",
			Accepts: "No code goes to the token endpoint.",
			Mend:    "Compare iss with the issuer that was recorded.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth-iss-wrong"},
		Watch: rejectsAnswer,
	},
	{
		Info: probe.Info{
			ID:      "auth/iss-missing",
			Rows:    []string{"26.basic.authorization.index-026"},
			Does:    "Leaves iss out, though the metadata announces it.",
			Accepts: "No code goes to the token endpoint.",
			Mend:    "Reject answers without an iss that was announced.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth-iss-missing"},
		Watch: rejectsAnswer,
	},
	{
		Info: probe.Info{
			ID:      "auth/iss-unannounced",
			Rows:    []string{"26.basic.authorization.index-027"},
			Does:    "Answers with the iss of somebody else, which was not announced.",
			Accepts: "No code goes to the token endpoint.",
			Mend:    "Compare iss whenever it is there.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth-iss-unannounced"},
		Watch: rejectsAnswer,
	},
	{
		Info: probe.Info{
			ID:      "auth/iss-none",
			Rows:    []string{"26.basic.authorization.index-028"},
			Does:    "Has no iss and announces none.",
			Accepts: "The code goes to the token endpoint.",
			Mend:    "Go on if iss was neither announced nor sent.",
		},
		Needs: []string{needsHTTP}, In: []string{"auth-iss-none"},
		Watch: takesAnswer,
	},
	{
		Info: probe.Info{
			ID:      "auth/iss-exact",
			Rows:    []string{"26.basic.authorization.index-029"},
			Does:    "Answers with an iss that has a slash more.",
			Accepts: "No code goes to the token endpoint.",
			Mend:    "Compare iss as it is, without normalizing it.",
			After:   []string{"auth/iss-wrong"},
		},
		Needs: []string{needsHTTP}, In: []string{"auth-iss-slash"},
		Watch: rejectsAnswer,
	},
}

// Spec: 2026-07-28 basic/authorization#authorization-response-validation.
func rejectsAnswer(x *X, w *probe.Watch) {
	x.forbidden(w, pathAuthorize, "the code is exchanged though the answer is not the authorization server's", pathToken)
}

// Spec: 2026-07-28 basic/authorization#authorization-response-validation.
func takesAnswer(x *X, w *probe.Watch) {
	used := x.errands(pathToken)
	for _, e := range x.errands(pathAuthorize) {
		if len(used) == 0 {
			w.FaultOf(e.blame(), "the code is not exchanged, though no iss was announced")
			return
		}
		w.SawExchange(e.Exchange)
	}
}
