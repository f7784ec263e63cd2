package serverprobe

import (
	"fmt"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/schema"
)

// samplingRepeats judge what a server repeats of the answers of the client's model,
// and what it adds to them.
var samplingRepeats = []Probe{
	{
		Info: probe.Info{
			ID: "sampling/uses-keep-meta", Rows: []string{"26.schema-037", "2511.client.sampling-035"},
			Does:    "Gives uses of tools a _meta, and looks for these uses in the sampling requests that follow.",
			Accepts: "Uses with the _meta that they came with.",
			Mend:    "Put the content of the model's answer into the next request as it came, with its _meta.",
			After:   []string{"sampling/results-match"},
		},
		Watch: watchToolMessages(func(w *probe.Watch, q question, n int, blocks []map[string]any) {
			for _, use := range blocksOfType(blocks, "tool_use") {
				id, _ := use["id"].(string)
				var number int
				if _, err := fmt.Sscanf(id, useID, &number); err != nil {
					continue // the model of the checker made another one, or none
				}
				if kept, _ := peer.Get(use, "_meta/"+pointer(useMeta)); kept != fmt.Sprintf(useKept, number) {
					w.Fault(q.Message, q.at(fmt.Sprintf("messages/%d/content", n)), "the use %q of a tool came with a _meta, and was repeated without it", id)
				}
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "sampling/results-conform", Rows: []string{"2511.schema-014", "26.schema-038"},
			Does:    "Lets tools of the server be used in sampling, and compares structuredContent of the results with the outputSchema of the tool.",
			Accepts: "Values that the schema accepts.",
			After:   []string{"sampling/results-match"},
		},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("no tool with an outputSchema was used in sampling"))
			for _, q := range x.questions() {
				names := map[any]any{} // of tools, by the uses that came so far
				for n, message := range messagesOf(q) {
					for _, block := range blocksOf(message) {
						if block["type"] == "tool_use" {
							names[block["id"]] = block["name"]
						} else if structured, ok := block["structuredContent"]; ok && block["type"] == "tool_result" {
							judgeStructured(w, q, n, names[block["toolUseId"]], structured)
						}
					}
				}
			}
		},
	},
}

// judgeStructured compares a structured result with the outputSchema of the tool that
// the question offers by a name, if it has one.
func judgeStructured(w *probe.Watch, q question, n int, name, structured any) {
	tools, _ := q.Params["tools"].([]any)
	for _, tool := range objects(tools) {
		out := tool["outputSchema"]
		if tool["name"] != name || out == nil {
			continue
		}
		compiled, err := schema.Compile(peer.Encode(out))
		if err != nil {
			return
		}
		w.Saw(q.Message)
		if err := compiled.Validate(peer.Encode(structured)); err != nil {
			w.Fault(q.Message, q.at(fmt.Sprintf("messages/%d/content", n)), "the structuredContent does not fit the outputSchema: %v", err)
		}
		return
	}
}
