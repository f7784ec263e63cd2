package clientprobe

import (
	"slices"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/schemas"
)

// generalPage are the rules that speak of every message. They leave out what a
// special rule blames.
var generalPage = []Probe{
	{
		Info: probe.Info{
			ID: "basic/messages-fit-schema", Rows: []string{"26.basic.index-002", "2511.basic-003", "26.basic.index-001"},
			Does:    "Judges each message of the client by the published schema of the revision.",
			Accepts: "Messages that fit; members that the schema does not know are no fault.",
			General: true,
		},
		Watch: watchSchema,
	},
}

func watchSchema(x *X, w *probe.Watch) {
	schema, err := schemas.Of(x.Revision)
	if err != nil {
		w.Nothing(probe.Unverified("%v", err))
		return
	}
	for _, m := range x.Received(nil) {
		if m.Batch != nil || x.refusesBatch(m) {
			continue // it is judged with its batch, or for it
		}
		w.Saw(m)
		if violations := schema.Check(x.asJudged(m)); len(violations) > 0 {
			w.Fault(m, violations[0].Pointer, "it breaks the schema of the revision: at %s", violations[0])
		}
	}
}

// asJudged is a message of the client as package schemas wants it.
func (x *X) asJudged(m *peer.Message) schemas.Message {
	judged := schemas.Message{JSON: slices.Clone(m.Raw)}
	if asked := x.Log.RequestOf(m); asked != nil {
		judged.Answers = asked.Method
		_, judged.AsTask = asked.Get("params/task")
	}
	return judged
}
