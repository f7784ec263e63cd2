package mutant

import (
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"sync"

	"github.com/parley-mcp/parley/internal/check/peer"
)

// wire applies the switches of a mutant to one conversation, or to all that
// share it.
type wire struct {
	mutant *Mutant

	mu       sync.Mutex
	requests map[string]*frame // by direction and ID
	matched  map[int]int       // how often a switch has matched
	passed   map[string]bool   // methods, by connection, that went to the server
	conns    int
	fired    bool
	open     []*events // the event streams that are open
}

func newWire(m *Mutant) *wire {
	return &wire{mutant: m, requests: map[string]*frame{}, matched: map[int]int{}, passed: map[string]bool{}}
}

// newConn returns the number of a new connection, from 1. HTTP is one.
func (w *wire) newConn() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns++
	return w.conns
}

// frame is a message on its way.
type frame struct {
	kind, method string
	value        any
	conn         int
	asked        *frame // of a result or an error: the request

	// What carries it, of an HTTP request.
	verb   string
	header http.Header
	url    *url.URL
	body   []byte

	address address // where it goes then
}

// read finds out what a message is, and remembers requests for their answers.
func (w *wire) read(conn int, toServer bool, raw []byte) *frame {
	v, err := peer.Decode(raw)
	if err != nil {
		return nil
	}
	object, ok := v.(map[string]any)
	if !ok {
		return &frame{kind: "any", value: v, conn: conn}
	}
	f := &frame{value: v, conn: conn}
	id, hasID := object["id"]
	f.method, _ = object["method"].(string)
	key := func(toServer bool) string { return strconv.FormatBool(toServer) + string(peer.Encode(id)) }
	_, failed := object["error"]
	switch {
	case f.method != "" && hasID:
		f.kind = "request"
		asked := *f // edits change f
		w.requests[key(toServer)] = &asked
	case f.method != "":
		f.kind = "notification"
	case failed:
		f.kind, f.asked = "error", w.requests[key(!toServer)]
	default:
		f.kind, f.asked = "result", w.requests[key(!toServer)]
	}
	if f.asked != nil {
		f.method = f.asked.method
	}
	if toServer {
		w.passed[passing(conn, f.method)] = true
	}
	return f
}

func passing(conn int, method string) string { return strconv.Itoa(conn) + " " + method }

// pass returns what goes on in place of a message. carrier is the HTTP request
// that it comes in, or that it comes in the response to, if there is one.
func (w *wire) pass(conn int, toServer bool, raw []byte, carrier *frame) [][]byte {
	all, _ := w.exchange(conn, toServer, raw, carrier)
	return all
}

// exchange is pass, and says which of them is the message itself: -1 if it is
// left out.
func (w *wire) exchange(conn int, toServer bool, raw []byte, carrier *frame) (all [][]byte, main int) {
	w.mu.Lock()
	f := w.read(conn, toServer, raw)
	var edits []edit
	if f != nil {
		edits = w.edits(toServer, f, carrier)
	}
	w.mu.Unlock()
	if len(edits) == 0 {
		return [][]byte{raw}, 0
	}
	return f.apply(edits)
}

// edits are those of all switches that match.
func (w *wire) edits(toServer bool, f, carrier *frame) []edit {
	var all []edit
	for n := range w.mutant.Switches {
		s := &w.mutant.Switches[n]
		if s.isOfMessages() && s.ToServer == toServer && w.matches(s, f, carrier) && w.due(n) {
			all = append(all, s.Edits...)
		}
	}
	return all
}

// due reports whether a switch that matches is to be used: it may be for once, or
// begin later.
func (w *wire) due(n int) bool {
	s := &w.mutant.Switches[n]
	w.matched[n]++
	if w.matched[n] <= s.Skip || s.Once && w.matched[n] > s.Skip+1 {
		return false
	}
	w.fired = true
	return true
}

// reaches reports whether a step by which a process is ended reaches the server: the
// end of its input, or a signal.
func (w *wire) reaches(conn int, kind, method string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for n := range w.mutant.Switches {
		s := &w.mutant.Switches[n]
		if s.Kind == kind && s.ToServer && w.matches(s, &frame{kind: kind, method: method, conn: conn}, nil) && w.due(n) {
			return false
		}
	}
	return true
}

func (s *Switch) isOfMessages() bool {
	return !slices.Contains([]string{"end", "signal", "http", "event", "stream"}, s.Kind)
}

// ofRequest is the switch as one that looks at the message of an HTTP request.
func (s *Switch) ofRequest() Switch {
	return Switch{Kind: "any", Method: s.Method, Where: s.Where, Heads: s.Heads, After: s.After, At: s.At, Carrying: s.Carrying}
}

// matches reports whether a message is one to be changed.
func (w *wire) matches(s *Switch, f, carrier *frame) bool {
	switch {
	case s.Kind != "any" && s.Kind != f.kind, s.Method != "*" && s.Method != f.method,
		s.Elsewhere && f.conn < 2, s.After != "" && !w.passed[passing(f.conn, s.After)]:
		return false
	}
	if s.At != "" && (carrier == nil || carrier.url == nil || carrier.url.Path != s.At) || s.Carrying != "" && !carrier.carries(s.Carrying) {
		return false
	}
	for _, h := range s.Heads {
		if carrier == nil {
			return false
		}
		if value := h.in(carrier.header); (value == "") != h.none || h.is != "" && value != h.is {
			return false
		}
	}
	return !slices.ContainsFunc(s.Where, func(c condition) bool { return !c.holds(f) })
}

// holds reports whether a message is as the condition wants it.
func (c *condition) holds(f *frame) bool {
	in := f.value
	if c.asked {
		if f.asked == nil {
			return false
		}
		in = f.asked.value
	}
	v, ok := peer.Get(in, c.path)
	return ok != c.none && !(c.null && v != nil) && (c.want == nil || reflect.DeepEqual(v, c.want))
}

// in is the value of a header. A name in its usual form, such as Mcp-Name, is
// found in any; another one as it is.
func (h *head) in(header http.Header) string {
	for name, values := range header {
		if name == h.name || http.CanonicalHeaderKey(name) == h.name {
			return values[0]
		}
	}
	return ""
}
