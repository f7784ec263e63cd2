package live

import (
	"cmp"
	"slices"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// Client is somebody who uses the gateway: a session or, without one, a program of a
// principal at an address.
type Client struct {
	Session   string    `json:"session,omitzero"`
	Principal string    `json:"principal,omitzero"`
	Client    string    `json:"client,omitzero"`
	Source    string    `json:"source,omitzero"`
	Revision  string    `json:"revision,omitzero"`
	View      string    `json:"view,omitzero"`
	Since     time.Time `json:"since"`
	Last      time.Time `json:"last"`
	// Exchanges is how many there were, and UnderWay how many have no outcome yet.
	Exchanges int `json:"exchanges"`
	UnderWay  int `json:"underWay"`
}

// maxClients is how many are remembered. Beyond it, the one goes that was heard of the
// longest ago.
const maxClients = 1000

func (e *Exchange) client() string {
	if e.Session != "" {
		return "session " + e.Session
	}
	return e.Principal + "\n" + e.Client + "\n" + e.Source + "\n" + e.View
}

// client counts an exchange that has begun. The caller holds l.mu.
func (l *Log) client(e *Exchange) {
	key := e.client()
	c := l.clients[key]
	if c == nil {
		if len(l.clients) >= maxClients {
			l.forgetOne()
		}
		c = &Client{Session: e.Session, Principal: e.Principal, Client: e.Client, Source: e.Source, View: e.View, Since: e.Begun}
		if l.clients == nil {
			l.clients = map[string]*Client{}
		}
		l.clients[key] = c
	}
	c.Revision, c.Last = e.Revision, time.Now()
	c.Exchanges++
	c.UnderWay++
}

// left counts an exchange that has ended, and forgets a session that has. The caller holds
// l.mu.
func (l *Log) left(e *Exchange) {
	c := l.clients[e.client()]
	if c == nil {
		return
	}
	c.UnderWay = max(0, c.UnderWay-1)
	if e.Outcome == outcomeEnded && e.Session != "" && e.Method == mcp.MethodInitialize {
		delete(l.clients, e.client())
	}
}

func (l *Log) forgetOne() {
	oldest := ""
	for key, c := range l.clients {
		if oldest == "" || c.Last.Before(l.clients[oldest].Last) {
			oldest = key
		}
	}
	delete(l.clients, oldest)
}

// Clients returns those that were heard of, the latest first.
func (l *Log) Clients() []Client {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]Client, 0, len(l.clients))
	for _, c := range l.clients {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b Client) int { return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Session, b.Session)) })
	return list
}
