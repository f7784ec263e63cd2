package serverprobe

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

const answersHandled = "elicitation/answers-handled"

// How many tools that ask are tried in each way, and how often one may ask for the
// same before the call is left.
const (
	mostTried  = 2
	mostUrging = 5
)

var answerProbes = []Probe{
	{
		Info: probe.Info{
			ID: answersHandled,
			Rows: []string{
				"26.client.elicitation-038", "26.client.elicitation-037", "26.client.elicitation-028", "2511.client.elicitation-037",
			},
			Does:    "Repeats calls that ask the user, and declines, cancels and, in sessions, answers with an error.",
			Accepts: "An answer to the call, whatever it says, or that the user is asked again.",
			Mend:    "Let the call fail, or do without, if the user does not answer.",
		},
		Run: func(x *X) probe.Finding {
			tools := slices.Concat(x.askers(question.isForm, mostTried), x.askers(isAskedVisit, mostTried))
			return x.eachManner(tools, "no tool that may be called asks the user", x.refusing())
		},
	},
	{
		Info: probe.Info{
			ID: "elicitation/content-validated", Rows: []string{"26.client.elicitation-060", "2511.client.elicitation-070", "2506.client.elicitation-009"},
			Does:    "Repeats calls that ask for a form, and fills in values of other types than those of the form.",
			Accepts: "Anything but the result that the right values have.",
			Mend:    "Validate the content of the answer against requestedSchema before it is used.",
			After:   []string{answersHandled},
		},
		Run: runMisfits,
	},
}

// named is a manner with a name for reports.
type named struct {
	name string
	how  manner
}

// refusing are the manners in which a user can refuse to answer. Where answers travel with
// requests, a client that failed sends nothing.
func (x *X) refusing() []named {
	all := []named{
		{"decline", acting("decline")},
		{"cancel", acting("cancel")},
	}
	if !x.Stateless {
		all = append(all, named{"an error", chosen(mcp.MethodElicit, func(question) any { return nil })})
	}
	return all
}

// acting is the manner of a user who does nothing but to choose an action.
func acting(action string) manner {
	return chosen(mcp.MethodElicit, func(question) any { return map[string]any{"action": action} })
}

// eachManner calls tools that ask and answers them in several manners. Each call must
// be answered.
func (x *X) eachManner(tools []*Doing, none string, manners []named) probe.Finding {
	finding := probe.Unverified("%s", none)
	for _, d := range tools {
		for _, m := range manners {
			p, err := x.contrary()
			if err != nil {
				return unreachable(err)
			}
			from := x.Log.Len()
			r, endless := p.finish(d.params(), m.how, mostUrging)
			x.remember(d, m, r)
			switch asked := x.askedSince(p, from); {
			case asked == nil: // it can do without this time
			case endless:
				return probe.Unverified("the tool %s asks for the same again and again", d.Name)
			case r.Response != nil:
				finding = probe.Pass(probe.Of(asked, r.Sent, r.Response)...)
			case r.Closed || r.Silent || r.Exchange != nil && (r.Exchange.Status == 200 || r.Exchange.Status >= 500):
				return probe.Fail(append(probe.Of(asked), probe.OfReply(r)...), "the question was answered by %s, and the call has got no answer", m.name)
			default:
				return unanswered(r)
			}
		}
	}
	return finding
}

// askedSince returns the first question in a conversation after the n-th message.
func (x *X) askedSince(p *company, n int) *peer.Message {
	for _, m := range x.Log.Since(n) {
		if !m.Sent && m.Conn == p.Number && (asksForInput(m) || !x.Stateless && m.IsRequest() && needOf[m.Method] != "") {
			return m
		}
	}
	return nil
}

func (x *X) remember(d *Doing, m named, r *peer.Reply) {
	if x.declined == nil {
		x.declined = map[string]*peer.Reply{}
	}
	if m.name == "decline" {
		x.declined[d.Name] = r
	}
}

// A number and a text that fit no field of the other type.
const (
	wrongNumber = json.Number("715517")
	wrongText   = "parley-715517"
)

// misfit fills in a form with values of other types, where it requires any only there,
// and says which texts of the right answer they stand for. It returns nil if the form
// has no fields.
func misfit(form any) (content map[string]any, instead map[string]string) {
	schema, _ := form.(map[string]any)
	required, _ := schema["required"].([]any)
	content, instead = filled(form), map[string]string{}
	for name, v := range content {
		text, isText := v.(string)
		switch {
		case len(required) > 0 && !slices.Contains(required, any(name)):
		case !isText:
			content[name] = wrongText
		default:
			content[name] = wrongNumber
			if len(text) > 2 {
				instead[text] = wrongNumber.String()
			}
		}
	}
	if len(content) == 0 {
		return nil, nil
	}
	return content, instead
}

func runMisfits(x *X) probe.Finding {
	finding := probe.Unverified("no tool that may be called asks for a form")
	for _, d := range x.askers(question.isForm, mostTried) {
		p, err := x.contrary()
		if err != nil {
			return unreachable(err)
		}
		instead := map[string]string{}
		from := x.Log.Len()
		r, endless := p.finish(d.params(), chosen(mcp.MethodElicit, func(q question) any {
			content, texts := misfit(q.Params["requestedSchema"])
			if content == nil {
				return friendly(q)
			}
			instead = texts
			return map[string]any{"action": "accept", "content": content}
		}), mostUrging)
		asked := x.askedSince(p, from)
		switch {
		case asked == nil:
		case endless, r.Response != nil && !succeeded(r.Response):
			finding = probe.Pass(probe.Of(asked, r.Sent, r.Response)...)
		case r.Response == nil:
			return unanswered(r)
		case isUsed(d, r.Response, instead):
			return probe.Fail(probe.Of(asked, r.Sent, r.Response), "values that do not fit the form were used as if they did")
		case reflect.DeepEqual(outcome(d.Result), outcome(r.Response)) && x.refusalShows(d):
			return probe.Fail(probe.Of(asked, r.Sent, r.Response), "values that do not fit the form have the result that right ones have")
		default:
			finding = probe.Unverified("what becomes of wrong values does not show in the result")
		}
	}
	return finding
}

// isUsed reports whether a result is that which a call had before, with other texts in
// place of some.
func isUsed(before *Doing, now *peer.Message, instead map[string]string) bool {
	old, text := plainText(outcome(before.Result)), plainText(outcome(now))
	changed := old
	for right, wrong := range instead {
		changed = strings.ReplaceAll(changed, right, wrong)
	}
	return changed != old && changed == text
}

// plainText is the JSON of a value without quotes: a number in it may have become a text.
func plainText(v any) string {
	return strings.NewReplacer(`\`, "", `"`, "").Replace(string(peer.Encode(v)))
}

// refusalShows reports whether a call has another result if the user declines.
func (x *X) refusalShows(d *Doing) bool {
	r := x.declined[d.Name]
	return r != nil && r.Response != nil && !reflect.DeepEqual(outcome(d.Result), outcome(r.Response))
}
