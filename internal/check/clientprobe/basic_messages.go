package clientprobe

import (
	"encoding/json"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

const (
	idNotNull = "basic/request-id-not-null"
	idType    = "basic/request-id-type"
	idUnique  = "basic/request-id-unique"
)

var basicMessages = []Probe{
	{
		Info: probe.Info{
			ID: idNotNull, Rows: []string{"26.basic.index-004", "2511.basic-009"},
			Does:    "Looks at the ID of each request.",
			Accepts: "Anything but null.",
			Mend:    "Give each request an ID of its own: a string or an integer.",
		},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Requests() {
				w.Saw(m)
				if string(m.ID) == "null" {
					w.Fault(m, "/id", "the ID of the request is null")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: idType, Rows: []string{"26.basic.index-003", "2511.basic-008", "26.schema-023"},
			Does:    "Looks at the type of the ID of each request.",
			Accepts: "A string or an integer.",
			Mend:    "Give each request an ID of its own: a string or an integer.",
		},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Requests() {
				if string(m.ID) == "null" {
					continue // a rule of its own
				}
				w.Saw(m)
				v, _ := m.Get("id")
				if _, ok := v.(string); !ok && !isInteger(v) {
					w.Fault(m, "/id", "the ID %s is neither a string nor an integer", m.ID)
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: idUnique, Rows: []string{"26.basic.index-006", "2511.basic-010"},
			Does:    "Compares the IDs of the requests: of those in flight, and in a session of all.",
			Accepts: "No ID that is in use, and in a session none that was.",
			After:   []string{idNotNull, idType},
		},
		Watch: watchUniqueIDs,
	},
	{
		Info: probe.Info{
			ID: "basic/notification-has-no-id", Rows: []string{"26.basic.index-031", "2511.basic-021"},
			Does:    "Looks at the messages whose method begins with notifications/.",
			Accepts: "No member id.",
			Mend:    "Leave the ID out of notifications.",
		},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received(nil) {
				if !strings.HasPrefix(m.Method, "notifications/") {
					continue
				}
				w.Saw(m)
				if m.Has("id") {
					w.Fault(m, "/id", "the notification has an ID")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "basic/request-has-method", Rows: []string{"2511.basic-054", "2511.basic-055"},
			Does:    "Looks at the method of each request.",
			Accepts: "A string.",
		},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received(nil) {
				switch {
				case m.IsRequest() && m.Method != "":
					w.Saw(m)
				case m.Has("id") && !m.IsResponse() && (m.Has("method") || m.Has("params")):
					w.Fault(m, "", "the request has no method that is a string")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "basic/notification-has-method", Rows: []string{"2511.basic-056", "2511.basic-057"},
			Does:    "Looks at the method of each notification.",
			Accepts: "A string.",
		},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received((*peer.Message).IsNotification) {
				w.Saw(m)
				if m.Method == "" {
					w.Fault(m, "/method", "the method of the notification is not a string")
				}
			}
		},
	},
}

// watchUniqueIDs compares each ID with those before it.
//
// Spec: 2026-07-28 basic#requests. Spec: 2025-11-25 basic#requests.
func watchUniqueIDs(x *X, w *probe.Watch) {
	type key struct {
		conn int
		id   string
	}
	before := map[key]*peer.Message{}
	for _, m := range x.Requests() {
		w.Saw(m)
		k := key{m.Conn, string(m.ID)}
		old := before[k]
		before[k] = m
		if old == nil {
			continue
		}
		if answer := x.Log.ResponseTo(old); x.Stateless && (answer != nil && answer.Number < m.Number || x.givenUp(old, m)) {
			continue
		}
		w.FaultOf([]probe.Blame{{Message: m, Pointer: "/id"}, {Message: old, Pointer: "/id"}}, "another request has the ID %s", m.ID)
	}
}

// givenUp reports whether the client had given a request up before another
// message, or its response had broken off.
func (x *X) givenUp(m, by *peer.Message) bool {
	if e := m.Exchange; e != nil {
		return e.Done && e.Ended <= by.At
	}
	for _, other := range x.Received(is("notifications/cancelled")) {
		if id, ok := other.Get("params/requestId"); ok && other.Number < by.Number && string(peer.Encode(id)) == string(m.ID) {
			return true
		}
	}
	return false
}

func isInteger(v any) bool {
	n, ok := v.(json.Number)
	return ok && !strings.ContainsAny(n.String(), ".eE")
}
