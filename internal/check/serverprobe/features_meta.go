package serverprobe

import (
	"regexp"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

// What the page basic/index says of _meta, and what it follows for extensions.
var featuresMeta = []Probe{
	{
		Info: probe.Info{
			ID: "meta/odd-values", Rows: []string{"26.basic.index-051", "2511.basic-033"},
			Does:    "Asks for a list with a reserved key in _meta that has no meaning, and with an odd value.",
			Accepts: "The list.",
		},
		Run: func(x *X) probe.Finding {
			for _, l := range lists() {
				if len(x.results(l.method)) > 0 {
					return wantResult(x.Call(l.method, map[string]any{"_meta": map[string]any{"io.modelcontextprotocol/parley-check": []any{1, map[string]any{"a": nil}}}}))
				}
			}
			return probe.Unverified("the server gave no list")
		},
	},
	{
		Info: probe.Info{
			ID: "meta/prefix", Rows: []string{"26.basic.index-052", "2511.basic-034"},
			Does:    "Looks at the prefixes of all keys in _meta.",
			Accepts: "Labels, divided by dots, before a slash; or no prefix.",
		},
		Watch: eachMetaKey(func(w *probe.Watch, k metaKey) {
			if k.prefixed && slices.Contains(k.labels, "") {
				k.fault(w, "the prefix has an empty label")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "meta/labels", Rows: []string{"26.basic.index-053", "2511.basic-035"},
			Does:    "Looks at the labels of the prefixes of all keys in _meta.",
			Accepts: "A letter, then letters, digits and hyphens, and a letter or digit at the end.",
		},
		Watch: eachMetaKey(func(w *probe.Watch, k metaKey) {
			for _, label := range k.labels {
				if label != "" && !metaLabel.MatchString(label) {
					k.fault(w, "%q is no label", label)
				}
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "meta/name", Rows: []string{"26.basic.index-056", "2511.basic-038"},
			Does:    "Looks at the names of all keys in _meta, behind their prefixes.",
			Accepts: "Letters, digits, hyphens, underscores and dots, with a letter or digit at both ends; or nothing.",
		},
		Watch: eachMetaKey(func(w *probe.Watch, k metaKey) {
			if k.name != "" && !metaName.MatchString(k.name) {
				k.fault(w, "%q is no name", k.name)
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "meta/reverse-dns", Rows: []string{"26.basic.index-054", "2511.basic-036"},
			Does:    "Looks for prefixes in _meta that end with a top-level domain.",
			Accepts: "Prefixes that begin with it, such as com.example/.",
		},
		Watch: eachMetaKey(func(w *probe.Watch, k metaKey) {
			if n := len(k.labels); n > 1 && isTopLevel(k.labels[n-1]) && !isTopLevel(k.labels[0]) {
				k.fault(w, "the prefix is a domain name that was not reversed")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "meta/reserved", Rows: []string{"26.basic.index-055", "2511.basic-037", "2506.basic-001"},
			Does:    "Looks for keys in _meta whose prefix is reserved for MCP.",
			Accepts: "io.modelcontextprotocol/, under which extensions have theirs, and none other.",
		},
		Watch: func(x *X, w *probe.Watch) {
			eachMetaKey(func(w *probe.Watch, k metaKey) {
				if x.reserves(k.labels) {
					k.fault(w, "the prefix is reserved for MCP")
				}
			})(x, w)
		},
	},
	{
		Info: probe.Info{
			ID: "meta/trace-context", Rows: []string{"26.basic.index-072"},
			Does:    "Looks at traceparent and tracestate in _meta.",
			Accepts: "The forms of W3C Trace Context.",
		},
		Watch: eachTrace([]string{"traceparent", "tracestate"}, func(name, value string) bool {
			if name == "traceparent" {
				return traceParent.MatchString(value) && !strings.Contains(value, "-00000000000000000000000000000000-") && !strings.Contains(value, "-0000000000000000-")
			}
			return traceState.MatchString(value)
		}),
	},
	{
		Info: probe.Info{
			ID: "meta/baggage", Rows: []string{"26.basic.index-073"},
			Does:    "Looks at baggage in _meta.",
			Accepts: "The form of W3C Baggage.",
		},
		Watch: eachTrace([]string{"baggage"}, func(_, value string) bool { return baggage.MatchString(value) }),
	},
	{
		Info: probe.Info{
			ID: "features/extensions", Rows: []string{"26.schema-030"},
			Does:    "Looks at the extensions that the server declares.",
			Accepts: "Names with a prefix, and objects.",
		},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			extensions, ok := x.Offer.Capabilities["extensions"]
			if !ok {
				w.Nothing(probe.NotApplicable("the server declares no extensions"))
				return
			}
			w.Saw(x.Greeting)
			members, ok := extensions.(map[string]any)
			if !ok {
				w.Fault(x.Greeting, "/result/capabilities/extensions", "extensions is not an object")
			}
			for name, v := range members {
				if _, ok := v.(map[string]any); !ok || !strings.Contains(strings.Trim(name, "/"), "/") {
					w.Fault(x.Greeting, "/result/capabilities/extensions/"+pointer(name), "the name has no prefix, or the value is not an object")
				}
			}
		},
	},
}

var (
	metaLabel   = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?$`)
	metaName    = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)
	traceParent = regexp.MustCompile(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$`)
	traceState  = regexp.MustCompile(`^[\t ]*([a-z0-9][a-z0-9_*/@-]*=[\x20-\x2b\x2d-\x3c\x3e-\x7e]+[\t ]*)?(,[\t ]*([a-z0-9][a-z0-9_*/@-]*=[\x20-\x2b\x2d-\x3c\x3e-\x7e]+[\t ]*)?)*$`)
	baggage     = regexp.MustCompile("^[\t ]*[!#$%&'*+.^_`|~0-9A-Za-z-]+[\t ]*=[^\\s\",;\\\\]*([\t ]*;[^,]*)?(,[\t ]*[!#$%&'*+.^_`|~0-9A-Za-z-]+[\t ]*=[^\\s\",;\\\\]*([\t ]*;[^,]*)?)*[\t ]*$")
)

// metaKey is a key of a _meta object.
type metaKey struct {
	part

	prefixed bool
	labels   []string // of the prefix
	name     string
}

// eachMetaKey looks at every key of every _meta that came.
func eachMetaKey(look func(*probe.Watch, metaKey)) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		for _, meta := range x.metas() {
			members, _ := meta.v.(map[string]any)
			for key, v := range members {
				k := metaKey{part: part{meta.m, meta.at + "/" + pointer(key), v}, name: key}
				if prefix, name, ok := strings.Cut(key, "/"); ok {
					k.prefixed, k.labels, k.name = true, strings.Split(prefix, "."), name
				}
				w.Saw(meta.m)
				look(w, k)
			}
		}
		w.Nothing(probe.NotApplicable("no message has a key in _meta"))
	}
}

// metas are all _meta objects that came.
func (x *X) metas() []part {
	var all []part
	for _, m := range x.Received(func(m *peer.Message) bool { return m.Batch == nil }) {
		if !x.excused[m] {
			all = append(all, metasIn(part{m, "", m.Value}, nil)...)
		}
	}
	return all
}

// foreignMembers are members whose values are not the protocol's.
var foreignMembers = []string{"structuredContent", "inputSchema", "outputSchema", "requestedSchema", "arguments", "data", "input", "content", "properties"}

func metasIn(p part, all []part) []part {
	if strings.Count(p.at, "/") > 30 {
		return all
	}
	switch v := p.v.(type) {
	case []any:
		for n := range v {
			all = metasIn(part{p.m, p.at + "/" + string(peer.Encode(n)), v[n]}, all)
		}
	case map[string]any:
		for name, member := range v {
			at := part{p.m, p.at + "/" + pointer(name), member}
			list, isList := member.([]any)
			switch {
			case name == "_meta":
				all = append(all, at)
			case name == "content" && (isList && len(list) > 0 || at.isString("type")):
				all = metasIn(at, all)
			case !slices.Contains(foreignMembers, name):
				all = metasIn(at, all)
			}
		}
	}
	return all
}

// topLevels are domains that names in _meta are usually made of.
var topLevels = []string{"com", "org", "net", "io", "dev", "ai", "app", "co", "edu", "gov", "cloud", "tech"}

func isTopLevel(label string) bool { return slices.Contains(topLevels, label) }

// reserves reports whether a prefix is one that nobody but MCP may use, and that
// MCP does not use either.
func (x *X) reserves(labels []string) bool {
	own := func(label string) bool { return label == "modelcontextprotocol" || label == "mcp" }
	if strings.Join(labels, ".") == "io.modelcontextprotocol" {
		return false
	}
	if !x.Facts.Icons { // until 2025-06-18 the label was reserved before any other
		return slices.ContainsFunc(labels[:max(0, len(labels)-1)], own)
	}
	return len(labels) > 1 && own(labels[1])
}

// eachTrace looks at values in _meta that other specifications describe.
func eachTrace(names []string, good func(name, value string) bool) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		for _, meta := range x.metas() {
			for _, name := range names {
				v, ok := meta.member(name)
				if !ok {
					continue
				}
				w.Saw(meta.m)
				if text, isText := v.v.(string); !isText || !good(name, text) {
					v.fault(w, "%s does not have its form", name)
				}
			}
		}
		w.Nothing(probe.NotApplicable("no message has %s in _meta", strings.Join(names, " or ")))
	}
}

// infos are what the server says of itself.
func (x *X) infos() []part {
	var all []part
	for _, m := range x.Received((*peer.Message).IsResult) {
		for _, path := range []string{"result/serverInfo", "result/_meta/" + pointer(mcp.MetaServerInfo)} {
			if v, ok := m.Get(path); ok {
				all = append(all, part{m, "/" + path, v})
			}
		}
	}
	return all
}
