package inspect

import (
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/page/record"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
)

// shownLine is one of the connections that a client made, one after the other.
type shownLine struct {
	Connection uint64    `json:"connection"`
	First      uint64    `json:"first"` // its first frame
	At         time.Time `json:"at"`
	Session    string    `json:"session,omitzero"`
	// Left is the exchange in which the client ended the session, and Status the answer.
	Left   uint64   `json:"left,omitzero"`
	Status int      `json:"status,omitzero"`
	Again  []uint64 `json:"again"` // frames with what was sent on the line before, too
}

// lines says how often the client has connected, and what it sent again each time.
func (*traffic) lines(c *Connection, r *web.Request) (any, error) {
	l := lens(c, r)
	shown := []shownLine{}
	for _, line := range c.Frames.Lines() {
		one := shownLine{Connection: line.Connection, First: line.First, At: line.At, Session: l.Session(line.Session), Left: line.Left, Again: append([]uint64{}, line.Again...)}
		one.Status = statusOf(c.Frames, line.Left)
		shown = append(shown, one)
	}
	return struct {
		Lines []shownLine `json:"lines"`
	}{shown}, nil
}

// statusOf returns the status of an exchange, 0 if there is none.
func statusOf(frames *record.Recorder, exchange uint64) int {
	x, err := frames.Exchange(exchange)
	if err != nil {
		return 0
	}
	return x.Status
}
