package serverprobe

import (
	"regexp"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

// icons judges icons, wherever they are.
var icons = []Probe{
	ofIcons("icons/src", []string{"26.basic.index-084", "2511.basic-052"}, "src", "A URL with http or https, or a data URI with base64.",
		func(icon map[string]any) string {
			src, _ := icon["src"].(string)
			switch lower := strings.ToLower(src); {
			case strings.HasPrefix(lower, "http://"), strings.HasPrefix(lower, "https://"), strings.HasPrefix(lower, "data:") && strings.Contains(lower, ";base64,"):
				return ""
			default:
				return "src is neither a URL with http or https nor a data URI with base64"
			}
		}),
	ofIcons("icons/sizes", []string{"26.schema-014", "2511.basic-053"}, "sizes and theme", `Sizes like 48x48, or "any"; the themes "light" and "dark".`,
		func(icon map[string]any) string {
			if theme, ok := icon["theme"]; ok && theme != "light" && theme != "dark" {
				return `the theme is neither "light" nor "dark"`
			}
			sizes, ok := icon["sizes"]
			if !ok {
				return ""
			}
			list, isList := sizes.([]any)
			if !isList {
				return "sizes is not an array"
			}
			for _, v := range list {
				if s, _ := v.(string); !iconSize.MatchString(s) {
					return `a size is neither of the form WxH nor "any"`
				}
			}
			return ""
		}),
}

var iconSize = regexp.MustCompile(`^(any|[0-9]+[xX][0-9]+)$`)

func ofIcons(id string, rows []string, what, accepts string, fault func(map[string]any) string) Probe {
	return Probe{
		Info: probe.Info{ID: id, Rows: rows, Does: "Looks at " + what + " of all icons.", Accepts: accepts},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received(func(m *peer.Message) bool { return m.Items == nil }) {
				walk(m.Value, "", func(at, name string, v any) bool {
					list, _ := v.([]any)
					if name != "icons" {
						list = nil
					}
					for n, v := range list {
						icon, _ := v.(map[string]any)
						w.Saw(m)
						if why := fault(icon); why != "" {
							w.Fault(m, at+"/"+string(peer.Encode(n)), "%s", why)
						}
					}
					return !slices.Contains(opaque, name)
				})
			}
			w.Nothing(probe.NotApplicable("the server has no icons"))
		},
	}
}
