package approval

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// option is one of the answers that a person can give.
type option struct {
	Const string `json:"const"`
	Title string `json:"title"`

	terms  Terms
	denied bool
}

// times are those that people are offered, if the configuration allows them.
var times = []time.Duration{10 * time.Minute, time.Hour}

// options returns the answers that the person at the client can give.
func (d *Desk) options() []option {
	d.mu.Lock()
	b := d.bounds
	d.mu.Unlock()
	offered := slices.DeleteFunc(slices.Clone(times), func(t time.Duration) bool { return t > b.MaxTime })
	if b.MaxTime > 0 && !slices.Contains(offered, b.MaxTime) {
		offered = append(offered, b.MaxTime)
	}
	list := []option{{Const: "once", Title: "Allow this call, once"}}
	for _, t := range offered {
		list = append(list, option{
			Const: short(t), Title: "Allow it for " + words(t) + ", with exactly these arguments", terms: Terms{For: t},
		})
	}
	for _, t := range offered {
		if b.ToolWide {
			list = append(list, option{
				Const: "tool-" + short(t), Title: "Allow it for " + words(t) + ", with any arguments", terms: Terms{For: t, Tool: true},
			})
		}
	}
	return append(list, option{Const: "deny", Title: "Deny", denied: true})
}

// short writes a time as people do: 10m, and not 10m0s.
func short(t time.Duration) string {
	text := t.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func words(t time.Duration) string {
	switch {
	case t == time.Hour:
		return "an hour"
	case t%time.Hour == 0:
		return fmt.Sprintf("%d hours", t/time.Hour)
	case t%time.Minute == 0:
		return fmt.Sprintf("%d minutes", t/time.Minute)
	}
	return t.String()
}

// decision is the field of the form.
const decision = "decision"

// form is the schema of the form: one choice, and none is made already.
func (d *Desk) form() json.RawMessage {
	schema := map[string]any{
		"type": "object", "required": []string{decision},
		"properties": map[string]any{decision: map[string]any{"type": "string", "title": "Decision", "oneOf": d.options()}},
	}
	raw, _ := wire.Marshal(schema) // there is nothing in it that has no form
	return raw
}

// question is what the person at the client is asked.
func (c *call) question(p *pending) mcp.InputRequest {
	return mcp.InputRequest{Key: questionKey + p.ID, Method: mcp.MethodElicit, Params: &mcp.ElicitParams{
		Mode: mcp.ElicitForm, Message: p.Text(), RequestedSchema: c.g.desk.form(),
	}}
}

// choice is what a person has answered. Nothing, if none was made.
type choice struct {
	made, denied bool
	terms        Terms
}

var errAnswer = errors.New("the answer is none of those that were offered")

// read reads an answer. Only a person who has chosen one of the approvals that were offered
// has approved: that a form was accepted is not enough.
//
// Spec: 2026-07-28 client/elicitation#response-actions.
func (d *Desk) read(raw json.RawMessage) (choice, error) {
	var result mcp.ElicitResult
	if err := wire.Unmarshal(raw, &result); err != nil {
		return choice{}, err
	}
	switch result.Action {
	case mcp.ActionDecline:
		return choice{made: true, denied: true}, nil
	case mcp.ActionCancel:
		return choice{}, nil
	case mcp.ActionAccept:
	default:
		return choice{}, errAnswer
	}
	var filled struct {
		Decision string `json:"decision"`
	}
	if err := wire.Unmarshal(result.Content, &filled); err != nil {
		return choice{}, errAnswer
	}
	list := d.options()
	i := slices.IndexFunc(list, func(o option) bool { return o.Const == filled.Decision })
	if i < 0 {
		return choice{}, errAnswer
	}
	return choice{made: true, denied: list[i].denied, terms: list[i].terms}, nil
}
