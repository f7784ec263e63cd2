package serverprobe

import (
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

// noSuchURI is a URI that no server has.
const noSuchURI = "parley-check://no-such/resource"

var serverResourcesRead = []Probe{
	{
		Info: probe.Info{
			ID: "resources/read-has-contents", Rows: []string{"26.server.resources-008", "2511.server.resources-004"},
			Does:    "Looks at what reading resources gives.",
			Accepts: "contents, an array of objects with a uri and either text or blob, which are strings.",
		},
		Needs: []string{"resources"},
		Watch: func(x *X, w *probe.Watch) {
			for _, r := range x.results(mcp.MethodReadResource) {
				w.Saw(r.m)
				if v, _ := r.get("contents"); !isArray(v) {
					r.fault(w, "the result has no array contents")
				}
			}
			for _, c := range x.contents() {
				if !c.isString("uri") || !c.isString("text") && !c.isString("blob") {
					c.fault(w, "the contents have no uri, or neither text nor blob that is a string")
				}
			}
			w.Nothing(probe.Unverified("no resource could be read"))
		},
	},
	{
		Info: probe.Info{
			ID: "resources/mime-type-is-string", Rows: []string{"2511.server.resources-027"},
			Does:    "Looks at the mimeType of contents.",
			Accepts: "A string, or none.",
		},
		Needs: []string{"resources"},
		Watch: each((*X).contents, func(w *probe.Watch, c part) { wantText(w, c, "mimeType") }),
	},
	{
		Info: probe.Info{
			ID: "resources/blob-is-base64", Rows: []string{"26.server.resources-018", "26.server.resources-034", "2511.server.resources-023"},
			Does:    "Decodes each blob.",
			Accepts: "Base64 in the standard alphabet, without line breaks.",
		},
		Needs: []string{"resources"},
		Watch: func(x *X, w *probe.Watch) {
			for _, c := range x.contents() {
				if !c.isString("blob") {
					continue
				}
				w.Saw(c.m)
				if notBase64(c.text("blob")) {
					w.Fault(c.m, c.at+"/blob", "the blob is not base64")
				}
			}
			w.Nothing(probe.Unverified("no resource was binary"))
		},
	},
	{
		Info: probe.Info{
			ID: "resources/text-is-text", Rows: []string{"26.server.resources-019", "26.schema-033", "2511.server.resources-011"},
			Does:    "Compares text with the MIME type that it has.",
			Accepts: "Text of any type but those of images, sound, video and archives.",
			Mend:    "Give binary data as blob.",
		},
		Needs: []string{"resources"},
		Watch: func(x *X, w *probe.Watch) {
			for _, c := range x.contents() {
				if !c.isString("text") {
					continue
				}
				w.Saw(c.m)
				if kind := c.text("mimeType"); binaryTypes.MatchString(kind) {
					w.Fault(c.m, c.at+"/text", "data of the type %s is given as text", kind)
				}
			}
			w.Nothing(probe.Unverified("no resource was text"))
		},
	},
	{
		Info: probe.Info{
			ID: "resources/unknown", Rows: []string{"26.server.resources-027", "2511.server.resources-019"},
			Does:    "Reads a resource that does not exist.",
			Accepts: "The error -32602 in 2026-07-28, -32002 before.",
			After:   []string{"resources/unknown-not-empty"},
		},
		Needs: []string{"resources"},
		Run: func(x *X) probe.Finding {
			if x.Stateless {
				return wantError(x.readUnknown(), -32602)
			}
			return wantError(x.readUnknown(), -32002)
		},
	},
	{
		Info: probe.Info{
			ID: "resources/unknown-not-empty", Rows: []string{"26.server.resources-031"},
			Does:    "Reads a resource that does not exist.",
			Accepts: "Anything but a result whose contents are empty.",
		},
		Needs: []string{needsStateless, "resources"},
		Run: func(x *X) probe.Finding {
			r := x.readUnknown()
			switch {
			case r.Response == nil:
				return unanswered(r)
			case complete(r.Response) && len(r.Response.List("result/contents")) == 0:
				return probe.Fail(probe.OfReply(r), "a resource that does not exist has empty contents")
			default:
				return probe.Pass(probe.OfReply(r)...)
			}
		},
	},
	{
		Info: probe.Info{
			ID: "resources/unknown-names-uri", Rows: []string{"26.server.resources-028"},
			Does:    "Reads a resource that does not exist, and looks at the data of the error.",
			Accepts: "data.uri with the URI.",
			After:   []string{"resources/unknown", "resources/unknown-not-empty"},
		},
		Needs: []string{needsStateless, "resources"},
		Run: func(x *X) probe.Finding {
			r := x.readUnknown()
			switch {
			case r.Response == nil:
				return unanswered(r)
			case r.Response.IsError() && r.Response.Text("error/data/uri") != noSuchURI:
				return probe.Fail([]probe.Blame{{Message: r.Sent}, {Message: r.Response, Pointer: "/error/data"}}, "the data of the error does not have the uri")
			default:
				return probe.Pass(probe.OfReply(r)...)
			}
		},
	},
	{
		Info: probe.Info{
			ID: "resources/internal-errors", Rows: []string{"26.server.resources-029", "2511.server.resources-020"},
			Does:    "Looks at errors of reading that say that they are internal ones.",
			Accepts: "The code -32603.",
		},
		Needs: []string{"resources"},
		Watch: internalErrors(mcp.MethodReadResource),
	},
	{
		Info: probe.Info{
			ID: "resources/validates-uris", Rows: []string{"26.server.resources-032", "2511.server.resources-021"},
			Does:    "Reads what is no URI: a word, a broken percent-encoding, a number.",
			Accepts: "Anything but success.",
		},
		Needs: []string{"resources"},
		Run: func(x *X) probe.Finding {
			return refusesAll(x.read("parley check no uri"), x.read("parley-check://%zz"), x.read(42))
		},
	},
	{
		Info: probe.Info{
			ID: "resources/no-traversal", Rows: []string{"26.server.resources-037"},
			Does:    "Reads /etc/hosts by paths that go up from a file:// resource, if the server has any and does not serve that file anyway.",
			Accepts: "Anything but the file.",
			Mend:    "Resolve paths, and refuse what is not below the root.",
		},
		Needs: []string{needsStateless, "resources"},
		Run:   traverse,
	},
}

// read reads a resource.
func (x *X) read(uri any) *peer.Reply {
	return x.Call(mcp.MethodReadResource, map[string]any{"uri": uri})
}

// readUnknown reads a resource that does not exist, once for all probes.
func (x *X) readUnknown() *peer.Reply {
	if x.unknown == nil {
		x.unknown = x.read(noSuchURI)
	}
	return x.unknown
}

// traverse tries to leave the directory of a file:// resource.
func traverse(x *X) probe.Finding {
	base := ""
	for _, r := range append(x.Offer.Resources, x.Offer.Templates...) {
		for _, name := range []string{"uri", "uriTemplate"} {
			if uri, _ := r[name].(string); strings.HasPrefix(uri, "file://") {
				base, _, _ = strings.Cut(uri, "{")
			}
		}
	}
	if base == "" {
		return probe.NotApplicable("the server has no file:// resources")
	}
	if direct := x.read("file:///etc/hosts"); direct.Response == nil || hasHosts(direct) {
		return probe.Unverified("the server gives /etc/hosts to whoever asks for it, or no answer")
	}
	dir := base[:strings.LastIndex(base, "/")+1]
	var seen []probe.Blame
	for _, up := range []string{"../", "%2e%2e/", "..%2f"} {
		r := x.read(dir + strings.Repeat(up, 12) + "etc/hosts")
		if hasHosts(r) {
			return probe.Fail(probe.OfReply(r), "a path that goes up leads to a file that the server does not offer")
		}
		seen = append(seen, probe.Of(r.Sent, r.Response)...)
	}
	return probe.Pass(seen...)
}

// hasHosts reports whether a reply has a file of host names.
func hasHosts(r *peer.Reply) bool {
	if r.Response == nil {
		return false
	}
	for _, v := range r.Response.List("result/contents") {
		text, _ := peer.Get(v, "text")
		if s, _ := text.(string); strings.Contains(s, "localhost") {
			return true
		}
	}
	return false
}
