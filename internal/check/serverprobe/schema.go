package serverprobe

import (
	"regexp"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/schemas"
)

// schemaProbes judge messages by the schema of the revision.
var schemaProbes = []Probe{
	{
		Info: probe.Info{
			ID: "schema/valid", Rows: []string{"26.schema-041", "2511.schema-020"}, General: true,
			Does:    "Validates all that the server sends against the schema of the revision.",
			Accepts: "What is valid; members that the schema does not mention are no fault.",
		},
		Watch: watchSchema,
	},
	{
		Info: probe.Info{
			ID: "schema/result-type", Rows: []string{"26.basic.index-010"},
			Does:    "Looks for resultType in all results.",
			Accepts: "A string.",
			Mend:    `Add "resultType": "complete" to results.`,
		},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.plainResults() {
				w.Saw(m)
				v, _ := m.Get("result/resultType")
				if _, ok := v.(string); !ok {
					w.Fault(m, "/result", "the result has no resultType that is a string")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "schema/known-result-type", Rows: []string{"26.basic.index-011"},
			Does:    "Compares resultType with what the result holds.",
			Accepts: `"complete" for what is final, "input_required" for questions, or what a declared extension adds.`,
		},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.plainResults() {
				kind := m.Text("result/resultType")
				_, asks := m.Get("result/inputRequests")
				switch {
				case kind == "" || kind == "task":
				case kind != "complete" && kind != "input_required":
					w.Fault(m, "/result/resultType", "%q is no type of result", kind)
				case kind == "complete" && asks:
					w.Fault(m, "/result/resultType", "the result asks for input, and calls itself complete")
				default:
					w.Saw(m)
				}
			}
		},
	},
}

// plainResults are the results of the revision that are objects.
func (x *X) plainResults() []*peer.Message {
	return x.Received(func(m *peer.Message) bool { return isPlainResult(m) && x.ofRevision(m) })
}

// watchSchema validates what came. Parts of the wire that are wrong on their
// own have probes of their own.
func watchSchema(x *X, w *probe.Watch) {
	schema, err := schemas.Of(x.Revision)
	if err != nil {
		w.Nothing(probe.Unverified("%v", err))
		return
	}
	known := map[string]bool{} // what others blame already
	for m := range x.blamed {
		for _, v := range x.violations(schema, m) {
			known[sign(v)] = true
		}
	}
	for _, m := range x.Received(func(m *peer.Message) bool { return m.Batch == nil && m.Cut == 0 && m.Bad == nil && m.Items == nil }) {
		asked := x.Log.RequestOf(m)
		if m.IsResponse() && asked != nil && !x.ofRevision(m) || m.IsResult() && asked == nil || m.IsError() && (m.ID == nil || string(m.ID) == "null") {
			continue // other probes say what is wrong with its ID
		}
		w.Saw(m)
		for _, v := range x.violations(schema, m) {
			if !known[sign(v)] {
				w.FaultOf([]probe.Blame{{Message: asked}, {Message: m, Pointer: v.Pointer}}, "%s %s", v.Pointer, v.Text)
				break
			}
		}
	}
}

func (x *X) violations(schema *schemas.Schema, m *peer.Message) []schemas.Violation {
	if m.Sent {
		return nil
	}
	message := schemas.Message{JSON: m.Raw, FromServer: true}
	if asked := x.Log.RequestOf(m); asked != nil {
		message.Answers, message.AsTask = asked.Method, asked.Object("params/task") != nil
	}
	return schema.Check(message)
}

// sign is the same for violations that are one fault, in several messages or
// several elements of a list.
func sign(v schemas.Violation) string {
	return numberInPointer.ReplaceAllString(v.Pointer, "/*") + " " + v.Text
}

var numberInPointer = regexp.MustCompile(`/[0-9]+`)
