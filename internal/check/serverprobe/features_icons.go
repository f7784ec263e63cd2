package serverprobe

import (
	"regexp"
	"strings"

	"github.com/parley-mcp/parley/internal/check/probe"
)

var featuresIcons = []Probe{
	{
		Info: probe.Info{
			ID: "icons/src", Rows: []string{"26.basic.index-084", "2511.basic-052"},
			Does:    "Looks at the src of each icon.",
			Accepts: "An HTTP or HTTPS URL, or a data: URI with base64.",
		},
		Watch: eachIcon(func(w *probe.Watch, icon part) {
			src := icon.text("src")
			if data, ok := strings.CutPrefix(strings.ToLower(src[:min(len(src), 5)]), "data:"); ok && data == "" {
				head, body, _ := strings.Cut(src, ",")
				if !strings.HasSuffix(strings.ToLower(head), ";base64") || notBase64(body) {
					w.Fault(icon.m, icon.at+"/src", "the data: URI does not have base64")
				}
				return
			}
			if !iconURL.MatchString(src) || notURI(src) != "" {
				w.Fault(icon.m, icon.at+"/src", "the src is no HTTP or HTTPS URL and no data: URI")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "icons/sizes", Rows: []string{"26.schema-014", "2511.basic-053"},
			Does:    "Looks at the sizes of each icon, and at the theme in revisions that have it on their pages.",
			Accepts: `Sizes such as "48x48", or "any"; the themes "light" and "dark".`,
		},
		Watch: func(x *X, w *probe.Watch) {
			eachIcon(func(w *probe.Watch, icon part) {
				if v, ok := icon.get("sizes"); ok && !isArray(v) {
					w.Fault(icon.m, icon.at+"/sizes", "the sizes are not an array")
				}
				for _, size := range icon.items("sizes") {
					if text, _ := size.v.(string); text != "any" && !iconSize.MatchString(text) {
						size.fault(w, "the size is neither WxH nor any")
					}
				}
				if theme, ok := icon.get("theme"); ok && !x.Stateless && theme != "light" && theme != "dark" {
					w.Fault(icon.m, icon.at+"/theme", "the theme is neither light nor dark")
				}
			})(x, w)
		},
	},
}

var (
	iconURL  = regexp.MustCompile(`^(?i)https?://[^/]`)
	iconSize = regexp.MustCompile(`^[1-9][0-9]*[xX][1-9][0-9]*$`)
)

// eachIcon looks at the icons of the server and of all that it lists.
func eachIcon(look func(*probe.Watch, part)) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		holders := append(x.infos(), ofType(x.blocks(), "resource_link")...)
		for _, l := range lists() {
			holders = append(holders, x.entries(l)...)
		}
		for _, h := range holders {
			for _, icon := range h.items("icons") {
				w.Saw(h.m)
				look(w, icon)
			}
		}
		w.Nothing(probe.NotApplicable("the server shows no icons"))
	}
}
