package schemas

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// The methods of the revisions, in the notation of lines: who may send it (c
// for the client, s for the server), the method, and for requests the result.
const (
	baseRequests = `
c completion/complete CompleteResult
c initialize InitializeResult
c logging/setLevel EmptyResult
c ping EmptyResult
c prompts/get GetPromptResult
c prompts/list ListPromptsResult
c resources/list ListResourcesResult
c resources/read ReadResourceResult
c resources/subscribe EmptyResult
c resources/templates/list ListResourceTemplatesResult
c resources/unsubscribe EmptyResult
c tools/call CallToolResult
c tools/list ListToolsResult
s ping EmptyResult
s roots/list ListRootsResult
s sampling/createMessage CreateMessageResult`

	elicitRequests = baseRequests + `
s elicitation/create ElicitResult`

	taskRequests = elicitRequests + `
c tasks/cancel CancelTaskResult
c tasks/get GetTaskResult
c tasks/list ListTasksResult
c tasks/result GetTaskPayloadResult
s tasks/cancel CancelTaskResult
s tasks/get GetTaskResult
s tasks/list ListTasksResult
s tasks/result GetTaskPayloadResult`

	statelessRequests = `
c completion/complete CompleteResult
c prompts/get GetPromptResult
c prompts/list ListPromptsResult
c resources/list ListResourcesResult
c resources/read ReadResourceResult
c resources/templates/list ListResourceTemplatesResult
c server/discover DiscoverResult
c subscriptions/listen SubscriptionsListenResult
c tools/call CallToolResult
c tools/list ListToolsResult`

	baseNotifications = `
c notifications/cancelled
c notifications/initialized
c notifications/progress
c notifications/roots/list_changed
s notifications/cancelled
s notifications/message
s notifications/progress
s notifications/prompts/list_changed
s notifications/resources/list_changed
s notifications/resources/updated
s notifications/tools/list_changed`

	taskNotifications = baseNotifications + `
c notifications/tasks/status
s notifications/elicitation/complete
s notifications/tasks/status`

	statelessNotifications = `
c notifications/cancelled
s notifications/cancelled
s notifications/message
s notifications/progress
s notifications/prompts/list_changed
s notifications/resources/list_changed
s notifications/resources/updated
s notifications/subscriptions/acknowledged
s notifications/tools/list_changed`
)

func TestMethodTables(t *testing.T) {
	tests := []struct{ revision, requests, notifications, errors string }{
		{"2024-11-05", baseRequests, baseNotifications, ""},
		{"2025-03-26", baseRequests, baseNotifications, ""},
		{"2025-06-18", elicitRequests, baseNotifications, ""},
		{"2025-11-25", taskRequests, taskNotifications, "-32042 URLElicitationRequiredError"},
		{"2026-07-28", statelessRequests, statelessNotifications, `
-32020 HeaderMismatchError
-32021 MissingRequiredClientCapabilityError
-32022 UnsupportedProtocolVersionError`},
	}
	for _, tt := range tests {
		t.Run(tt.revision, func(t *testing.T) {
			s := open(t, tt.revision)
			compare(t, "requests", describe(s.methods.results, true), tt.requests)
			compare(t, "notifications", describe(s.methods.notifications, false), tt.notifications)
			var codes []string
			for code, name := range s.errors {
				codes = append(codes, code+" "+name)
			}
			compare(t, "errors", codes, tt.errors)
			for _, name := range slices.Concat(
				slices.Collect(maps.Values(s.methods.requests)),
				slices.Collect(maps.Values(s.methods.results)),
				slices.Collect(maps.Values(s.methods.notifications))) {
				if !s.has(name) {
					t.Errorf("the tables refer to %q, which is not defined", name)
				}
			}
			if want := tt.revision == "2026-07-28"; s.stateless != want {
				t.Errorf("stateless = %v, want %v", s.stateless, want)
			}
		})
	}
}

func describe(table map[route]string, withValue bool) []string {
	var lines []string
	for r, name := range table {
		line := "s " + r.method
		if r.dir == toServer {
			line = "c " + r.method
		}
		if withValue {
			line += " " + name
		}
		lines = append(lines, line)
	}
	return lines
}

func compare(t *testing.T, what string, got []string, want string) {
	t.Helper()
	var lines []string
	if want = strings.TrimSpace(want); want != "" {
		lines = strings.Split(want, "\n")
	}
	slices.Sort(lines)
	slices.Sort(got)
	if !slices.Equal(got, lines) {
		t.Errorf("%s:\n%s\nwant:\n%s", what, strings.Join(got, "\n"), strings.Join(lines, "\n"))
	}
}
