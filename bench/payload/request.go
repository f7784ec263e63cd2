package payload

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Era is one of the two eras of the protocol.
type Era string

// The eras, and the revision that stands for each.
const (
	Stateless Era = "stateless"
	Session   Era = "session"

	StatelessRevision = "2026-07-28"
	SessionRevision   = "2025-11-25"
)

// Revision returns the revision that stands for the era.
func (e Era) Revision() string {
	if e == Stateless {
		return StatelessRevision
	}
	return SessionRevision
}

// FirstID is the lowest ID of a request. All IDs have ten digits, so that one
// can replace another in place.
const FirstID = 1_000_000_000

// Request is one request, encoded so that it can be sent many times with
// different IDs.
type Request struct {
	Method, Name string
	Body         []byte
	idAt         int
}

// NewRequest returns a request with params, which may be nil. In the stateless
// era it has the members that the era requires. progress asks for progress
// notifications.
func NewRequest(era Era, method, name string, params map[string]any, progress bool) *Request {
	all := map[string]any{}
	for k, v := range params {
		all[k] = v
	}
	if m := meta(era, progress); len(m) > 0 {
		all["_meta"] = m
	}
	rest, err := json.Marshal(map[string]any{"params": all})
	if err != nil {
		panic(err)
	}
	head := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,`, FirstID, method)
	return &Request{Method: method, Name: name, Body: append([]byte(head), rest[1:]...), idAt: len(`{"jsonrpc":"2.0","id":`)}
}

func meta(era Era, progress bool) map[string]any {
	m := map[string]any{}
	if era == Stateless {
		m["io.modelcontextprotocol/protocolVersion"] = StatelessRevision
		m["io.modelcontextprotocol/clientInfo"] = map[string]any{"name": "bench", "version": "1.0.0"}
		m["io.modelcontextprotocol/clientCapabilities"] = map[string]any{"elicitation": map[string]any{"form": map[string]any{}}}
	}
	if progress {
		m["progressToken"] = "p"
	}
	return m
}

// Call returns a tools/call.
func Call(era Era, tool string, args any) *Request {
	return NewRequest(era, "tools/call", tool, map[string]any{"name": tool, "arguments": args}, tool == "progress")
}

// CallAsTask returns a tools/call of the stateless era whose client can take a task.
func CallAsTask(tool string, args any) *Request {
	r := Call(Stateless, tool, args)
	const capabilities = `"io.modelcontextprotocol/clientCapabilities":{`
	r.Body = bytes.Replace(r.Body, []byte(capabilities), []byte(capabilities+`"extensions":{"io.modelcontextprotocol/tasks":{}},`), 1)
	return r
}

// Clone returns a copy that can be changed independently.
func (r *Request) Clone() *Request {
	c := *r
	c.Body = append([]byte(nil), r.Body...)
	return &c
}

// SetID gives the request another ID of ten digits.
func (r *Request) SetID(id int) {
	for i := 9; i >= 0; i-- {
		r.Body[r.idAt+i] = byte('0' + id%10)
		id /= 10
	}
}

// Initialize opens a session.
func Initialize() *Request {
	return NewRequest(Session, "initialize", "", map[string]any{
		"protocolVersion": SessionRevision,
		"capabilities":    map[string]any{"elicitation": map[string]any{}},
		"clientInfo":      map[string]any{"name": "bench", "version": "1.0.0"},
	}, false)
}

// Initialized is the notification that follows.
const Initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
