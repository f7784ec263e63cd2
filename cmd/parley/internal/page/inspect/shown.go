package inspect

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// shownConnection is a connection as the API shows it.
type shownConnection struct {
	ID     string      `json:"id"`
	Title  string      `json:"title"`
	Target shownTarget `json:"target"`
	Asked  shownAsked  `json:"asked"`
	State  state       `json:"state"`
	Error  *web.Error  `json:"error,omitzero"`
	Since  time.Time   `json:"since"`
	// The members that follow are those of a connection that is or was up.
	Revision     string          `json:"revision,omitzero"`
	Revisions    []string        `json:"revisions,omitzero"`
	Transport    string          `json:"transport,omitzero"`
	Session      string          `json:"session,omitzero"`
	Server       json.RawMessage `json:"server,omitzero"`
	Capabilities json.RawMessage `json:"capabilities,omitzero"`
	Instructions string          `json:"instructions,omitzero"`
	Features     []string        `json:"features"`
	Counts       map[string]int  `json:"counts"`
	Login        bool            `json:"login"`           // somebody is waited for to log in
	Stderr       []string        `json:"stderr,omitzero"` // in the answer about this connection alone
}

// briefConnection is what an event says of a connection. Whoever wants to know more reads it.
type briefConnection struct {
	ID    string     `json:"id"`
	State state      `json:"state"`
	Error *web.Error `json:"error,omitzero"`
}

func (c *Connection) brief() briefConnection {
	c.mu.Lock()
	defer c.mu.Unlock()
	return briefConnection{c.ID, c.state, c.err}
}

// shownTarget is a server and how it is reached, without secrets.
type shownTarget struct {
	Kind    string        `json:"kind"` // "command" or "url"
	Text    string        `json:"text"`
	Entry   *shownEntry   `json:"entry,omitzero"`
	URL     string        `json:"url,omitzero"`
	Command []string      `json:"command,omitzero"`
	Dir     string        `json:"dir,omitzero"`
	Env     []namedSecret `json:"env,omitzero"`
	Headers []namedSecret `json:"headers,omitzero"`
	Login   *shownClient  `json:"login,omitzero"`
}

// shownEntry names an entry of a configuration file.
type shownEntry struct {
	Name string `json:"name"`
	File string `json:"file"`
}

// shownAsked is how somebody wanted to be connected.
type shownAsked struct {
	Transport string `json:"transport"`
	Revision  string `json:"revision"`
}

// shown returns the connection as the API shows it.
func (c *Connection) shown() *shownConnection {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &shownConnection{
		ID: c.ID, Title: c.wish.title(), Target: c.wish.shownTarget(), Asked: c.wish.asked(),
		State: c.state, Error: c.err, Since: c.since,
		Features: []string{}, Counts: map[string]int{},
	}
	if c.last != nil {
		c.last.describe(s)
	}
	s.Transport, s.Session = c.wire.found()
	return s
}

// withCounts adds what the parts count. They may ask the connection, whose lock must
// not be held then.
func (c *Connection) withCounts() *shownConnection {
	s := c.shown()
	s.Login = partOf[login](c).asks()
	for _, p := range c.server.parts {
		if counter, ok := p.(counter); ok {
			maps.Copy(s.Counts, counter.counts(c))
		}
	}
	return s
}

// description is what a server has said of itself.
type description struct {
	revision     mcp.Revision
	revisions    []string
	server       json.RawMessage
	capabilities json.RawMessage
	features     []string
	instructions string
}

// described returns what the server of a client has said of itself. said is its
// capabilities as they came, or nil if that was not seen.
func described(c *client.Client, said json.RawMessage) (*description, error) {
	caps := c.ServerCapabilities()
	info, err := wire.Marshal(c.ServerInfo())
	if err == nil && said == nil {
		said, err = wire.Marshal(caps)
	}
	return &description{c.Revision(), c.ServerRevisions(), info, said, features(&caps, c.Revision()), c.Instructions()}, err
}

func (d *description) describe(s *shownConnection) {
	s.Revision, s.Revisions, s.Server, s.Capabilities = d.revision.String(), d.revisions, d.server, d.capabilities
	s.Features, s.Instructions = d.features, d.instructions
}

// features are the parts of the protocol that a server has, by a method of each, and what
// can be asked for with a call of a tool. Where the revision has completion, but no way to
// declare it, only asking shows whether it is there.
func features(caps *mcp.ServerCapabilities, r mcp.Revision) []string {
	list := []string{}
	facts := revision.Of(r)
	if facts == nil { // a revision that is not released yet
		facts = new(revision.Facts)
		facts.Completions = true
	}
	undeclarable := func(method string) bool { return method == mcp.MethodComplete && !facts.Completions }
	for _, f := range []struct {
		name   string
		method string
	}{
		{"tools", mcp.MethodListTools},
		{"resources", mcp.MethodListResources},
		{"prompts", mcp.MethodListPrompts},
		{"completions", mcp.MethodComplete},
		{"logging", mcp.MethodSetLevel},
		{"tasks", mcp.MethodGetTask},
		{"skills", mcp.MethodListSkills},
	} {
		if caps.Offers(mcp.MethodNamed(f.method)) || undeclarable(f.method) {
			list = append(list, f.name)
		}
	}
	if facts.Tasks {
		list = append(list, "callTask")
	}
	if facts.Stateless && caps.Has(mcp.CapLogging) {
		list = append(list, "callLogLevel")
	}
	return list
}

// whole returns all that there is to know of a connection.
func (c *Connection) whole() *shownConnection {
	s := c.withCounts()
	redactor := c.wished().redactor()
	s.Stderr = c.stderr.all()
	for i, line := range s.Stderr {
		s.Stderr[i] = redactor.Text(line)
	}
	return s
}
