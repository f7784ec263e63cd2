package clientprobe

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

const metaVersion = "meta/protocol-version"

var basicMeta = []Probe{
	{
		Info: probe.Info{
			ID:   metaVersion,
			Rows: []string{"26.basic.index-058", "26.basic.versioning-001", "26.architecture-002", "26.server.tools-001"},
			Does: "Looks for io.modelcontextprotocol/protocolVersion in _meta of each request.", Accepts: "A string.",
			Mend: "Send the version with each request.",
		},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Requests() {
				w.Saw(m)
				if m.Text("params/_meta/"+pointer(mcp.MetaProtocolVersion)) == "" {
					w.Fault(m, "/params/_meta", "the request does not say its protocol version")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "meta/client-capabilities", Rows: []string{"26.basic.index-059", "26.basic.patterns.mrtr-002"},
			Does: "Looks for io.modelcontextprotocol/clientCapabilities in _meta of each request.", Accepts: "An object.",
			Mend: "Send the capabilities with each request, {} if there are none.",
		},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Requests() {
				w.Saw(m)
				if m.Object("params/_meta/"+pointer(mcp.MetaClientCapabilities)) == nil {
					w.Fault(m, "/params/_meta", "the request does not say what the client can do")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "meta/client-info", Rows: []string{"26.basic.index-062"},
			Does: "Looks for io.modelcontextprotocol/clientInfo in _meta of each request.", Accepts: "That it is there.",
		},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Requests() {
				w.Saw(m)
				if _, ok := m.Get("params/_meta/" + pointer(mcp.MetaClientInfo)); !ok {
					w.Fault(m, "/params/_meta", "the request does not say which client sends it")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "meta/client-info-complete", Rows: []string{"26.basic.index-063"},
			Does: "Looks at io.modelcontextprotocol/clientInfo where there is one.", Accepts: "An object with a name and a version.",
		},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			at := "params/_meta/" + pointer(mcp.MetaClientInfo)
			for _, m := range x.Requests() {
				if _, ok := m.Get(at); !ok {
					continue
				}
				w.Saw(m)
				if info := m.Object(at); !isText(info["name"]) || !isText(info["version"]) {
					w.Fault(m, "/"+at, "the client's info lacks its name or its version")
				}
			}
		},
	},
	keyProbe("meta/key-prefix", []string{"26.basic.index-052", "2511.basic-034"},
		"Labels with dots between them, and a slash.", func(_ *X, key string) string {
			if prefix, _, ok := strings.Cut(key, "/"); ok && slices.Contains(strings.Split(prefix, "."), "") {
				return "has an empty label in its prefix"
			}
			return ""
		}),
	keyProbe("meta/key-labels", []string{"26.basic.index-053", "2511.basic-035"},
		"Labels that begin with a letter, end with a letter or digit, and have letters, digits and hyphens between.", func(_ *X, key string) string {
			prefix, _, ok := strings.Cut(key, "/")
			if !ok {
				return ""
			}
			for label := range strings.SplitSeq(prefix, ".") {
				if label != "" && !labelForm.MatchString(label) {
					return "has the label \"" + label + "\""
				}
			}
			return ""
		}),
	keyProbe("meta/key-name", []string{"26.basic.index-056", "2511.basic-038", "26.basic.index-057", "2511.basic-039"},
		"Names that begin and end with a letter or digit and have only these, hyphens, underscores and dots between; or none.", func(_ *X, key string) string {
			_, name, ok := strings.Cut(key, "/")
			if !ok {
				name = key
			}
			if name != "" && !nameForm.MatchString(name) {
				return "has the name \"" + name + "\""
			}
			return ""
		}),
	keyProbe("meta/key-reserved", []string{"26.basic.index-055", "2511.basic-037", "2506.basic-001"},
		"No prefix that is reserved for the protocol, but on keys that it defines.", reservedKey),
	keyProbe("meta/key-reverse-dns", []string{"26.basic.index-054", "2511.basic-036"},
		"Prefixes that begin with a top-level domain, as com.example/ does.", func(_ *X, key string) string {
			prefix, _, ok := strings.Cut(key, "/")
			labels := strings.Split(prefix, ".")
			if ok && len(labels) > 1 && slices.Contains(domains, labels[len(labels)-1]) && !slices.Contains(domains, labels[0]) {
				return "has a prefix that is not in reverse DNS notation"
			}
			return ""
		}),
	{
		Info: probe.Info{
			ID: "meta/trace-context", Rows: []string{"26.basic.index-072"},
			Does: "Looks at traceparent and tracestate in _meta.", Accepts: "The forms of W3C Trace Context.",
		},
		Watch: func(x *X, w *probe.Watch) {
			watchMeta(x, w, mcp.MetaTraceParent, func(s string) bool {
				return traceForm.MatchString(s) && !strings.Contains(s, strings.Repeat("0", 32)) && !strings.Contains(s, "-"+strings.Repeat("0", 16)+"-")
			})
			watchMeta(x, w, mcp.MetaTraceState, listForm.MatchString)
		},
	},
	{
		Info: probe.Info{
			ID: "meta/baggage", Rows: []string{"26.basic.index-073"},
			Does: "Looks at baggage in _meta.", Accepts: "The form of W3C Baggage.",
		},
		Watch: func(x *X, w *probe.Watch) { watchMeta(x, w, mcp.MetaBaggage, listForm.MatchString) },
	},
	{
		Info: probe.Info{
			ID: "meta/extension-names", Rows: []string{"26.basic.versioning-009"},
			Does: "Looks at the names of the extensions that the client declares.", Accepts: "A prefix and a name, in the form of keys of _meta.",
		},
		Watch: func(x *X, w *probe.Watch) {
			x.extensions(func(m *peer.Message, name string, _ any) {
				w.Saw(m)
				prefix, short, ok := strings.Cut(name, "/")
				for label := range strings.SplitSeq(prefix, ".") {
					ok = ok && labelForm.MatchString(label)
				}
				if !ok || short != "" && !nameForm.MatchString(short) {
					w.Fault(m, "", "the extension %q is not named as a key of _meta with a prefix", name)
				}
			})
		},
	},
	{
		Info: probe.Info{
			ID: "meta/extension-settings", Rows: []string{"26.basic.versioning-010"},
			Does: "Looks at the settings of the extensions that the client declares.", Accepts: "Objects.",
		},
		Watch: func(x *X, w *probe.Watch) {
			x.extensions(func(m *peer.Message, name string, settings any) {
				w.Saw(m)
				if _, ok := settings.(object); !ok {
					w.Fault(m, "", "the settings of the extension %s are no object", name)
				}
			})
		},
	},
}

var (
	labelForm = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?$`)
	nameForm  = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)
	traceForm = regexp.MustCompile(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)
	listForm  = regexp.MustCompile(`^\s*([^=,;\s"]+\s*=[^,]*)?(,\s*([^=,;\s"]+\s*=[^,]*)?)*$`)
	domains   = []string{"com", "org", "net", "io", "dev", "app", "ai", "edu", "gov", "co"}
)

// reservedKey knows the keys under prefixes of the protocol that it does not
// define. Which prefixes those are depends on the revision.
//
// Spec: 2026-07-28 basic#_meta. Spec: 2025-06-18 basic#_meta.
func reservedKey(x *X, key string) string {
	prefix, _, ok := strings.Cut(key, "/")
	labels := strings.Split(prefix, ".")
	reserved := len(labels) > 1 && isProtocol(labels[1])
	if !x.Facts.Icons {
		reserved = slices.ContainsFunc(labels[:len(labels)-1], isProtocol)
	}
	if !ok || !reserved || prefix == "io.modelcontextprotocol" {
		return "" // what that prefix has is defined by extensions, too, which are not all known here
	}
	return "is under a prefix that is reserved for the protocol, which does not define it"
}

func isProtocol(label string) bool { return label == "modelcontextprotocol" || label == "mcp" }

func isText(v any) bool {
	s, ok := v.(string)
	return ok && s != ""
}

// keyProbe judges the keys of _meta. fault says what is wrong with a key, or "".
func keyProbe(id string, rows []string, accepts string, fault func(*X, string) string) Probe {
	return Probe{
		Info: probe.Info{ID: id, Rows: rows, Does: "Looks at the keys of _meta.", Accepts: accepts},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received(nil) {
				for at, meta := range metas(m) {
					for _, key := range slices.Sorted(maps.Keys(meta)) {
						w.Saw(m)
						if wrong := fault(x, key); wrong != "" {
							w.Fault(m, "/"+at+"/"+pointer(key), "the key %q %s", key, wrong)
						}
					}
				}
			}
		},
	}
}

// metas are the _meta objects of a message, by their places. What a user's
// arguments have is not the protocol's.
func metas(m *peer.Message) map[string]object {
	all := map[string]object{}
	for _, at := range []string{"params/_meta", "result/_meta", "result/content/_meta", "result/roots/0/_meta"} {
		if meta := m.Object(at); meta != nil {
			all[at] = meta
		}
	}
	return all
}

func watchMeta(x *X, w *probe.Watch, key string, fits func(string) bool) {
	for _, m := range x.Received(nil) {
		v, ok := m.Get("params/_meta/" + key)
		if !ok {
			continue
		}
		w.Saw(m)
		if text, ok := v.(string); !ok || !fits(text) {
			w.Fault(m, "/params/_meta/"+key, "%s does not have the form that W3C gives it", key)
		}
	}
}

// extensions calls each with the extensions that the client declares.
func (x *X) extensions(each func(m *peer.Message, name string, settings any)) {
	for _, m := range x.Requests() {
		for name, settings := range m.Object("params/_meta/" + pointer(mcp.MetaClientCapabilities) + "/extensions") {
			each(m, name, settings)
		}
	}
}
