package inspect

import (
	"net/http"

	"github.com/parley-mcp/parley/cmd/parley/internal/page/record"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/mcp"
)

// cut breaks the network below a connection, so that one can see what is resumed.
func (*traffic) cut(c *Connection, _ *web.Request) (any, error) {
	if c.wished().URL == "" {
		e := web.Errorf(http.StatusConflict, "no_network", "the server is a command, which is reached through pipes: there is no network to break, and nothing to resume")
		e.Hint = "reconnect starts it anew"
		return nil, e
	}
	if _, err := c.live(); err != nil {
		return nil, err
	}
	after := c.Frames.State().Last
	return struct {
		Cut   int    `json:"cut"`
		After uint64 `json:"after"`
	}{partOf[cable](c).cut(), after}, nil
}

// resumption is a stream that was asked for again.
type resumption struct {
	Exchange uint64 `json:"exchange"`
	// Of is the exchange whose stream it goes on with, 0 if that is not known.
	Of uint64 `json:"of,omitzero"`
	// LastEvent is the ID of the last event that the client had, "" for none.
	LastEvent string `json:"lastEvent"`
	Status    int    `json:"status,omitzero"`
	// Aside says that the page asked, not the client, and Open that more may come.
	Aside bool `json:"aside,omitzero"`
	Open  bool `json:"open,omitzero"`
	// Replayed are the numbers of the frames that came on it, the first ones of many.
	Replayed []uint64 `json:"replayed"`
	Total    int      `json:"total"`
	// Again is how many of them had come before.
	Again int `json:"again"`
}

// resumed says which streams were asked for again, and what they brought.
func (t *traffic) resumed(c *Connection, r *web.Request) (any, error) {
	after, err := number(r, "after")
	if err != nil {
		return nil, err
	}
	found := []resumption{}
	for _, x := range c.Frames.Since(after) {
		if !x.Stream || x.Method != http.MethodGet {
			continue
		}
		one, err := resumptionOf(c, r, x)
		if err != nil {
			return nil, recordError(err)
		}
		found = append(found, one)
	}
	return struct {
		Streams []resumption `json:"streams"`
		Why     string       `json:"why"`
	}{found, t.whyNot(c, found)}, nil
}

func resumptionOf(c *Connection, r *web.Request, x record.Exchange) (resumption, error) {
	one := resumption{Exchange: x.Number, Of: x.Parent, Status: x.Status, Aside: x.Aside, Open: x.State == record.Open, Replayed: []uint64{}}
	heads := c.Frames.Heads([]uint64{x.First})
	if len(heads) == 0 {
		return one, nil
	}
	one.LastEvent = heads[0].Event
	brought, _, err := c.Frames.Find(r.Context(), record.Filter{After: x.First, HTTP: heads[0].HTTP, Direction: mcp.Received, Kinds: record.Messages()})
	if err != nil {
		return one, err
	}
	one.Replayed, one.Total = append(one.Replayed, record.Numbers(brought, 100)...), record.Count(brought)
	for _, h := range c.Frames.Heads(record.Numbers(brought, replayEvents)) {
		if h.Replayed {
			one.Again++
		}
	}
	return one, nil
}

// whyNot says why nothing was resumed, or "" if something was.
func (*traffic) whyNot(c *Connection, found []resumption) string {
	for _, one := range found {
		if one.LastEvent != "" {
			return ""
		}
	}
	session := c.shown().Session
	_, err := c.live()
	switch {
	case c.wished().URL == "":
		return "A command is reached through pipes, which cannot be resumed. Reconnecting starts it anew."
	case err != nil:
		return "The connection is not up: reconnecting opens a new one, which has nothing to resume."
	case len(found) > 0:
		return "The client had no event with an ID, so it asked for the stream anew: what was sent in between is lost."
	case session == "":
		return "There is no session, so no stream can be resumed: a request whose stream breaks off is lost, and subscriptions are opened anew."
	}
	return "No stream has been asked for again yet."
}
