package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/internal/schema"
	"github.com/parley-mcp/parley/internal/similar"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// answers answers the questions of a server: from the flags and, at a terminal,
// by asking the user.
type answers struct {
	app    *app
	server *serverName
	given  map[string]string // --answer, by field
	lines  *lines            // nil when there is nobody to ask
	// samples bounds how often the sampler runs.
	samples *rate.Limiter
}

func (a *app) newAnswers(server *serverName) (*answers, error) {
	given, err := a.flags.formAnswers()
	if err != nil {
		return nil, err
	}
	if a.flags.sampler != "" && !a.flags.yesSample && !a.interactive() {
		return nil, usagef("there is no terminal to ask on before the sampler runs; --yes-sample runs it without asking")
	}
	s := &answers{app: a, server: server, given: given, samples: rate.NewLimiter(rate.Every(time.Minute/samplesPerMinute), samplesPerMinute)}
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
	// Spec: 2026-07-28 basic#implementation-requirements.
	if _, err := schema.Compile(p.RequestedSchema); err != nil {
		s.app.note("parley: %s asks %q: the form cannot be understood, %s", s.server, oneLine(p.Message, 300), oneLine(err.Error(), 1000))
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "requestedSchema: %v", err)
	}
	fields := properties(p.RequestedSchema)
	if s.lines != nil && !s.app.flags.yesForm {
		return s.askForm(ctx, p, fields)
	}
	if len(s.answersGiven()) > 0 {
		result, why := s.fromFlags(p, fields)
		if why == "" || s.lines == nil {
			return s.orDecline(p, result, why)
		}
	}
	if s.lines != nil {
		return s.askForm(ctx, p, fields) // the flags do not suffice
	}
	return s.orDecline(p, nil, "there is no terminal to ask on; answer with --answer name=value for "+fieldNames(fields))
}

// fromFlags fills in a form from the flags and the form's own defaults. If that
// is not possible it says why: nothing is made up.
func (s *answers) fromFlags(p *mcp.ElicitParams, fields []property) (result *mcp.ElicitResult, why string) {
	if why := s.slips(fields); why != "" {
		return nil, why
	}
	content := form{}
	var missing []property
	for _, f := range fields {
		text, ok := s.answersGiven()[f.Name]
		switch {
		case ok:
			value, err := f.answer(text)
			if err != nil {
				return nil, err.Error()
			}
			content.set(f.Name, value)
		case f.Required && f.Default == nil:
			missing = append(missing, f)
		}
	}
	if missing != nil {
		return nil, "no --answer was given for " + fieldNames(missing)
	}
	accept := &mcp.ElicitResult{Action: mcp.ActionAccept, Content: content.json()}
	if _, err := client.CheckForm(p, accept); err != nil {
		return nil, err.Error()
	}
	return accept, ""
}

// slips says which --answer has no field of a form, but is like one that has no answer:
// the form would go out with something else in it, and cannot be taken back.
func (s *answers) slips(fields []property) string {
	given := s.answersGiven()
	has := func(name string) bool {
		return slices.ContainsFunc(fields, func(f property) bool { return f.Name == name })
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if has(name) {
			continue
		}
		for _, f := range fields {
			if _, answered := given[f.Name]; !answered && isLike(name, f.Name) {
				return fmt.Sprintf("--answer %s is about no field of the form; is it %s?", name, f.Name)
			}
		}
	}
	return ""
}

// isLike reports whether a name is a slip or two from another one, or a part of it.
func isLike(name, other string) bool {
	name, other = strings.ToLower(name), strings.ToLower(other)
	return len(name) > 2 && (similar.Edits(name, other) <= 2 || strings.HasPrefix(other, name))
}

// orDecline declines a form that has no result, and says why.
func (s *answers) orDecline(p *mcp.ElicitParams, result *mcp.ElicitResult, why string) (*mcp.ElicitResult, error) {
	if why == "" {
		return result, nil
	}
	s.app.note("parley: %s asks %q: declined, %s", s.server, oneLine(p.Message, 300), oneLine(why, 1000))
	return &mcp.ElicitResult{Action: mcp.ActionDecline}, nil
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

// answersGiven returns the answers of --answer: in a shell, those of the line as well.
func (s *answers) answersGiven() map[string]string {
	if sh := s.app.shell; sh != nil && sh.given.Load() != nil {
		return *sh.given.Load()
	}
	return s.given
}
