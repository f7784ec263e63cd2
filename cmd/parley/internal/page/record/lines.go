package record

import (
	"slices"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// Line is one of the connections that the client made, one after the other.
type Line struct {
	// Connection is its number, as frames have it.
	Connection uint64
	// First is its first frame, and At the time of that.
	First uint64
	At    time.Time
	// Session identifies its session over HTTP, or is "".
	Session string
	// Left is the exchange in which the client ended the session, 0 if it did not.
	Left uint64
	// Again are the frames with what it had sent on the line before, too: how it began,
	// what it listens to, which lists it has. Calls are not among them, for they are made
	// by somebody, not by connecting.
	Again []uint64
}

// reached notes the connection: with a new one, what was open on earlier ones is lost.
func (l *links) reached(h *Head) {
	if n := len(l.lines); n > 0 && h.Connection <= l.lines[n-1].Connection {
		l.lines[n-1].join(h)
		return
	}
	line := &Line{Connection: h.Connection, First: h.Number, At: h.Time}
	line.join(h)
	l.lines = append(l.lines, line)
	for key, x := range l.open {
		if key.connection < h.Connection {
			x.over(Lost, h.Time)
			delete(l.open, key)
		}
	}
}

// join notes the session of a frame of the line.
func (l *Line) join(h *Head) {
	if h.Connection == l.Connection && h.Session != "" {
		l.Session = h.Session
	}
}

// left notes that an exchange has ended the session of its line.
func (l *links) left(x *Exchange) {
	for _, line := range l.lines {
		if line.Connection == x.Connection {
			line.Left = x.Number
		}
	}
}

// pruneLines forgets the lines of which no frame is left, but for the newest: what comes
// next is on it.
func (l *links) pruneLines(first uint64) {
	gone := 0
	for gone+1 < len(l.lines) && l.lines[gone+1].First <= first {
		gone++
	}
	l.lines = l.lines[gone:]
}

// Lines returns the connections of which there are frames, in order.
func (r *Recorder) Lines() []Line {
	r.mu.RLock()
	defer r.mu.RUnlock()
	lines := make([]Line, len(r.links.lines))
	for i, line := range r.links.lines {
		lines[i] = *line
	}
	r.repeated(lines)
	return lines
}

// mostAgain bounds what is listed of one line.
const mostAgain = 500

// repeated fills in what each line repeats of the one before.
func (r *Recorder) repeated(lines []Line) {
	type said struct{ method, subject string }
	sent := make([]map[said]bool, len(lines))
	for i := range sent {
		sent[i] = map[said]bool{}
	}
	for _, s := range r.segments {
		for i := range s.entries {
			h := &s.entries[i].Head
			if !opens(h) {
				continue
			}
			at := slices.IndexFunc(lines, func(l Line) bool { return l.Connection == h.Connection })
			if at < 0 {
				continue
			}
			what := said{h.Method, h.Subject}
			sent[at][what] = true
			if at > 0 && sent[at-1][what] && len(lines[at].Again) < mostAgain {
				lines[at].Again = append(lines[at].Again, h.Number)
			}
		}
	}
}

// opening are the methods with which a connection begins and goes on listening, and of
// the lists that whoever keeps them reads anew then.
var opening = []string{
	mcp.MethodInitialize, mcp.MethodDiscover, mcp.NoteInitialized, mcp.MethodSetLevel, mcp.MethodSubscribe, mcp.MethodListen,
	mcp.MethodListTools, mcp.MethodListResources, mcp.MethodListTemplates, mcp.MethodListPrompts, mcp.MethodListSkills,
}

func opens(h *Head) bool {
	return h.Direction == mcp.Sent && (h.Kind == Request || h.Kind == Notification) && slices.Contains(opening, h.Method)
}

// End notes how the stream of an exchange has ended, of which no frame tells.
func (r *Recorder) End(exchange uint64, how ExchangeState, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if x := r.links.get(exchange); x != nil && x.State == Open {
		x.over(how, at)
	}
}

// Events returns the newest frames that came in events of a session with IDs, the newest
// first, at most a number of them.
func (r *Recorder) Events(session string, most int) []Head {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var found []Head
	for _, s := range slices.Backward(r.segments) {
		for i := range slices.Backward(s.entries) {
			h := &s.entries[i].Head
			if len(found) == most {
				return found
			}
			if h.Event != "" && h.Direction == mcp.Received && h.Session == session && !h.Replayed {
				found = append(found, *h)
			}
		}
	}
	return found
}
