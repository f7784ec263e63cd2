package serverprobe

import (
	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

// basicRequests judge what the server sends of its own accord: its requests and
// notifications.
var basicRequests = []Probe{
	ofRequests("basic/id-of-server-request", []string{"2511.basic-008"}, "the IDs", "Strings and integers.",
		func(m *peer.Message, w *probe.Watch) {
			if c := m.ID[0]; string(m.ID) != "null" && c != '"' && (c != '-' && (c < '0' || c > '9') || isFraction(m.ID)) {
				w.Fault(m, "/id", "the ID is neither a string nor an integer")
			}
		}),
	ofRequests("basic/no-null-id-of-server-request", []string{"2511.basic-009"}, "the IDs", "Anything but null.",
		func(m *peer.Message, w *probe.Watch) {
			if string(m.ID) == "null" {
				w.Fault(m, "/id", "the ID is null")
			}
		}),
	{
		Info: probe.Info{
			ID: "basic/server-request-ids-are-new", Rows: []string{"2511.basic-010"},
			Does:    "Compares the IDs of the requests that the server sends in a session.",
			Accepts: "Each ID once.",
		},
		Watch: func(x *X, w *probe.Watch) {
			used := map[int]map[string]*peer.Message{}
			for _, m := range x.Received(isRequestOfServer) {
				if used[m.Conn] == nil {
					used[m.Conn] = map[string]*peer.Message{}
				}
				if first := used[m.Conn][string(m.ID)]; first != nil && string(m.ID) != "null" {
					w.FaultOf([]probe.Blame{{Message: first, Pointer: "/id"}, {Message: m, Pointer: "/id"}}, "the ID was used before in the session")
				}
				used[m.Conn][string(m.ID)] = m
				w.Saw(m)
			}
			w.Nothing(noRequests)
		},
	},
	{
		Info: probe.Info{
			ID: "basic/server-request-has-method", Rows: []string{"2511.basic-054"},
			Does:    "Looks at the methods of the requests that the server sends.",
			Accepts: "Strings.",
		},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received(nil) {
				bare := m.Has("id") && m.Has("params") && !m.Has("method") && !m.IsResponse()
				switch {
				case bare, m.IsRequest() && m.Method == "":
					w.Fault(m, "", "the request has no method that is a string")
				case isRequestOfServer(m):
					w.Saw(m)
				}
			}
			w.Nothing(noRequests)
		},
	},
	ofRequests("basic/params-of-server-request", []string{"2511.basic-055"}, "the params", "None, or an object.",
		func(m *peer.Message, w *probe.Watch) {
			if !hasGoodParams(m) {
				w.Fault(m, "/params", "the params are not an object")
			}
		}),
	{
		Info: probe.Info{
			ID: "basic/notification-has-method", Rows: []string{"2511.basic-056"},
			Does:    "Looks at the methods of the notifications that the server sends.",
			Accepts: "Strings.",
		},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received(nil) {
				bare := m.Has("params") && !m.Has("id") && !m.Has("method") && !m.IsResponse()
				switch {
				case bare, m.IsNotification() && m.Method == "":
					w.Fault(m, "", "the notification has no method that is a string")
				case m.IsNotification():
					w.Saw(m)
				}
			}
			w.Nothing(probe.NotApplicable("the server sent no notifications"))
		},
	},
	{
		Info: probe.Info{
			ID: "basic/params-of-notification", Rows: []string{"2511.basic-057"},
			Does:    "Looks at the params of the notifications that the server sends.",
			Accepts: "None, or an object.",
		},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received((*peer.Message).IsNotification) {
				w.Saw(m)
				if !hasGoodParams(m) {
					w.Fault(m, "/params", "the params are not an object")
				}
			}
			w.Nothing(probe.NotApplicable("the server sent no notifications"))
		},
	},
}

var noRequests = probe.NotApplicable("the server sent no requests")

// ofRequests is a probe that looks at one member of the server's requests.
func ofRequests(id string, rows []string, what, accepts string, look func(*peer.Message, *probe.Watch)) Probe {
	return Probe{
		Info: probe.Info{ID: id, Rows: rows, Does: "Looks at " + what + " of the requests that the server sends.", Accepts: accepts},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received(isRequestOfServer) {
				w.Saw(m)
				look(m, w)
			}
			w.Nothing(noRequests)
		},
	}
}

// isRequestOfServer reports whether a message is a request, and not meant as a
// notification.
func isRequestOfServer(m *peer.Message) bool {
	return m.IsRequest() && m.Method != "" && !isNote(m.Method)
}

func hasGoodParams(m *peer.Message) bool {
	params, ok := m.Get("params")
	_, isObject := params.(map[string]any)
	return !ok || isObject
}
