package clientprobe

import (
	"fmt"
	"maps"
	"net/http"
	"time"
)

const (
	scenarioOddPages   = "odd-pages"
	scenarioLostCursor = "lost-cursor"
	scenarioLostList   = "lost-list"
	scenarioFresh      = "fresh"
	scenarioStale      = "stale"
)

// listScenarios are servers whose lists are unusual.
var listScenarios = []Scenario{
	{
		Name: scenarioOddPages, Does: "Has pages of different sizes, an empty one among them, and cursors that look odd or come twice.",
		Do: "Connect; list all tools, resources, templates and prompts.",
		On: map[string]func(*Turn) bool{
			"tools/list":               func(t *Turn) bool { return t.oddPage("tools", tools(t.Stage)) },
			"resources/list":           func(t *Turn) bool { return t.oddPage("resources", resources(t.Stage)) },
			"resources/templates/list": func(t *Turn) bool { return t.oddPage("resourceTemplates", templates(t.Stage)) },
			"prompts/list":             func(t *Turn) bool { return t.oddPage("prompts", prompts(t.Stage)) },
		},
	},
	{
		Name: scenarioLostCursor, Does: "Refuses the cursor of the second page of tools, once.",
		Do: "Connect, and list all tools.", Needs: []string{needsStateless},
		On: map[string]func(*Turn) bool{"tools/list": func(t *Turn) bool {
			if t.Params["cursor"] == nil || t.Count("lost") > 0 {
				return false
			}
			t.Mark("refused", t.Request)
			t.Error(-32602, "Invalid params: the cursor is no longer valid", nil)
			return true
		}},
	},
	{
		Name: scenarioLostList, Does: "Forgets the session in the middle of the list of tools.",
		Do: "Connect, and list all tools; if that fails, list them again.", Needs: []string{needsHTTP, needsSession},
		On: map[string]func(*Turn) bool{
			"initialize": func(*Turn) bool { return false },
			"tools/list": func(t *Turn) bool {
				cursor, _ := t.Params["cursor"].(string)
				switch {
				case t.Params["cursor"] == nil:
					t.Result(object{"tools": tools(t.Stage)[:2], "nextCursor": "of-" + t.Session})
				case t.Count("forgotten") == 0:
					t.forget()
				case cursor == "of-"+t.Session:
					t.Result(object{"tools": tools(t.Stage)[2:]})
				default:
					t.Error(-32602, "Invalid params: no such cursor", nil)
				}
				return true
			},
		},
	},
	{
		Name: scenarioFresh, Does: "Lets the client keep lists and resources for an hour.",
		Do: "Do the same as in the first scenario.", Needs: []string{needsStateless},
		Result: func(t *Turn, result object) object { return withTTL(result, 3_600_000) },
	},
	{
		Name: scenarioStale, Does: "Says nothing, nonsense or very little of how long lists may be kept, and lets the client keep a resource that took two rounds.",
		Do: "Do the same as in the first scenario.", Needs: []string{needsStateless},
		Result: func(t *Turn, result object) object {
			switch t.Request.Method {
			case "tools/list":
				return withTTL(result, nil)
			case "prompts/list":
				return withTTL(result, -5)
			case "resources/list":
				return withTTL(result, 1)
			case "resources/read":
				return withTTL(result, 3_600_000)
			}
			return result
		},
		On: map[string]func(*Turn) bool{
			"resources/read": func(t *Turn) bool { return t.inquire([]round{{state: new("read")}}) },
			"tools/list":     func(t *Turn) bool { return !t.Pause(5 * time.Millisecond) }, // more than what may be kept
			"prompts/list":   func(t *Turn) bool { return !t.Pause(5 * time.Millisecond) },
		},
	},
}

// withTTL returns a result that may be kept for some milliseconds; nil says
// nothing of it.
func withTTL(result object, ttl any) object {
	if _, ok := result["ttlMs"]; !ok {
		return result
	}
	result = maps.Clone(result)
	result["ttlMs"] = ttl
	if ttl == nil {
		delete(result, "ttlMs")
	}
	return result
}

// forget ends the session, and tells the client so.
func (t *Turn) forget() {
	t.lmu.Lock()
	t.over = true
	t.lmu.Unlock()
	t.Mark("forgotten", t.Request)
	t.answered = true
	t.visit.Respond(http.StatusNotFound, nil, []byte("there is no such session"), false)
}

// oddPage answers with one of four pages: one entry, none, some, and the rest. The
// cursors of the last two are the same.
//
// Spec: 2026-07-28 server/utilities/pagination#implementation-guidelines.
func (t *Turn) oddPage(member string, all list) bool {
	first, again := fmt.Sprintf("ü \"%%20\\/?&=\" <%d>", t.Number), fmt.Sprintf("same-%d", t.Number)
	if t.Facts.EmptyCursors {
		first = ""
	}
	at := fmt.Sprintf("pages of %s %d ", member, t.Number)
	cursor, has := t.Params["cursor"]
	switch {
	case !has && t.Count(at+"begun") >= mostLists:
		t.Result(object{member: all}) // it asks for the beginning for ever
	case !has:
		t.Result(object{member: all[:1], "nextCursor": first})
	case cursor == first:
		t.Result(object{member: list{}, "nextCursor": again})
	case cursor == again && t.Count(fmt.Sprint(at, t.counted(at+"begun"))) == 0:
		t.Result(object{member: all[1:max(1, len(all)-1)], "nextCursor": again})
	case cursor == again:
		t.Result(object{member: all[max(1, len(all)-1):]})
	default:
		t.Error(-32602, "Invalid params: no such cursor", nil)
	}
	return true
}

// mostLists is how often a list is begun with odd pages.
const mostLists = 8
