package clientprobe

import (
	"maps"

	"github.com/parley-mcp/parley/internal/check/peer"
)

// versionScenarios are servers that speak other revisions than the client hopes.
var versionScenarios = []Scenario{
	{
		Name: "unsupported-version", Does: "Refuses the first request because of its version, and names those that it speaks.",
		Do: "Connect, and call a tool.", Needs: []string{needsStateless},
		On: map[string]func(*Turn) bool{"*": func(t *Turn) bool {
			if t.Count("refused") > 0 {
				return false
			}
			t.Mark("refused", t.Request)
			asked := t.Request.Text("params/_meta/" + pointer("io.modelcontextprotocol/protocolVersion"))
			t.Error(-32022, "Unsupported protocol version", object{"supported": list{"2099-01-01", t.Revision}, "requested": asked})
			return true
		}},
	},
	{
		Name: "many-versions", Does: "Speaks versions that the client does not know, too, in no order.",
		Do: "Connect, and call a tool.", Needs: []string{needsStateless},
		Result: func(t *Turn, result object) object {
			if _, ok := result["supportedVersions"]; ok {
				result = maps.Clone(result)
				result["supportedVersions"] = list{"2099-01-01", "1999-12-31", t.Revision, "draft"}
			}
			return result
		},
	},
	{
		Name: "unknown-version", Does: "Answers initialize with a version that does not exist.",
		Do: "Connect.", Needs: []string{needsSession},
		Result: func(t *Turn, result object) object {
			if t.Request.Method == "initialize" {
				result["protocolVersion"] = "1999-12-31"
				t.Mark("greeted", t.Request)
			}
			return result
		},
	},
	{
		Name: "no-result-type", Does: "Leaves resultType out of its results, as older servers do.",
		Do: "Connect; list the tools and call them.", Needs: []string{needsStateless},
		Result: func(t *Turn, result object) object {
			result = maps.Clone(result)
			delete(result, "resultType")
			return result
		},
	},
	{
		Name: "unknown-result-type", Does: "Answers with results of a type that no extension defines.",
		Do: "Connect; list the tools, and call those that are there.", Needs: []string{needsStateless},
		On: map[string]func(*Turn) bool{"tools/list": func(t *Turn) bool {
			if t.Params["cursor"] != nil || t.Count("weird") > 0 {
				return false
			}
			bait := t.tool("bait", "Do nothing", noInput())
			t.Result(object{"resultType": "parley-weird", "tools": list{bait}, "nextCursor": "bait", "ttlMs": 0, "cacheScope": "private"})
			t.Mark("weird", t.Request)
			return true
		}},
	},
}

// legacyScenarios are servers that know only sessions, for clients of both eras.
var legacyScenarios = func() []Scenario {
	var all []Scenario
	for _, kind := range []struct {
		name, does string
		answer     func(*Turn)
	}{
		{"legacy-32601", "answers a request without a session with -32601", func(t *Turn) { t.Refuse(400, -32601, "Method not found", nil) }},
		{"legacy-32000", "answers a request without a session with -32000", func(t *Turn) { t.Refuse(400, -32000, "Bad Request: no session", nil) }},
		{"legacy-32602", "answers a request without a session with -32602", func(t *Turn) { t.Refuse(400, -32602, "Invalid request parameters", nil) }},
	} {
		all = append(all, Scenario{
			Name: kind.name, As: inSessions, Does: "Knows no revision without sessions, and " + kind.does + ".",
			Do: "Connect, and call a tool.", Needs: []string{needsStateless},
			On: map[string]func(*Turn) bool{"*": func(t *Turn) bool {
				if !t.foreign(t.Request) {
					return false
				}
				t.Mark("probed", t.Request)
				kind.answer(t)
				return true
			}},
		})
	}
	return append(all, Scenario{
		Name: legacySilent, As: inSessions, Does: "Knows no revision without sessions, and does not answer a request without one.",
		Do: "Connect, and call a tool.", Needs: []string{needsStateless, needsStdio},
		On: map[string]func(*Turn) bool{"*": func(t *Turn) bool {
			if !t.foreign(t.Request) {
				return false
			}
			t.Mark("probed", t.Request)
			return true
		}},
	}, Scenario{
		Name: "legacy-empty", As: inSessions, Does: "Knows no revision without sessions, and answers with status 400 and nothing else.",
		Do: "Connect, and call a tool.", Needs: []string{needsStateless, needsHTTP},
		On: map[string]func(*Turn) bool{"*": func(t *Turn) bool {
			if !t.foreign(t.Request) {
				return false
			}
			t.Mark("probed", t.Request)
			t.answered = true
			t.visit.Respond(400, nil, nil, false)
			return true
		}},
	}, Scenario{
		Name: "legacy-sse", As: inSessions, Does: "Knows only HTTP+SSE: refuses POSTs at its address, and has a stream there.",
		Do: "Connect, and call a tool.", Needs: []string{needsStateless, needsHTTP}, SSE: true, Visit: onlySSE,
	}, Scenario{
		Name: "unavailable", As: asItself, Does: "Answers the first request with status 503.",
		Do: "Connect, and call a tool; try again if it fails.", Needs: []string{needsStateless, needsHTTP},
		Visit: func(s *Stage, v *peer.Visit) bool {
			if v.Message == nil || s.Count("unavailable") > 0 {
				return false
			}
			s.Mark("refused", v.Message)
			v.Respond(503, nil, []byte("try again later"), false)
			return true
		},
	})
}()
