package serverprobe

import (
	"maps"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/mcp"
)

// Asking is a request during which the server asked the client for something.
type Asking struct {
	Request *peer.Message
	// Needs are the capabilities of the client that the questions take.
	Needs map[string]any
	// Asked is the message with the question.
	Asked *peer.Message
}

// needOf is the capability that a question takes.
var needOf = map[string]string{
	mcp.MethodElicit: "elicitation", mcp.MethodSample: "sampling", mcp.MethodRoots: "roots",
}

// asking returns the requests of the log during which the server asked, each
// once: what it did then it may do again.
func (x *X) asking() []Asking {
	var all []Asking
	seen := map[string]bool{}
	for _, m := range x.Received(nil) {
		a := Asking{Asked: m, Needs: map[string]any{}}
		if x.Stateless {
			if !m.IsResult() || m.Text("result/resultType") != "input_required" {
				continue
			}
			a.Request = x.Log.RequestOf(m)
			for _, v := range m.Object("result/inputRequests") {
				method, _ := peer.Get(v, "method")
				name, _ := method.(string)
				a.need(name)
			}
		} else if m.IsRequest() {
			a.need(m.Method)
			a.Request = x.during(m)
		}
		if a.Request == nil || len(a.Needs) == 0 {
			continue
		}
		if _, again := a.Request.Get("params/inputResponses"); again {
			continue
		}
		name := a.Request.Method + " " + a.Request.Text("params/name")
		if !seen[name] {
			seen[name] = true
			all = append(all, a)
		}
	}
	return all
}

func (a *Asking) need(method string) {
	if capability, ok := needOf[method]; ok {
		a.Needs[capability] = map[string]any{}
	}
}

// during returns the call of the client that a question of the server belongs
// to: that on whose stream it came, or the newest one.
func (x *X) during(question *peer.Message) *peer.Message {
	if e := question.Exchange; e != nil && e.Message != nil {
		return e.Message
	}
	var call *peer.Message
	for _, m := range x.Log.Messages() {
		if m == question {
			break
		}
		if m.Sent && m.Conn == question.Conn && m.IsRequest() {
			call = m
		}
	}
	if call == nil || call.Method == mcp.MethodInitialize {
		return nil
	}
	return call
}

// again are the params of the request, to be sent anew.
func (a *Asking) again() map[string]any {
	params := maps.Clone(a.Request.Object("params"))
	if meta, ok := params["_meta"].(map[string]any); ok {
		meta = maps.Clone(meta)
		delete(meta, "progressToken")
		params["_meta"] = meta
	}
	return params
}

// bare returns a conversation whose client declares no capabilities.
func (x *X) bare() (*Conn, error) {
	if x.bareConn != nil && !x.bareConn.Closed() {
		return x.bareConn, nil
	}
	var err error
	x.bareConn, err = x.Open(&Opening{Capabilities: map[string]any{}})
	return x.bareConn, err
}

// askedBare repeats the calls that ask, without the capabilities that they take.
// It does so once for all probes.
func (x *X) askedBare() ([]Bare, error) {
	if x.bares != nil {
		return x.bares, nil
	}
	c, err := x.bare()
	if err != nil {
		return nil, err
	}
	x.bares = []Bare{}
	for _, a := range x.asking() {
		x.bares = append(x.bares, Bare{a, c.Call(a.Request.Method, a.again())})
	}
	return x.bares, nil
}

// Bare is a call that asks, made without the capabilities that it takes.
type Bare struct {
	Asking

	Reply *peer.Reply
}

// declaresAll reports whether a request declares some capabilities.
func declaresAll(request *peer.Message, some map[string]any) bool {
	declared := request.Object("params/_meta/" + pointer(mcp.MetaClientCapabilities))
	return covers(declared, some)
}

func covers(all, some map[string]any) bool {
	for name, v := range some {
		have, ok := all[name]
		if !ok {
			return false
		}
		inner, _ := v.(map[string]any)
		within, _ := have.(map[string]any)
		if name == "elicitation" && len(within) == 0 {
			within = map[string]any{"form": map[string]any{}} // which is what an empty one means
		}
		if !covers(within, inner) {
			return false
		}
	}
	return true
}

// versionOf is the version that a stateless request declares.
func versionOf(request *peer.Message) string {
	return request.Text("params/_meta/" + pointer(mcp.MetaProtocolVersion))
}
