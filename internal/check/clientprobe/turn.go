package clientprobe

import (
	"maps"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/mcp"
)

// Turn is the server's turn: a request of the client (or a notification, in
// Scenario.On) and the ways to answer it.
type Turn struct {
	*Line

	// Request is what the client sent.
	Request *peer.Message
	// Params are its params, {} if there are none.
	Params object

	visit    *peer.Visit // over Streamable HTTP
	answered bool
	batch    bool // it came in a batch, and so the answers come as events
}

func newTurn(l *Line, m *peer.Message, v *peer.Visit) *Turn {
	t := &Turn{Line: l, Request: m, Params: m.Object("params"), visit: v}
	if t.Params == nil {
		t.Params = object{}
	}
	return t
}

// play does what the scenario or the good server does.
func (t *Turn) play() {
	if !t.twisted() {
		t.good()
	}
	if t.visit != nil && t.visit.Exchange.Status == 0 {
		t.visit.Cut() // it is left without an answer
	}
}

func (t *Turn) twisted() bool {
	sc := t.Scenario
	if t.Request.Method == "tools/call" {
		if f := sc.Tool[t.Request.Text("params/name")]; f != nil && f(t) {
			return true
		}
	}
	f := sc.On[t.Request.Method]
	if f == nil {
		f = sc.On["*"]
	}
	return f != nil && f(t)
}

// Send sends a message that belongs to the request, before its answer.
func (t *Turn) Send(message object) {
	for _, one := range t.shape(message) {
		if t.visit == nil {
			t.push(one)
			continue
		}
		if !t.streams() {
			continue // there is no room for it in a body
		}
		t.open()
		t.visit.Event(event(peer.Encode(one)), true)
	}
}

// open begins the stream that answers the request.
func (t *Turn) open() { t.visit.Stream(t.header("")) }

// streams reports whether the request is answered with a stream.
func (t *Turn) streams() bool {
	return t.Scenario.Bodies != "json" || t.Request.Method == "subscriptions/listen"
}

// Raw sends text as it is, as an event or as a line.
func (t *Turn) Raw(text string) {
	if t.visit != nil {
		t.open()
		t.visit.Event(event([]byte(text)), true)
		return
	}
	if t.conn != nil {
		t.conn.Start(t.ctx, &peer.Out{Raw: []byte(text)}).Stop()
		return
	}
	t.lmu.Lock()
	defer t.lmu.Unlock()
	if t.standing != nil {
		t.standing.Event(event([]byte(text)), true)
	}
}

// Notify sends a notification that belongs to the request.
func (t *Turn) Notify(method string, params object) {
	params = maps.Clone(params)
	if params == nil {
		params = object{}
	}
	if params["uri"] == "" {
		delete(params, "uri")
	}
	if t.Request.Method == "subscriptions/listen" {
		params["_meta"] = object{mcp.MetaSubscriptionID: idOf(t.Request)}
	}
	t.Send(object{"jsonrpc": "2.0", "method": method, "params": params})
}

// Token is the progress token of the request, or nil.
func (t *Turn) Token() any {
	v, _ := t.Request.Get("params/_meta/" + mcp.MetaProgressToken)
	return v
}

// Progress reports progress, if the client wants it.
func (t *Turn) Progress(progress, total any, message string) {
	if t.Token() == nil {
		return
	}
	params := object{"progressToken": t.Token(), "progress": progress}
	if total != nil {
		params["total"] = total
	}
	if t.Facts.ProgressMessage && message != "" {
		params["message"] = message
	}
	t.Notify("notifications/progress", params)
}

// Ask asks the client something in a session, and waits for the answer. It
// returns nil if none came.
func (t *Turn) Ask(method string, params object) *peer.Message {
	return t.ask(t.nextID(), method, params, t.sender(), time.Hour)
}

// askWith is Ask with an ID, for what is answered at once, or never.
func (t *Turn) askWith(id any, method string, params object) {
	t.ask(id, method, params, t.sender(), time.Second)
}

func (t *Turn) sender() func(object) {
	if t.visit != nil && !t.streams() {
		return t.Push
	}
	return t.Send
}

// Result answers the request.
func (t *Turn) Result(result object) {
	result = t.dress(result)
	if t.Scenario.Result != nil {
		result = t.Scenario.Result(t, result)
	}
	t.Reply(object{"jsonrpc": "2.0", "id": idOf(t.Request), "result": result})
}

// dress adds what each result of a stateless revision has.
//
// Spec: 2026-07-28 basic#resulttype. Spec: 2026-07-28 server/utilities/caching.
func (t *Turn) dress(result object) object {
	if !t.Stateless {
		return result
	}
	result = maps.Clone(result)
	set := func(name string, v any) {
		if _, ok := result[name]; !ok {
			result[name] = v
		}
	}
	set("resultType", "complete")
	if row := mcp.MethodNamed(t.Request.Method); row != nil && row.Cacheable && result["resultType"] == "complete" {
		set("ttlMs", 0)
		set("cacheScope", "private")
	}
	return result
}

// Error answers the request with an error. data may be nil.
func (t *Turn) Error(code int, message string, data any) {
	t.Refuse(0, code, message, data)
}

// Refuse is Error with an HTTP status; 0 means the one that fits.
func (t *Turn) Refuse(status, code int, message string, data any) {
	e := object{"code": code, "message": message}
	if data != nil {
		e["data"] = data
	}
	m := object{"jsonrpc": "2.0", "id": idOf(t.Request), "error": e}
	if status == 0 && t.Stateless {
		status = map[int]int{-32020: 400, -32021: 400, -32022: 400, -32601: 404}[code]
	}
	if status == 0 || t.visit == nil {
		t.Reply(m)
		return
	}
	t.answered = true
	t.visit.Respond(status, t.header("application/json"), peer.Encode(m), true)
}

// Reply sends what answers the request, as it is.
func (t *Turn) Reply(message object) {
	t.answered = true
	for n, one := range t.shape(message) {
		switch {
		case t.visit == nil:
			t.push(one)
		case t.whole() && n == 0:
			t.visit.Respond(200, t.header("application/json"), peer.Encode(one), true)
		default:
			t.open()
			t.visit.Event(event(peer.Encode(one)), true)
		}
	}
}

// whole reports whether the answer is a body, not an event.
func (t *Turn) whole() bool {
	switch {
	case t.visit.Exchange.Status != 0 || t.batch:
		return false
	case t.Scenario.Bodies != "":
		return t.Scenario.Bodies == "json"
	default:
		return t.Request.Method != "tools/call"
	}
}

func (t *Turn) header(contentType string) map[string][]string {
	h := map[string][]string{}
	maps.Copy(h, t.Scenario.Header)
	if contentType != "" {
		h["Content-Type"] = []string{contentType}
	}
	if t.Request.Method == "initialize" && t.Session != "" {
		h["Mcp-Session-Id"] = []string{t.Session}
	}
	return h
}

// Cut breaks the answer off: the response over HTTP, or the connection.
func (t *Turn) Cut() {
	switch {
	case t.visit != nil:
		t.visit.Cut()
	case t.conn != nil:
		conn := t.conn
		t.run(func() { _ = conn.Close() }) // what was said has been logged
	default:
		t.lmu.Lock()
		standing := t.standing
		t.lmu.Unlock()
		if standing != nil {
			standing.Cut()
		}
	}
}

// Hold waits until the client gives the request up, and reports whether it did
// so in time.
func (t *Turn) Hold(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	var gone <-chan struct{}
	if t.visit != nil {
		gone = t.visit.Gone()
	}
	select {
	case <-t.cancelling(string(t.Request.ID)):
		return true
	case <-gone:
		return true
	case <-timer.C:
		return false
	case <-t.ctx.Done():
		return false
	}
}
