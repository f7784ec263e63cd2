package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// answers answers the questions of a server: from the flags and, at a terminal,
// by asking the user.
type answers struct {
	app    *app
	server *serverName
	given  map[string]string // --answer, by field
	lines  *lines            // nil when there is nobody to ask
}

func (a *app) newAnswers(server *serverName) (*answers, error) {
	given, err := a.flags.formAnswers()
	if err != nil {
		return nil, err
	}
	s := &answers{app: a, server: server, given: given}
	if a.interactive() {
		s.lines = a.newLines()
	}
	return s, nil
}

// register declares which questions can be answered. Sampling is declared
// without --sampler, too, if there is a user: they are at least told what a
// model was wanted for.
func (s *answers) register(opts *client.Options) {
	opts.Elicit = s.elicit
	if s.lines != nil {
		opts.VisitURL = s.visit
	}
	if s.lines != nil || s.app.flags.sampler != "" {
		opts.Sample = s.sample
	}
}

// elicit answers a form.
func (s *answers) elicit(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	fields := properties(p.RequestedSchema)
	if s.lines != nil {
		return s.askForm(ctx, p, fields)
	}
	if len(s.given) == 0 {
		s.declined(p, "there is no terminal to ask on; answer with --answer name=value for "+fieldNames(fields))
		return &mcp.ElicitResult{Action: mcp.ActionDecline}, nil
	}
	return s.fromFlags(p, fields), nil
}

// fromFlags fills in a form from the flags and the form's own defaults. If a
// required field has no value, it declines: nothing is made up.
func (s *answers) fromFlags(p *mcp.ElicitParams, fields []property) *mcp.ElicitResult {
	decline := &mcp.ElicitResult{Action: mcp.ActionDecline}
	content := form{}
	var missing []property
	for _, f := range fields {
		text, ok := s.given[f.Name]
		switch {
		case ok:
			value, err := f.answer(text)
			if err != nil {
				s.declined(p, err.Error())
				return decline
			}
			content.set(f.Name, value)
		case f.Required && f.Default == nil:
			missing = append(missing, f)
		}
	}
	if missing != nil {
		s.declined(p, "no --answer was given for "+fieldNames(missing))
		return decline
	}
	accept := &mcp.ElicitResult{Action: mcp.ActionAccept, Content: content.json()}
	if _, err := client.CheckForm(p, accept); err != nil {
		s.declined(p, err.Error())
		return decline
	}
	return accept
}

func (s *answers) declined(p *mcp.ElicitParams, why string) {
	s.app.note("parley: %s asks %q: declined, %s", s.server, oneLine(p.Message, 300), oneLine(why, 1000))
}

// form is the content of an answer, in the order of the form.
type form struct{ doc json.RawMessage }

func (f *form) set(name string, value json.RawMessage) {
	if doc, err := wire.Set(f.json(), name, value); err == nil {
		f.doc = doc
	}
}

func (f *form) json() json.RawMessage {
	if f.doc == nil {
		return json.RawMessage("{}")
	}
	return f.doc
}

// answer converts what somebody typed into a field's value, and checks it.
func (p *property) answer(text string) (json.RawMessage, error) {
	value := p.value(text)
	var doc form
	doc.set(p.Name, value)
	var properties form
	properties.set(p.Name, p.Raw)
	schema := json.RawMessage(`{"type":"object","properties":` + string(properties.json()) + `}`)
	_, err := client.CheckForm(
		&mcp.ElicitParams{RequestedSchema: schema},
		&mcp.ElicitResult{Action: mcp.ActionAccept, Content: doc.json()},
	)
	return value, err
}

func (p *property) value(text string) json.RawMessage {
	switch {
	case p.Multiple && typeOf(text) != "array":
		values := []string{}
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part != "" {
				values = append(values, p.choose(part))
			}
		}
		raw, _ := wire.Marshal(values) // strings always encode
		return raw
	case len(p.Choices) > 0 && !p.Multiple:
		return jsonString(p.choose(text))
	case slices.Equal(p.Types, []string{"boolean"}):
		return p.convert(yesOrNo(text))
	}
	return p.convert(text)
}

// choose finds the choice that is meant: by its value, or by its title.
func (p *property) choose(text string) string {
	for _, c := range p.Choices {
		if c.Value == text {
			return text
		}
	}
	for _, c := range p.Choices {
		if strings.EqualFold(c.Title, text) || strings.EqualFold(c.Value, text) {
			return c.Value
		}
	}
	return text
}

func yesOrNo(text string) string {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "y", "yes", "true":
		return "true"
	case "n", "no", "false":
		return "false"
	}
	return text
}

func fieldNames(fields []property) string {
	var b bytes.Buffer
	for i, f := range fields {
		b.WriteString(when(i > 0, ", "))
		b.WriteString(`"` + f.Name + `"`)
	}
	return or(b.String(), "its fields")
}

// serverName is what a server is called in questions. It may ask before its
// name is known.
type serverName struct {
	command string
	name    atomic.Pointer[string]
}

func newServerName(command string) *serverName { return &serverName{command: command} }

func (n *serverName) set(info mcp.Implementation) {
	if name := or(info.Title, info.Name); name != "" {
		n.name.Store(&name)
	}
}

// String returns the name in quotes, because the server chose it.
func (n *serverName) String() string {
	if name := n.name.Load(); name != nil {
		return `the server "` + oneLine(*name, 80) + `"`
	}
	return `the server "` + oneLine(n.command, 80) + `"`
}
