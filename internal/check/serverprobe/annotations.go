package serverprobe

import (
	"regexp"
	"slices"

	"github.com/parley-mcp/parley/internal/check/probe"
)

// Annotations of resources, templates and content, which the page server/resources
// describes. Those of tools are others.
var annotationProbes = []Probe{
	{
		Info: probe.Info{
			ID: "annotations/audience", Rows: []string{"26.server.resources-020", "2511.server.resources-012"},
			Does:    "Looks at audience in annotations of resources, templates and content.",
			Accepts: `An array of "user" and "assistant".`,
		},
		Watch: eachAnnotation("audience", func(w *probe.Watch, a part) {
			list, ok := a.v.([]any)
			if !ok || slices.ContainsFunc(list, func(v any) bool { return v != "user" && v != "assistant" }) {
				a.fault(w, `the audience is no array of "user" and "assistant"`)
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "annotations/priority", Rows: []string{"26.server.resources-021", "2511.server.resources-013"},
			Does:    "Looks at priority in annotations of resources, templates and content.",
			Accepts: "A number from 0 to 1.",
		},
		Watch: eachAnnotation("priority", func(w *probe.Watch, a part) {
			if n, ok := (part{v: map[string]any{"n": a.v}}).number("n"); !ok || n < 0 || n > 1 {
				a.fault(w, "the priority is no number from 0 to 1")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "annotations/last-modified", Rows: []string{"26.server.resources-022", "2511.server.resources-014"},
			Does:    "Looks at lastModified in annotations of resources, templates and content.",
			Accepts: "A time as ISO 8601 writes it, such as 2025-01-12T15:00:58Z.",
		},
		Watch: eachAnnotation("lastModified", func(w *probe.Watch, a part) {
			if text, _ := a.v.(string); !iso8601.MatchString(text) {
				a.fault(w, "lastModified is no time of ISO 8601")
			}
		}),
	},
}

// iso8601 accepts dates and times, in the extended and in the basic form.
var iso8601 = regexp.MustCompile(`^\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?|-?W\d\d(-?[1-7])?|-?\d{3}|(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01]))?([T ]([01]\d|2[0-4])(:?[0-5]\d(:?[0-6]\d([.,]\d+)?)?)?(Z|[+-]\d\d(:?\d\d)?)?)?$`)

// eachAnnotation looks at a member of all annotations.
func eachAnnotation(name string, look func(*probe.Watch, part)) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		annotated := append(append(x.entries(resourceList), x.entries(templateList)...), x.blocks()...)
		for _, p := range annotated {
			notes, _ := p.member("annotations")
			if a, ok := notes.member(name); ok {
				w.Saw(p.m)
				look(w, a)
			}
		}
		w.Nothing(probe.NotApplicable("nothing that the server gives is annotated with %s", name))
	}
}
