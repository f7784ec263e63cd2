package serverprobe

import (
	"slices"

	"github.com/parley-mcp/parley/internal/check/probe"
)

var serverPromptsContent = []Probe{
	{
		Info: probe.Info{
			ID: "prompts/types-of-content", Rows: []string{"2503.server.prompts-001"},
			Does:    "Looks at the types of content in messages of prompts.",
			Accepts: "text, image, audio or resource.",
		},
		Needs: []string{"prompts"},
		Watch: each((*X).blocksOfPrompts, func(w *probe.Watch, b part) {
			if b.isString("type") && !slices.Contains([]string{"text", "image", "audio", "resource"}, b.text("type")) {
				b.fault(w, "the content is of no type that the revision has")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "prompts/images", Rows: []string{"26.server.prompts-012", "2511.server.prompts-005"},
			Does:    "Decodes the images in messages of prompts.",
			Accepts: "Base64, and a MIME type.",
		},
		Needs: []string{"prompts"},
		Watch: mediaOfPrompts("image"),
	},
	{
		Info: probe.Info{
			ID: "prompts/audio", Rows: []string{"26.server.prompts-013", "2511.server.prompts-006"},
			Does:    "Decodes the sounds in messages of prompts.",
			Accepts: "Base64, and a MIME type.",
		},
		Needs: []string{"prompts"},
		Watch: mediaOfPrompts("audio"),
	},
	{
		Info: probe.Info{
			ID: "prompts/embedded-uri", Rows: []string{"26.server.prompts-015", "2511.server.prompts-007"},
			Does:    "Looks at the URIs of resources that messages embed.",
			Accepts: "URIs of RFC 3986.",
		},
		Needs: []string{"prompts"},
		Watch: eachEmbedded(func(w *probe.Watch, r part) {
			if why := notURI(r.text("uri")); why != "" {
				w.Fault(r.m, r.at+"/uri", "the resource has no valid URI: %s", why)
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "prompts/embedded-mime-type", Rows: []string{"26.server.prompts-016", "2511.server.prompts-008"},
			Does:    "Looks at the MIME types of resources that messages embed.",
			Accepts: "A MIME type, which is no binary one for text.",
		},
		Needs: []string{"prompts"},
		Watch: eachEmbedded(func(w *probe.Watch, r part) {
			kind := r.text("mimeType")
			if notMediaType(kind) || r.isString("text") && binaryTypes.MatchString(kind) {
				w.Fault(r.m, r.at+"/mimeType", "the resource has no MIME type, or not the one of its data")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "prompts/embedded-data", Rows: []string{"26.server.prompts-017", "2511.server.prompts-009"},
			Does:    "Looks at the data of resources that messages embed.",
			Accepts: "text, or base64 in blob.",
		},
		Needs: []string{"prompts"},
		Watch: eachEmbedded(func(w *probe.Watch, r part) {
			if !r.isString("text") && (!r.isString("blob") || notBase64(r.text("blob"))) {
				r.fault(w, "the resource has neither text nor base64 in blob")
			}
		}),
	},
}

// mediaOfPrompts looks at data and MIME type of blocks of a type.
func mediaOfPrompts(kind string) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		for _, b := range ofType(x.blocksOfPrompts(), kind) {
			w.Saw(b.m)
			if !b.isString("data") || notBase64(b.text("data")) {
				w.Fault(b.m, b.at+"/data", "the data is not base64")
			}
			if notMediaType(b.text("mimeType")) {
				w.Fault(b.m, b.at+"/mimeType", "it has no MIME type")
			}
		}
		w.Nothing(probe.NotApplicable("no prompt has content of the type %s", kind))
	}
}

// eachEmbedded looks at the resources that messages of prompts embed.
func eachEmbedded(look func(*probe.Watch, part)) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		for _, r := range embedded(x.blocksOfPrompts()) {
			w.Saw(r.m)
			look(w, r)
		}
		w.Nothing(probe.NotApplicable("no prompt embeds a resource"))
	}
}
