package serverprobe

import (
	"github.com/yosida95/uritemplate/v3"

	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/verdict"
)

var serverResources = []Probe{
	{
		Info: probe.Info{
			ID: "resources/declared", Rows: []string{"26.server.resources-001", "2511.server.resources-001", "26.architecture-004", "2511.architecture-002"},
			Does:    "Looks for the capability resources, and asks for resources if it is not there.",
			Accepts: "The capability, or no resources.",
			Mend:    "Declare the capability resources.",
		},
		Run: declaresList(resourceList),
	},
	{
		Info: probe.Info{
			ID: "resources/list-answers", Rows: []string{"26.server.resources-004", "2511.schema-013"},
			Does:    "Asks for the resources.",
			Accepts: "A result with an array of resources, which may be empty.",
		},
		Needs: []string{"resources"},
		Run:   answersList(resourceList),
	},
	{
		Info: probe.Info{
			ID: "resources/same-for-all", Rows: []string{"26.server.resources-005"},
			Does:    "Lists the resources, uses what the server offers, and lists them again there and on another connection.",
			Accepts: "The same resources, or a change that every connection sees.",
			After:   []string{"resources/list-answers"},
		},
		Needs: []string{needsStateless, "resources"},
		Run:   func(x *X) probe.Finding { return x.sameForAll(resourceList) },
	},
	{
		Info: probe.Info{
			ID: "resources/uri-and-name", Rows: []string{"26.server.resources-016", "2511.server.resources-025"},
			Does:    "Looks at each resource that is listed.",
			Accepts: "A uri and a name, which are strings.",
		},
		Needs: []string{"resources"},
		Watch: each(entriesOf(resourceList), func(w *probe.Watch, r part) {
			if !r.isText("uri") || !r.isString("name") {
				r.fault(w, "the resource has no uri or no name that is a string")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "resources/types-of-members", Rows: []string{"2511.server.resources-026"},
			Does:    "Looks at description, mimeType and size of each resource.",
			Accepts: "Strings, and an integer for the size.",
		},
		Needs: []string{"resources"},
		Watch: each(entriesOf(resourceList), func(w *probe.Watch, r part) {
			wantText(w, r, "description", "mimeType")
			if n, ok := r.number("size"); r.has("size") && (!ok || n != float64(int64(n))) {
				w.Fault(r.m, r.at+"/size", "the size is not an integer")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "resources/unique-uris", Rows: []string{"26.server.resources-017"},
			Does:    "Looks for URIs that two resources have, on all pages of the list.",
			Accepts: "A URI of its own for each resource.",
		},
		Needs: []string{"resources"},
		Watch: unique(resourceList),
	},
	{
		Info: probe.Info{
			ID: "resources/rfc3986", Rows: []string{"26.server.resources-026", "2511.server.resources-018"},
			Does:    "Looks at the URIs of resources, links and contents that have a scheme of their own.",
			Accepts: "A scheme, the characters that RFC 3986 allows, and whole percent-encodings.",
			Mend:    "Percent-encode everything else, such as spaces and letters beyond ASCII.",
			After:   []string{"resources/uri-and-name"},
		},
		Watch: func(x *X, w *probe.Watch) {
			uris := append(append(x.entries(resourceList), x.contents()...), ofType(x.blocks(), "resource_link")...)
			for _, r := range append(uris, embedded(x.blocksOfTools())...) {
				if !r.isText("uri") || !isCustom(r.text("uri")) {
					continue
				}
				w.Saw(r.m)
				if why := notURI(r.text("uri")); why != "" {
					w.Fault(r.m, r.at+"/uri", "the URI is none: %s", why)
				}
			}
			w.Nothing(probe.NotApplicable("no resource has a scheme of its own"))
		},
	},
	{
		Info: probe.Info{
			ID: "templates/list-answers", Rows: []string{"2511.schema-013"},
			Does:    "Asks for the resource templates.",
			Accepts: "A result with an array of resourceTemplates, which may be empty; the error -32601 if there are none.",
		},
		Needs: []string{"resources"},
		Run: func(x *X) probe.Finding {
			if len(x.Offer.Templates) == 0 {
				if r := x.Call(templateList.method, nil); r.Response != nil && r.Response.IsError() {
					return probe.NotApplicable("the server has no resource templates")
				}
			}
			return answersList(templateList)(x)
		},
	},
	{
		Info: probe.Info{
			ID: "templates/name-and-template", Rows: []string{"26.schema-027", "2511.server.resources-028"},
			Does:    "Looks at each resource template.",
			Accepts: "A uriTemplate and a name, which are strings.",
		},
		Needs: []string{"resources"},
		Watch: eachTemplate(func(w *probe.Watch, t part) {
			if !t.isText("uriTemplate") || !t.isString("name") {
				t.fault(w, "the template has no uriTemplate or no name that is a string")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "templates/types-of-members", Rows: []string{"2511.server.resources-029"},
			Does:    "Looks at description and mimeType of each resource template.",
			Accepts: "Strings.",
		},
		Needs: []string{"resources"},
		Watch: eachTemplate(func(w *probe.Watch, t part) { wantText(w, t, "description", "mimeType") }),
	},
	{
		Info: probe.Info{
			ID: "templates/rfc6570", Rows: []string{"26.server.resources-012", "2511.server.resources-006"},
			Does:    "Reads each uriTemplate.",
			Accepts: "What RFC 6570 allows.",
			After:   []string{"templates/name-and-template"},
		},
		Needs: []string{"resources"},
		Watch: eachTemplate(func(w *probe.Watch, t part) {
			if _, err := uritemplate.New(t.text("uriTemplate")); err != nil {
				w.Fault(t.m, t.at+"/uriTemplate", "it is no URI template: %v", err)
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "templates/mime-type-of-all", Rows: []string{"26.schema-026"},
			Does:    "Reads resources of templates for which the server suggests values, and compares the MIME types.",
			Accepts: "Contents with the MIME type of their template.",
		},
		Needs: []string{needsStateless, "resources"},
		Watch: watchTemplateTypes,
	},
}

// eachTemplate looks at the resource templates.
func eachTemplate(look func(*probe.Watch, part)) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		each(entriesOf(templateList), look)(x, w)
		w.Nothing(probe.NotApplicable("the server lists no resource templates"))
	}
}

// sameForAll is the finding for both: lists do not vary by connection, nor by
// what was asked before on it.
func (x *X) sameForAll(l listing) probe.Finding {
	elsewhere, afterward := x.sameElsewhere(l), x.sameAfterward(l)
	if elsewhere.Outcome == verdict.Fail || afterward.Outcome == verdict.Pass {
		return elsewhere
	}
	return afterward
}

func watchTemplateTypes(x *X, w *probe.Watch) {
	types := map[string]part{} // by the URI that a template gave
	for _, t := range x.entries(templateList) {
		if uri, ok := x.expand(t.text("uriTemplate")); ok && t.isText("mimeType") {
			types[uri] = t
		}
	}
	for _, c := range x.contents() {
		t, ok := types[c.text("uri")]
		if !ok || !c.isText("mimeType") {
			continue
		}
		w.Saw(c.m)
		if c.text("mimeType") != t.text("mimeType") {
			w.FaultOf([]probe.Blame{{Message: c.m, Pointer: c.at + "/mimeType"}, {Message: t.m, Pointer: t.at + "/mimeType"}},
				"the template promises %s, and a resource of it is %s", t.text("mimeType"), c.text("mimeType"))
		}
	}
	w.Nothing(probe.Unverified("no resource of a template with a mimeType could be read: give values with --examples FILE"))
}
