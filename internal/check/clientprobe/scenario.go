package clientprobe

import (
	"net/http"
	"slices"

	"github.com/parley-mcp/parley/internal/check/peer"
)

// Scenario is what the scripted server does: everything that a good server does,
// with a twist. Probes know scenarios by their names.
type Scenario struct {
	Name string
	// Does says what the server does, and Do what a person at the client has to do
	// for it to show; a sentence each.
	Does, Do string
	// Needs are what the conversation must have, as those of probes.
	Needs []string
	// As is set if only probes that name the scenario are to look at it: inSessions
	// if the server speaks the newest revision with sessions, not the one that is
	// judged, and asItself if it speaks that one.
	As string
	// On has what replaces the good answer to a request, or what happens with a
	// notification, by its method; "*" is for all that have none of their own. A
	// function that returns false leaves it to the good server.
	On map[string]func(*Turn) bool
	// Tool does the same for calls of the tools that are named.
	Tool map[string]func(*Turn) bool
	// Result may change a good result before it is sent.
	Result func(t *Turn, result object) object
	// Send may change each message before it is sent: what it returns takes its
	// place.
	Send func(s *Stage, message object) []object
	// Visit may answer an HTTP request instead of the good server, and reports
	// whether it did. The request has been logged.
	Visit func(*Stage, *peer.Visit) bool
	// Ready is called on a goroutine of its own when a session has begun, or a
	// subscription was made. It ends with the stage.
	Ready func(*Line)
	// Bodies says in which form requests are answered over HTTP: "json", "sse",
	// or "" for streams where something may come before the result.
	Bodies string
	// SSE makes a GET at the endpoint open a conversation over HTTP+SSE.
	SSE bool
	// Stubborn makes the server's process go on when its input has ended and when it
	// is told to end; Noisy makes it write to its standard error.
	Stubborn, Noisy bool
	// Naming is what becomes of the names of headers in responses; nil leaves them.
	Naming func(string) string
	// Header is added to the head of each response.
	Header http.Header
}

// What Scenario.As may be.
const (
	inSessions = "in sessions"
	asItself   = "as itself"
)

// TheBase is the name of the scenario without a twist.
const TheBase = "base"

// Scenarios returns all scenarios. The one without a twist is first.
func Scenarios() []*Scenario {
	all := []*Scenario{{
		Name: TheBase, Does: "Does all that a good server does.",
		Do: "Connect; call each tool, read each resource, get each prompt; then quit.",
	}}
	for _, group := range scenarios {
		for n := range group {
			all = append(all, &group[n])
		}
	}
	return all
}

// ScenarioNamed returns a scenario, or nil.
func ScenarioNamed(name string) *Scenario {
	for _, s := range Scenarios() {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// scenarios are those with a twist, file by file.
var scenarios = [][]Scenario{
	oddScenarios, bodyScenarios, slowScenarios, versionScenarios, legacyScenarios, brokenScenarios, sessionScenarios, headerScenarios,
	askScenarios, formScenarios, extensionScenarios, listScenarios, taskScenarios, authScenarios, processScenarios,
}

// plays reports whether a scenario can be played in a conversation.
func (s *Scenario) plays(stage *Stage) bool {
	return !slices.ContainsFunc(s.Needs, func(need string) bool { return stage.lacks(need) != "" })
}
