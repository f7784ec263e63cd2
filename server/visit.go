package server

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/parley-mcp/parley/internal/content"
	"github.com/parley-mcp/parley/internal/loopback"
	"github.com/parley-mcp/parley/mcp"
)

// Visit is a visit of the user to a URL that the handler follows up: it begins when
// the user agrees to go there, and is over when they have done there what they were
// sent for, which only the page behind the URL knows.
//
// A handler that can wait asks with Ask, waits for the page, and calls Over. One
// whose page stores what the user did, such as an account that was connected,
// returns Require until it finds that. All methods may be called concurrently.
//
// Spec: 2025-11-25 client/elicitation#completion-notifications-for-url-mode-elicitation.
type Visit struct {
	call *Call
	key  string
	id   string
}

// Visit returns the visit with a key, which names the question as in Elicit. It
// fails when the exchange has no way back to the client.
func (c *Call) Visit(ctx context.Context, key string) (*Visit, error) {
	id, err := Step(ctx, c, "visit "+key, func(context.Context) (string, error) { return rand.Text(), nil })
	if err != nil {
		return nil, err
	}
	return &Visit{c, key, id}, nil
}

// ID identifies the visit. It is random, and the same when the handler runs again
// for the same exchange, so it may be a part of the URL by which the page knows what
// it is visited for. Who visits has to be verified by the page all the same.
func (v *Visit) ID() string { return v.id }

// Ask asks the user to visit a URL, as ElicitURL does. A nil error means that the
// user agreed to go there.
func (v *Visit) Ask(ctx context.Context, message, url string) error {
	_, err := askOne[struct{}](ctx, v.call, visitQuestion(v.key, v.id, message, url))
	return err
}

// Require returns the error with which a handler says that it cannot do anything
// before the user has visited a URL. The client sends the user there and repeats the
// request; a client of 2026-07-28 does so as soon as the user has agreed. The error
// is a *DeclinedError if the user would not go, and an *mcp.MissingCapabilityError
// if the client cannot send anybody.
//
// Spec: 2025-11-25 client/elicitation#url-elicitation-required-error.
// Spec: 2026-07-28 client/elicitation#url-mode-elicitation-requests.
func (v *Visit) Require(message, url string) error {
	q := visitQuestion(v.key, v.id, message, url)
	params, _, err := q.build(v.call.s)
	if err != nil {
		return fmt.Errorf("question %q: %w", v.key, err)
	}
	if answer, ok := v.call.x.Answers[v.key]; ok {
		if _, err := accepted(v.key, answer); err != nil {
			return err
		}
	}
	return &mcp.InputRequired{Requests: []mcp.InputRequest{{Key: v.key, Method: q.method, Params: params}}, VisitFirst: true}
}

// Over tells the client that the visit is over, so that it can stop waiting and
// repeat what it could not do before. Unlike other uses of a call, it may come after
// the handler has returned. Only 2025-11-25 has such a message; in other revisions
// Over does nothing. It fails when the client is gone.
//
// Spec: 2025-11-25 client/elicitation#completion-notifications-for-url-mode-elicitation.
func (v *Visit) Over(ctx context.Context) error {
	return v.call.notify(ctx, mcp.NoteElicitationComplete, &mcp.ElicitCompleteParams{ElicitationID: v.id})
}

// visitQuestion returns the question whether the user visits a URL. id is "" where
// nobody needs to know when the visit is over.
func visitQuestion(key, id, message, address string) Question {
	return Question{key, mcp.MethodElicit, func(*Server) (any, reader, error) {
		if err := checkVisit(address); err != nil {
			return nil, nil, err
		}
		params := &mcp.ElicitParams{Mode: mcp.ElicitURL, Message: message, URL: address, ElicitationID: id}
		return params, func(raw json.RawMessage) (any, error) {
			_, err := accepted(key, raw)
			return struct{}{}, err
		}, nil
	}}
}

// checkVisit checks a URL that a user is to visit: what they enter there is secret,
// and the client sees the whole URL.
//
// Spec: 2026-07-28 client/elicitation#safe-url-handling.
func checkVisit(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http":
		return fmt.Errorf("%q is not an absolute http or https URL", shorten(address))
	case u.User != nil:
		return fmt.Errorf("the URL %q holds a user name, which the client would see: let users log in on the page", shorten(u.Redacted()))
	case u.Scheme == "http" && !loopback.Is(u.Hostname()):
		return fmt.Errorf("the URL %q is not https, and its host is not this machine, where http is allowed for development", shorten(u.Redacted()))
	}
	return content.URI(address)
}
