package model_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// frame is the part of a message that is examined.
type frame struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name          string                     `json:"name"`
		Tag           string                     `json:"tag"`
		N             int                        `json:"n"`
		Message       string                     `json:"message"`
		ProgressToken string                     `json:"progressToken"`
		Progress      float64                    `json:"progress"`
		RequestID     json.RawMessage            `json:"requestId"`
		Meta          map[string]json.RawMessage `json:"_meta"`
	} `json:"params"`
	Result *struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"result"`
	Error *struct{ Message string } `json:"error"`
}

func decoded(text string) (f frame) {
	_ = json.Unmarshal([]byte(text), &f) // an unreadable frame counts as none, and is then missing
	return f
}

// request is one that a client has sent.
type request struct {
	tag, id, kind string
	via           string // the tag whose response carries the answer: its own, or a batch's
	cancelled     bool
	lost          bool // its response was cut, and cannot be resumed
	answers       int
	returned      bool // it returned its tag, as it should
	notes         int
	progress      float64
}

// judge goes through what a connection received, and returns the properties
// that were broken.
func (c *client) judge() (broken []string) {
	complain := func(format string, args ...any) {
		broken = append(broken, fmt.Sprintf("client %d (%s): ", c.number, c.revision)+fmt.Sprintf(format, args...))
	}
	c.answers = map[string]int{}
	for _, r := range c.peer.heard() {
		frames := []string{r.frame}
		if strings.HasPrefix(r.frame, "[") {
			frames = elements(r.frame)
		}
		for _, text := range frames {
			c.hears(r.via, text, complain)
		}
	}
	for _, q := range c.requests {
		c.settled(q.id, complain)
	}
	return broken
}

func elements(array string) (list []string) {
	var raw []json.RawMessage
	_ = json.Unmarshal([]byte(array), &raw) // see decoded
	for _, r := range raw {
		list = append(list, string(r))
	}
	return list
}

// hears judges one message.
func (c *client) hears(via, text string, complain func(string, ...any)) {
	f := decoded(text)
	switch {
	case f.Method == "" && f.ID != nil:
		c.answered(via, f, text, complain)
	case f.Method == noteMethod:
		c.belongs(via, f.Params.Tag, text, complain, func(q *request) {
			if q.notes++; q.notes != f.Params.N {
				complain("out of order: %s", text)
			}
		})
	case f.Method == "notifications/progress":
		c.belongs(via, f.Params.ProgressToken, text, complain, func(q *request) {
			if f.Params.Progress <= q.progress {
				complain("progress does not increase: %s", text)
			}
			q.progress = f.Params.Progress
		})
	case f.Method == "elicitation/create":
		c.belongs(via, f.Params.Message, text, complain, func(*request) {})
	case strings.HasSuffix(f.Method, "list_changed"), f.Method == "notifications/resources/updated":
		c.changed(via, f, text, complain)
	case f.Method == "" && f.Error != nil: // about an invalid frame without an ID
	case f.Method == "notifications/subscriptions/acknowledged", f.Method == "notifications/cancelled":
	default:
		complain("what is this? %s", text)
	}
}

// belongs checks that a message belongs to a request of this client that has no
// response yet, and came on its response stream.
func (c *client) belongs(via, tag, text string, complain func(string, ...any), then func(*request)) {
	for _, q := range c.requests {
		if q.tag != tag {
			continue
		}
		switch {
		case q.answers > 0:
			complain("after the answer: %s", text)
		case via != "" && via != q.via:
			complain("on the response of %s: %s", via, text)
		}
		then(q)
		return
	}
	complain("of somebody else: %s", text)
}

// answered takes a response. It finds the request by the tag in the response,
// or else by an ID that was used once; if an ID was reused while in use,
// responses without a tag are only counted.
func (c *client) answered(via string, f frame, text string, complain func(string, ...any)) {
	var tag string
	if f.Result != nil && len(f.Result.Content) > 0 {
		tag = f.Result.Content[0].Text
	}
	var of *request
	candidates := 0
	for _, q := range c.requests {
		if q.id != string(f.ID) || via != "" && via != q.via {
			continue
		}
		if candidates++; q.tag == tag || candidates == 1 && of == nil {
			of = q
		}
	}
	c.answers[string(f.ID)]++
	switch {
	case of == nil:
		complain("an answer to nothing: %s", text)
	case isTag(tag) && tag != of.tag:
		complain("the answer of somebody else: %s", text)
	case candidates > 1 && tag != of.tag:
	default:
		of.returned = tag == of.tag
		if of.answers++; of.answers > 1 {
			complain("a second answer: %s", text)
		}
		if of.notes != notes[of.kind] && tag == of.tag {
			complain("after %d notifications, and there are %d: %s", of.notes, notes[of.kind], text)
		}
	}
}

// isTag reports whether a tool's result is a tag, and not an error text.
func isTag(text string) bool {
	return len(text) > 1 && text[0] == 't' && text[1] >= '0' && text[1] <= '9'
}

// settled checks at the end that the requests with an ID have their responses,
// and no more. If the ID was used once, the response must be what the tool
// returns to clients that stay.
func (c *client) settled(id string, complain func(string, ...any)) {
	least, most := 0, 0
	var one *request
	for _, q := range c.requests {
		if q.id != id {
			continue
		}
		most++
		one = q
		if !q.cancelled && !q.lost && !c.left && q.kind != "listen" {
			least++
		}
	}
	n := c.answers[id]
	if n < least || n > most {
		complain("%d answers to the requests with id %s, want %d to %d", n, id, least, most)
	}
	if least == 1 && most == 1 && n == 1 && !one.returned && slices.Contains(faithful, one.kind) {
		complain("%s was not answered by its tool", one.tag)
	}
}

// changed checks that a change was asked for.
func (c *client) changed(via string, f frame, text string, complain func(string, ...any)) {
	if c.revision != "2026-07-28" {
		if via != "" {
			complain("on the response of %s: %s", via, text)
		}
		if f.Method == "notifications/resources/updated" && !c.everWatched {
			complain("not asked for: %s", text)
		}
		return
	}
	id := string(f.Params.Meta["io.modelcontextprotocol/subscriptionId"])
	for _, q := range c.requests {
		if q.kind == "listen" && q.id == id {
			if q.answers > 0 {
				complain("after its end: %s", text)
			}
			if via != "" && via != q.via {
				complain("on the response of %s: %s", via, text)
			}
			return
		}
	}
	complain("not asked for: %s", text)
}
