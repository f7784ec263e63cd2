package inspect

import (
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// maxLogged and maxLogBytes bound the log messages of one connection that are kept, and
// maxLogData what is kept of one.
const maxLogged, maxLogBytes, maxLogData = 5000, 8 << 20, 64 << 10

// logged is a log message of a server.
type logged struct {
	N      int64            `json:"n"`
	At     time.Time        `json:"at"`
	Level  mcp.LoggingLevel `json:"level"`
	Logger string           `json:"logger,omitempty"`
	Data   json.RawMessage  `json:"data,omitempty"`
	// Cut is how many bytes Data has if it is too long to be kept.
	Cut int `json:"cut,omitempty"`
	// Call is the ID of the call that it belongs to.
	Call string `json:"call,omitempty"`
}

func (l *logged) size() int { return len(l.Data) + len(l.Logger) + 64 }

// logBook has the log messages of one connection, the newest ones, and the level that was
// asked for.
type logBook struct {
	pulse pulse

	mu      sync.Mutex
	level   mcp.LoggingLevel
	last    int64
	dropped int64
	bytes   int
	all     []logged
}

// hear keeps a log message in its raw form.
func (b *logBook) hear(c *Connection, params json.RawMessage, call string) {
	l, ok := readLogged(params)
	if !ok {
		return
	}
	l.Call = call
	b.mu.Lock()
	b.last++
	l.N, l.At = b.last, time.Now()
	b.all = append(b.all, l)
	b.bytes += l.size()
	old := 0
	for len(b.all)-old > maxLogged || b.bytes > maxLogBytes {
		b.bytes -= b.all[old].size()
		old++
	}
	b.all = b.all[old:]
	b.dropped += int64(old)
	b.mu.Unlock()
	b.pulse.beat(func() { b.tell(c) })
}

// readLogged reads a log message. It reports false for anything else.
func readLogged(params json.RawMessage) (logged, bool) {
	var p struct {
		Level  mcp.LoggingLevel `json:"level"`
		Logger string           `json:"logger"`
		Data   json.RawMessage  `json:"data"`
	}
	if wire.Unmarshal(params, &p) != nil {
		return logged{}, false
	}
	l := logged{Level: p.Level, Logger: clip(p.Logger, 1000), Data: p.Data}
	if len(l.Data) > maxLogData {
		l.Data, l.Cut = nil, len(l.Data)
	}
	return l, true
}

// clip cuts a text to a length in bytes, between characters.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

func (b *logBook) tell(c *Connection) {
	b.mu.Lock()
	event := struct {
		Last int64 `json:"last"`
	}{b.last}
	b.mu.Unlock()
	c.publish("log", event)
}

// logPage is part of a log.
type logPage struct {
	Entries []logged `json:"entries"`
	// First is the number of the first message that is kept, or would be; whoever has
	// earlier ones from an answer before can forget them.
	First int64 `json:"first"`
	// Last is the number of the last message that came, and Dropped how many are no
	// longer kept.
	Last    int64 `json:"last"`
	Dropped int64 `json:"dropped"`
}

// page returns the messages after a number, at most so many of the newest, that are at
// least as severe as a level and have a text.
func (b *logBook) page(after int64, least mcp.LoggingLevel, text string, limit int) logPage {
	text = strings.ToLower(text)
	b.mu.Lock()
	defer b.mu.Unlock()
	p := logPage{Entries: []logged{}, First: b.last + 1 - int64(len(b.all)), Last: b.last, Dropped: b.dropped}
	for _, l := range b.all {
		if l.N > after && l.Level.Severity() >= least.Severity() && l.has(text) {
			p.Entries = append(p.Entries, l)
		}
	}
	if surplus := len(p.Entries) - limit; surplus > 0 {
		p.Entries = p.Entries[surplus:]
	}
	return p
}

func (l *logged) has(text string) bool {
	return text == "" || strings.Contains(strings.ToLower(l.Logger), text) || strings.Contains(strings.ToLower(string(l.Data)), text)
}

func (b *logBook) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all, b.bytes, b.dropped = nil, 0, 0
}

// pulse keeps what happens often from being told more than ten times a second.
type pulse struct {
	mu    sync.Mutex
	timer *time.Timer
	over  bool
}

// beat has tell called in a tenth of a second, unless that is due already.
func (p *pulse) beat(tell func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over || p.timer != nil {
		return
	}
	p.timer = time.AfterFunc(100*time.Millisecond, func() {
		p.mu.Lock()
		p.timer = nil
		over := p.over
		p.mu.Unlock()
		if !over {
			tell()
		}
	})
}

// stop has nothing told any more.
func (p *pulse) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	if p.timer != nil {
		p.timer.Stop()
	}
}
