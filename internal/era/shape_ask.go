package era

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/parley-mcp/parley/internal/question"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// lowerQuestion returns a question in a form that the revision and the client support.
func lowerQuestion(q mcp.InputRequest, f *revision.Facts, c *mcp.ClientCapabilities) mcp.InputRequest {
	switch p := q.Params.(type) {
	case *mcp.ElicitParams:
		q.Params = lowerElicit(p, f)
	case *mcp.CreateMessageParams:
		q.Params = lowerSample(p, f, c)
	case json.RawMessage:
		return lowerRawQuestion(q, p, f, c)
	case nil:
		q.Params = noParams
	}
	return q
}

// noParams are the params of a question that has none. They may be absent, but
// some clients, such as those of go-sdk 1.8, cannot read a question without them.
var noParams = json.RawMessage("{}")

func lowerElicit(p *mcp.ElicitParams, f *revision.Facts) *mcp.ElicitParams {
	c := *p
	if f.Stateless {
		c.Meta = nil
	}
	if !f.ElicitationID {
		c.ElicitationID = ""
	}
	if !f.ElicitURL {
		c.Mode = ""
	} else if c.Mode == "" {
		c.Mode = mcp.ElicitForm
	}
	if !f.RichForms {
		c.RequestedSchema = lowerForm(c.RequestedSchema)
	}
	return &c
}

// lowerForm turns the fields of a form into what 2025-06-18 supports: defaults only
// for booleans, and titled choices as enum with enumNames. Multiple choices have no
// older form and are left out; askable refuses the form when one of them is
// required.
func lowerForm(schema json.RawMessage) json.RawMessage {
	return editMember(schema, "properties", func(properties json.RawMessage) json.RawMessage {
		out := properties
		_ = wire.Members(properties, func(name string, field []byte) error {
			lowered, err := wire.Without(out, name)
			if err == nil && !isArray(field) {
				lowered, err = wire.Set(out, name, lowerField(bytes.Clone(field)))
			}
			if err == nil {
				out = lowered
			}
			return nil
		})
		return out
	})
}

// askable returns an error for a question that cannot be expressed in the revision.
func askable(q mcp.InputRequest, f *revision.Facts) error {
	q, err := question.Decode(q)
	p, ok := q.Params.(*mcp.ElicitParams)
	if err != nil || !ok || f.RichForms {
		return err
	}
	var form struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if err := wire.Unmarshal(p.RequestedSchema, &form); err != nil {
		return fmt.Errorf("form %q: %w", q.Key, err)
	}
	for _, name := range form.Required {
		if isArray(form.Properties[name]) {
			return fmt.Errorf("form %q: revision %s has no multiple choice, which the required field %q is", q.Key, f.Revision, name)
		}
	}
	return nil
}

func isArray(field json.RawMessage) bool {
	var have struct {
		Type string `json:"type"`
	}
	return wire.Unmarshal(field, &have) == nil && have.Type == "array"
}

func lowerField(field json.RawMessage) json.RawMessage {
	var have struct {
		Type  string `json:"type"`
		OneOf []struct {
			Const string `json:"const"`
			Title string `json:"title"`
		} `json:"oneOf"`
	}
	if wire.Unmarshal(field, &have) != nil || have.Type == "boolean" {
		return field
	}
	plain, err := wire.Without(field, "default", "oneOf")
	if err != nil || have.OneOf == nil {
		return plain
	}
	var values, titles []string
	for _, o := range have.OneOf {
		values, titles = append(values, o.Const), append(titles, o.Title)
	}
	for name, list := range map[string][]string{"enum": values, "enumNames": titles} {
		raw, err := wire.Marshal(list)
		if err != nil {
			return field
		}
		if plain, err = wire.Set(plain, name, raw); err != nil {
			return field
		}
	}
	return plain
}

func editMember(doc json.RawMessage, name string, edit func(json.RawMessage) json.RawMessage) json.RawMessage {
	var edited json.RawMessage
	err := wire.Members(doc, func(n string, v []byte) error {
		if n == name {
			edited = edit(bytes.Clone(v))
		}
		return nil
	})
	if err != nil || edited == nil {
		return doc
	}
	out, err := wire.Set(doc, name, edited)
	if err != nil {
		return doc
	}
	return out
}

// lowerSample leaves out deprecated context that the client did not declare, and
// splits messages of several blocks in revisions where a message has only one.
func lowerSample(p *mcp.CreateMessageParams, f *revision.Facts, caps *mcp.ClientCapabilities) *mcp.CreateMessageParams {
	c := *p
	if f.Stateless {
		c.Meta = nil
	}
	// Spec: 2026-07-28 client/sampling#capabilities.
	if f.SamplingTools && c.IncludeContext != "none" && (caps.Sampling == nil || caps.Sampling.Context == nil) {
		c.IncludeContext = ""
	}
	if !f.SamplingTools {
		c.Tools, c.ToolChoice = nil, nil
	} else {
		c.Tools = shapeEach(c.Tools, f, shapeTool)
	}
	if c.Tools != nil && len(c.Tools) == 0 {
		c.Tools = nil
	}
	c.Messages = nil
	for _, m := range p.Messages {
		c.Messages = append(c.Messages, lowerMessage(m, f)...)
	}
	return &c
}

func lowerMessage(m *mcp.SamplingMessage, f *revision.Facts) []*mcp.SamplingMessage {
	blocks := mcp.OneOrMany(shapeContents(mcp.Contents(m.Content), f))
	whole := *m
	whole.Content = blocks
	if f.SamplingTools {
		return []*mcp.SamplingMessage{&whole}
	}
	whole.Meta = nil
	split := make([]*mcp.SamplingMessage, len(blocks))
	for i, b := range blocks {
		one := whole
		one.Content = mcp.OneOrMany{b}
		split[i] = &one
	}
	return split
}

// describesObject reports whether a schema is of type object, the only kind
// of output schema before 2026-07-28.
func describesObject(schema json.RawMessage) bool {
	var s struct {
		Type json.RawMessage `json:"type"`
	}
	return schema != nil && wire.Unmarshal(schema, &s) == nil && string(s.Type) == `"object"`
}
