package serverprobe

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

// meta judges _meta: what it must have, may have, and how its keys are made.
var meta = []Probe{
	ofMetaKeys("meta/prefix", []string{"26.basic.index-052", "2511.basic-034"}, "A prefix is labels with dots in between, and then one slash.", faultPrefix),
	ofMetaKeys("meta/labels", []string{"26.basic.index-053", "2511.basic-035"}, "Labels begin with a letter, end with a letter or digit, and have hyphens in between at most.", faultLabel),
	ofMetaKeys("meta/name", []string{"26.basic.index-056", "2511.basic-038"}, "A name begins and ends with a letter or digit, unless it is empty.", faultName),
	ofMetaKeys("meta/reverse-dns", []string{"26.basic.index-054", "2511.basic-036"}, "A prefix of two labels at least, the first one a top-level domain.", faultDNS),
	{
		Info: probe.Info{
			ID: "meta/reserved", Rows: []string{"26.basic.index-055", "2511.basic-037", "2506.basic-001"},
			Does:    "Looks for keys of _meta with a prefix that is reserved for MCP.",
			Accepts: "Keys that the specification or one of its extensions defines.",
			Mend:    "Use a prefix of your own domain.",
		},
		Watch: func(x *X, w *probe.Watch) {
			x.eachMetaKey(w, func(m *peer.Message, at, key string) {
				prefix, _, ok := strings.Cut(key, "/")
				if ok && metaKeyFault(key) == "" && x.isReserved(strings.Split(prefix, ".")) && !isDefinedKey(key) {
					w.Fault(m, at, "%q has a prefix that is reserved, and is not defined", key)
				}
			})
		},
	},
	{
		Info: probe.Info{
			ID: "meta/odd-values", Rows: []string{"26.basic.index-051", "2511.basic-033"},
			Does:    "Sends a request with reserved keys in _meta that have odd values.",
			Accepts: "A result, as without them.",
			Mend:    "Ignore what you do not understand in _meta.",
		},
		Run: func(x *X) probe.Finding {
			return x.withMeta(map[string]any{"traceparent": "odd", "io.modelcontextprotocol/parley-unknown": map[string]any{"odd": []any{1, nil}}})
		},
	},
	{
		Info: probe.Info{
			ID: "meta/trace-context", Rows: []string{"26.basic.index-072"},
			Does:    "Looks at traceparent and tracestate in _meta of all that the server sends.",
			Accepts: "Values as in W3C Trace Context.",
		},
		Watch: func(x *X, w *probe.Watch) {
			x.eachTrace(w, "traceparent", traceparent)
			x.eachTrace(w, "tracestate", tracestate)
		},
	},
	{
		Info: probe.Info{
			ID: "meta/baggage", Rows: []string{"26.basic.index-073"},
			Does:    "Looks at baggage in _meta of all that the server sends.",
			Accepts: "Values as in W3C Baggage.",
		},
		Watch: func(x *X, w *probe.Watch) { x.eachTrace(w, "baggage", baggage) },
	},
	{
		Info: probe.Info{
			ID: "meta/required", Rows: []string{"26.basic.index-060"},
			Does:    "Sends requests without the version, and without the capabilities of the client, in _meta.",
			Accepts: "The error -32602; without the version also -32020 over HTTP, and any error of a server that has sessions as well.",
			Mend:    "Refuse such requests with the error -32602.",
		},
		Needs: []string{needsStateless},
		Run: func(x *X) probe.Finding {
			codes := []int{codeInvalidParams}
			if x.Transport == needsHTTP {
				codes = append(codes, codeHeaderMismatch)
			}
			f := wantError(x.without(mcp.MetaProtocolVersion), codes...)
			if x.greetsOld() {
				f = wantRefusal(x.without(mcp.MetaProtocolVersion))
			}
			if f.Outcome != "pass" {
				return f
			}
			return wantError(x.without(mcp.MetaClientCapabilities), codeInvalidParams)
		},
	},
	{
		Info: probe.Info{
			ID: "meta/no-subscription", Rows: []string{"26.schema-020"},
			Does:    "Looks at _meta of notifications of progress and of log messages.",
			Accepts: "No subscriptionId, which is for subscriptions.",
		},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received((*peer.Message).IsNotification) {
				if m.Method != mcp.NoteProgress && m.Method != mcp.NoteMessage {
					continue
				}
				w.Saw(m)
				if _, ok := m.Get("params/_meta/" + pointer(mcp.MetaSubscriptionID)); ok {
					w.Fault(m, "/params/_meta", "the notification belongs to a request, and not to a subscription")
				}
			}
			w.Nothing(probe.NotApplicable("the server sent neither progress nor log messages"))
		},
	},
}

var (
	label       = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?$`)
	name        = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?$`)
	traceparent = regexp.MustCompile(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$`)
	tracestate  = regexp.MustCompile(`^\s*([a-z0-9][a-z0-9_@*/-]*=[\x20-\x2b\x2d-\x3c\x3e-\x7e]*\s*(,\s*|$))*$`)
	baggage     = regexp.MustCompile(`^\s*[^\s=,;]+\s*=[^,]*(,\s*[^\s=,;]+\s*=[^,]*)*$`)
)

// metaKeyFault says what is wrong with a key of _meta, or "".
func metaKeyFault(key string) string {
	for _, fault := range []func(string) string{faultPrefix, faultLabel, faultName} {
		if why := fault(key); why != "" {
			return why
		}
	}
	return ""
}

func faultPrefix(key string) string {
	prefix, rest, ok := strings.Cut(key, "/")
	if ok && (prefix == "" || strings.Contains(rest, "/") || slices.Contains(strings.Split(prefix, "."), "")) {
		return "has a prefix that is not labels, dots and one slash"
	}
	return ""
}

func faultLabel(key string) string {
	prefix, _, ok := strings.Cut(key, "/")
	if !ok || faultPrefix(key) != "" {
		return ""
	}
	for l := range strings.SplitSeq(prefix, ".") {
		if !label.MatchString(l) {
			return "has the label " + l + ", which does not begin with a letter and end with a letter or digit"
		}
	}
	return ""
}

func faultName(key string) string {
	at := strings.LastIndex(key, "/") + 1
	if name.MatchString(key[at:]) {
		return ""
	}
	return "has a name that does not begin and end with a letter or digit, or that has other signs than - _ . in between"
}

func faultDNS(key string) string {
	prefix, _, ok := strings.Cut(key, "/")
	if !ok || faultPrefix(key)+faultLabel(key) != "" {
		return ""
	}
	if strings.Contains(prefix, ".") {
		return ""
	}
	return "has a prefix that is no reversed domain"
}

// ofMetaKeys is a probe that looks at the keys of _meta in all messages.
func ofMetaKeys(id string, rows []string, accepts string, fault func(key string) string) Probe {
	return Probe{
		Info: probe.Info{ID: id, Rows: rows, Does: "Looks at the keys of _meta in all that the server sends.", Accepts: accepts},
		Watch: func(x *X, w *probe.Watch) {
			x.eachMetaKey(w, func(m *peer.Message, at, key string) {
				if why := fault(key); why != "" {
					w.Fault(m, at, "the key %q %s", key, why)
				}
			})
		},
	}
}

// eachMetaKey calls look for each key of each _meta that the server sent.
func (x *X) eachMetaKey(w *probe.Watch, look func(m *peer.Message, at, key string)) {
	x.eachMeta(func(m *peer.Message, at string, values map[string]any) {
		for key := range values {
			w.Saw(m)
			look(m, at+"/"+pointer(key), key)
		}
	})
	w.Nothing(probe.NotApplicable("the server sent no _meta"))
}

// opaque are members whose content is not of the protocol.
var opaque = []string{
	"structuredContent", "inputSchema", "outputSchema", "requestedSchema", "arguments", "data", "experimental", "extensions", "metadata", "input",
}

// eachMeta calls look for each _meta that the server sent.
func (x *X) eachMeta(look func(m *peer.Message, at string, values map[string]any)) {
	for _, m := range x.Received(func(m *peer.Message) bool { return m.Items == nil }) {
		walk(m.Value, "", func(at, name string, v any) bool {
			if values, ok := v.(map[string]any); ok && name == "_meta" {
				look(m, at, values)
				return false
			}
			return !slices.Contains(opaque, name)
		})
	}
}

// walk calls visit for all members of objects below a value, and goes into those
// for which it reports true.
func walk(v any, at string, visit func(at, name string, v any) bool) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			if path := at + "/" + pointer(name); visit(path, name, inner) {
				walk(inner, path, visit)
			}
		}
	case []any:
		for n, inner := range v {
			walk(inner, at+"/"+string(peer.Encode(n)), visit)
		}
	}
}

// isReserved reports whether a prefix is left to MCP in the revision.
//
// Spec: 2026-07-28 basic/index#meta; 2025-06-18 basic/index#meta.
func (x *X) isReserved(labels []string) bool {
	isOurs := func(l string) bool { return l == "modelcontextprotocol" || l == "mcp" }
	if x.Facts.ElicitURL {
		return len(labels) > 1 && isOurs(labels[1])
	}
	return slices.ContainsFunc(labels[:len(labels)-1], isOurs)
}

// isDefinedKey reports whether a specification has the key: this one, or that of
// an extension, which are not all known here.
func isDefinedKey(key string) bool {
	prefix, name, _ := strings.Cut(key, "/")
	if prefix != "io.modelcontextprotocol" {
		return false
	}
	return slices.Contains([]string{
		"protocolVersion", "clientInfo", "clientCapabilities", "serverInfo", "logLevel", "subscriptionId", "related-task", "model-immediate-response",
	}, name) || strings.HasPrefix(name, "ui") || strings.HasPrefix(name, "tasks") || strings.HasPrefix(name, "skills")
}

// eachTrace looks at a value of OpenTelemetry in _meta.
func (x *X) eachTrace(w *probe.Watch, key string, form *regexp.Regexp) {
	x.eachMeta(func(m *peer.Message, at string, values map[string]any) {
		v, ok := values[key]
		if !ok {
			return
		}
		w.Saw(m)
		if s, isText := v.(string); !isText || !form.MatchString(s) {
			w.Fault(m, at+"/"+key, "%s has another form than W3C gives it", key)
		}
	})
	w.Nothing(probe.NotApplicable("the server sends no trace context"))
}

// withMeta sends a request that succeeds without more in its _meta.
func (x *X) withMeta(more map[string]any) probe.Finding {
	m := x.harmless()
	method := x.listed()
	if method != "" {
		m = x.Request(method, map[string]any{})
	}
	params, _ := m["params"].(map[string]any)
	if params == nil {
		params = map[string]any{}
	}
	values, _ := params["_meta"].(map[string]any)
	if values == nil {
		values = map[string]any{}
	}
	maps.Copy(values, more)
	params["_meta"] = values
	m["params"] = params
	r := x.Do(m)
	if r.Response != nil && r.Response.IsError() && method != "" {
		if plain := x.Call(method, nil); plain.Response == nil || !plain.Response.IsResult() {
			return probe.Unverified("%s fails without it as well", method)
		}
	}
	return wantResult(r)
}

// without sends a request that lacks a member of _meta. The headers have it.
func (x *X) without(key string) *peer.Reply {
	m := x.harmless()
	params, _ := m["params"].(map[string]any)
	values, _ := params["_meta"].(map[string]any)
	delete(values, key)
	return x.Main.Do(x.Ctx, peer.Frame(m).With("MCP-Protocol-Version", x.Revision))
}
