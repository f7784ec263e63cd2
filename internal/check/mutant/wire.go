package mutant

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/jsonptr"
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

// ends reports whether the end of its input reaches the server.
func (w *wire) ends(conn int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for n := range w.mutant.Switches {
		s := &w.mutant.Switches[n]
		if s.Kind == "end" && s.ToServer && w.matches(s, &frame{kind: "end", conn: conn}, nil) && w.due(n) {
			return false
		}
	}
	return true
}

func (s *Switch) isOfMessages() bool {
	return s.Kind != "end" && s.Kind != "http" && s.Kind != "event" && s.Kind != "stream"
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

// apply makes the edits, in order.
func (f *frame) apply(edits []edit) (all [][]byte, main int) {
	var before, after [][]byte
	var verbatim []byte
	dropped, times := false, 1
	for _, e := range edits {
		switch e.verb {
		case "set":
			f.value = put(f.value, split(e.path), f.json(e.text))
		case "delete":
			f.value = remove(f.value, split(e.path))
		case "copy":
			v, _ := peer.Get(f.value, e.path)
			f.value = put(f.value, split(strings.TrimPrefix(e.text, "/")), v)
		case "replace":
			f.value = f.json(e.text)
		case "fail", "succeed":
			f.value = f.answer(e)
		case "text":
			verbatim = []byte(e.text)
		case "raw":
			old := e.path
			fresh, _ := strconv.Unquote(e.text) // it was checked
			if verbatim == nil {
				verbatim = peer.Encode(f.value)
			}
			verbatim = bytes.ReplaceAll(verbatim, []byte(old), []byte(fresh))
		case "drop":
			dropped = true
		case "close":
			return [][]byte{nil}, -1
		case "repeat":
			times++
		case "before":
			before = append(before, peer.Encode(f.json(e.text)))
		case "after":
			after = append(after, peer.Encode(f.json(e.text)))
		case "flood":
			after = append(after, f.flood(e)...)
		case "delay":
			d, _ := time.ParseDuration(e.text) // it was checked
			<-time.NewTimer(d).C
		}
	}
	if verbatim == nil {
		verbatim = peer.Encode(f.value)
	}
	all, main = before, len(before)
	if dropped {
		main = -1
	}
	for range times {
		if !dropped {
			all = append(all, verbatim)
		}
	}
	return append(all, after...), main
}

// flood repeats a message with a number in it that grows.
func (f *frame) flood(e edit) [][]byte {
	var all [][]byte
	times, _ := strconv.Atoi(e.text) // it was checked
	for n := range times {
		v, _ := peer.Get(f.value, e.path)
		begin, _ := v.(json.Number)
		at, _ := begin.Int64()
		all = append(all, peer.Encode(put(f.value, split(e.path), at+int64(n)+1)))
	}
	return all
}

// answer turns a response into an error or a result.
func (f *frame) answer(e edit) any {
	id, _ := peer.Get(f.value, "id")
	if e.verb == "succeed" {
		return map[string]any{"jsonrpc": "2.0", "id": id, "result": f.json(e.text)}
	}
	return map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": json.Number(e.path), "message": e.text}}
}

// json decodes an argument, with what stands for parts of the message.
func (f *frame) json(text string) any {
	id, _ := peer.Get(f.value, "id")
	text = strings.ReplaceAll(text, `"$id"`, string(peer.Encode(id)))
	text = strings.ReplaceAll(text, `"$method"`, string(peer.Encode(f.method)))
	text = reference.ReplaceAllStringFunc(text, func(ref string) string {
		v, _ := peer.Get(f.value, ref[len(`"$/`):len(ref)-1])
		return string(peer.Encode(v))
	})
	text = askedReference.ReplaceAllStringFunc(text, func(ref string) string {
		if f.asked == nil {
			return "null"
		}
		v, _ := peer.Get(f.asked.value, ref[len(`"$asked/`):len(ref)-1])
		return string(peer.Encode(v))
	})
	v, err := peer.Decode([]byte(text))
	if err != nil {
		panic("mutant: " + err.Error()) // it was checked
	}
	return v
}

// reference stands for what is at a JSON pointer of the message.
var reference = regexp.MustCompile(`"\$/[^"]*"`)

// askedReference is that of the request that the message answers.
var askedReference = regexp.MustCompile(`"\$asked/[^"]*"`)

func split(path string) []string {
	if path == "" {
		return nil
	}
	names := strings.Split(path, "/")
	for n, name := range names {
		names[n] = jsonptr.Unescape(name)
	}
	return names
}

// put returns a value with another one at a path. "-" is the end of an array.
func put(v any, path []string, new any) any {
	if len(path) == 0 {
		return new
	}
	switch at := v.(type) {
	case []any:
		list := append([]any(nil), at...)
		if path[0] == "-" {
			return append(list, put(nil, path[1:], new))
		}
		if n, err := strconv.Atoi(path[0]); err == nil && n < len(list) {
			list[n] = put(list[n], path[1:], new)
		}
		return list
	case map[string]any:
		object := maps.Clone(at)
		object[path[0]] = put(at[path[0]], path[1:], new)
		return object
	default:
		return map[string]any{path[0]: put(nil, path[1:], new)}
	}
}

// remove returns a value without what is at a path.
func remove(v any, path []string) any {
	if len(path) == 0 {
		return v
	}
	switch at := v.(type) {
	case []any:
		n, err := strconv.Atoi(path[0])
		if err != nil || n >= len(at) {
			return v
		}
		if len(path) == 1 {
			return append(append([]any{}, at[:n]...), at[n+1:]...) // an empty array stays one
		}
		return put(v, path[:1], remove(at[n], path[1:]))
	case map[string]any:
		object := maps.Clone(at)
		if _, ok := at[path[0]]; !ok {
			return v
		}
		if len(path) == 1 {
			delete(object, path[0])
		} else {
			object[path[0]] = remove(at[path[0]], path[1:])
		}
		return object
	default:
		return v
	}
}
