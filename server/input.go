package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// The functions of this file and of sampling.go ask the client. A handler must
// return their errors: if one is an *mcp.InputRequired, that is how the
// question reaches a client that cannot be asked in place. If the client has
// not declared the capability for a question, the error is an
// *mcp.MissingCapabilityError; if an answer is malformed, it is an
// *mcp.InvalidParamsError. What is filled into a form but does not fit it is an
// ordinary error that names the form, so a tool fails with a result that says so.

// ErrDeclined and ErrCancelled say that the user did not answer. The error that
// a handler gets is a *DeclinedError, which wraps one of them.
//
// Spec: 2026-07-28 client/elicitation#response-actions.
var (
	ErrDeclined  = errors.New("the user declined")  // said no
	ErrCancelled = errors.New("the user cancelled") // made no choice
)

// DeclinedError is ErrDeclined or ErrCancelled with the key of the question.
type DeclinedError struct {
	Key   string
	cause error
}

// Error names the question.
func (e *DeclinedError) Error() string { return fmt.Sprintf("%v: %q", e.cause, e.Key) }

// Unwrap returns ErrDeclined or ErrCancelled.
func (e *DeclinedError) Unwrap() error { return e.cause }

// Elicit asks the user to fill in a form and returns what they filled in. key
// names the question within the exchange: the same question must have the same
// key each time the handler runs, and another one a key of its own, also in a loop;
// a key that is used for two questions is an error. A client of the stateless era may send answers
// along with its first request, before it is asked. Where the user must have seen
// the question, make the key of something that Once has made up, such as the
// number of an order.
//
// T is a struct with a field for each field of the form: strings, integers,
// floats, bools, and with an enum tag a string for one choice or a []string
// for several. Tags describe them: title, description, default; minLength,
// maxLength and format (email, uri, date or date-time) for strings; minimum and
// maximum for numbers; minItems and maxItems for choices; and enumTitles, a
// title for each value of enum. A field is required unless it is a pointer, is
// tagged omitempty or omitzero, or has a default. A T that does not qualify is
// an error.
//
// Revision 2025-06-18 has no choice of several values: there such a field is
// left out, or, if it is required, the question fails with an error.
//
// Secrets must not be asked for in a form; see ElicitURL. When the user does
// not answer, the error is a *DeclinedError.
//
// Spec: 2026-07-28 client/elicitation#form-mode-elicitation-requests.
func Elicit[T any](ctx context.Context, call *Call, key, message string) (T, error) {
	return askOne[T](ctx, call, Form[T](key, message))
}

// ElicitURL asks the user to visit a URL, which is where secrets are entered
// and accounts connected. A nil error means that the user agreed to go there,
// not that they are done. The URL must be absolute and of https; http is possible
// for pages on this machine. It must not hold anything secret: one with a user
// name is refused.
//
// Spec: 2026-07-28 client/elicitation#url-mode-elicitation-requests.
func ElicitURL(ctx context.Context, call *Call, key, message, url string) error {
	_, err := askOne[struct{}](ctx, call, URLQuestion(key, message, url))
	return err
}

// RootsKey is the key of the question for the client's roots.
const RootsKey = "roots"

// Roots returns the folders that the client lets the server work in. They are
// advisory and enforce nothing.
//
// Revision 2026-07-28 deprecates roots (docs/deprecated.md): a new server should
// take folders as arguments of its tools, or be configured with them.
//
// Spec: 2026-07-28 client/roots#listing-roots.
func Roots(ctx context.Context, call *Call) ([]*mcp.Root, error) {
	return askOne[[]*mcp.Root](ctx, call, RootsQuestion())
}

// Once runs f and returns its result. When the handler runs again for the same
// exchange, because it asked a question later on, Once returns the same result
// without running f: it is for what must not happen twice. So it does when a key is
// used again in the same run: in a loop, each step needs a key of its own. The result travels
// through the client, sealed, so it must have a JSON form and should be small.
// An error of f is returned and not kept.
//
// In a task, the result is stored with it instead, and also found after the process
// has ended. If that happened while f ran, the error is an *OnceInterruptedError:
// nobody knows whether f took effect, so Once does not run it again.
func Once[T any](ctx context.Context, call *Call, key string, f func(context.Context) (T, error)) (T, error) {
	if call.x.Back == nil {
		var none T
		return none, errNoWayBack
	}
	return kept(ctx, key, f, call.x.Back.Once)
}

// Step is Once for work without effects: in a task, it is done again if the process
// ended meanwhile, so it never fails with an *OnceInterruptedError. It has the keys
// of Once.
func Step[T any](ctx context.Context, call *Call, key string, f func(context.Context) (T, error)) (T, error) {
	if r, ok := call.x.Back.(*taskRun); ok {
		return kept(ctx, key, f, r.Step)
	}
	return Once(ctx, call, key, f)
}

// keeper is the type of mcp.Backchannel.Once.
type keeper = func(ctx context.Context, key string, f func(context.Context) (json.RawMessage, error)) (json.RawMessage, error)

func kept[T any](ctx context.Context, key string, f func(context.Context) (T, error), keep keeper) (T, error) {
	var result T
	raw, err := keep(ctx, key, func(ctx context.Context) (json.RawMessage, error) {
		v, err := f(ctx)
		if err != nil {
			return nil, err
		}
		return wire.Marshal(v)
	})
	if err != nil {
		return result, err
	}
	if err := wire.Unmarshal(raw, &result); err != nil {
		return result, fmt.Errorf("result of %q: %w", key, err)
	}
	return result, nil
}

// Question is one question to the client, for Call.Ask. It is made by Form,
// URLQuestion, SampleQuestion and RootsQuestion.
type Question struct {
	key    string
	method string
	build  func(s *Server) (params any, read reader, err error)
}

// reader makes a value from the client's answer.
type reader func(raw json.RawMessage) (any, error)

// Form returns the question that Elicit asks. Its answer is a T.
func Form[T any](key, message string) Question {
	return Question{key, mcp.MethodElicit, func(s *Server) (any, reader, error) {
		f, err := formOf[T](s)
		if err != nil {
			return nil, nil, err
		}
		params := &mcp.ElicitParams{Mode: mcp.ElicitForm, Message: message, RequestedSchema: f.requested}
		return params, func(raw json.RawMessage) (any, error) { return readForm[T](f, key, raw) }, nil
	}}
}

// URLQuestion returns the question that ElicitURL asks. Its answer is a
// struct{}.
func URLQuestion(key, message, address string) Question {
	return visitQuestion(key, "", message, address)
}

// RootsQuestion returns the question that Roots asks. Its key is RootsKey, its
// answer a []*mcp.Root.
//
// Revision 2026-07-28 deprecates roots (docs/deprecated.md).
func RootsQuestion() Question {
	return Question{RootsKey, mcp.MethodRoots, func(*Server) (any, reader, error) {
		return nil, func(raw json.RawMessage) (any, error) {
			var result mcp.ListRootsResult
			if err := readAnswer(RootsKey, raw, &result); err != nil {
				return nil, err
			}
			if slices.Contains(result.Roots, nil) {
				return nil, mcp.InvalidParams("answer to %q: roots must not hold null", RootsKey)
			}
			return result.Roots, nil
		}, nil
	}}
}

// Answers are the answers to questions that were asked together by Call.Ask;
// the function Answer reads them.
type Answers struct{ byKey map[string]answer }

type answer struct {
	raw  json.RawMessage
	read reader
}

// Ask puts several questions to the client at once and returns when all are
// answered. Each needs a key of its own. An answer may still be that the user
// declined; see Answer.
//
// Spec: 2026-07-28 basic/patterns/mrtr#inputrequests.
func (c *Call) Ask(ctx context.Context, questions ...Question) (Answers, error) {
	answers := Answers{make(map[string]answer, len(questions))}
	if len(questions) == 0 {
		return answers, nil
	}
	requests := make([]mcp.InputRequest, len(questions))
	for i, q := range questions {
		if _, twice := answers.byKey[q.key]; twice || q.key == "" || q.build == nil {
			return Answers{}, fmt.Errorf("question %d: the key %q is empty or used twice", i, q.key)
		}
		params, read, err := q.build(c.s)
		if err != nil {
			return Answers{}, fmt.Errorf("question %q: %w", q.key, err)
		}
		requests[i] = mcp.InputRequest{Key: q.key, Method: q.method, Params: params}
		if err := c.isSame(&requests[i]); err != nil {
			return Answers{}, err
		}
		answers.byKey[q.key] = answer{read: read}
	}
	if c.x.Back == nil {
		return Answers{}, errNoWayBack
	}
	raws, err := c.x.Back.Input(ctx, requests...)
	if err != nil {
		return Answers{}, err
	}
	if len(raws) != len(requests) {
		return Answers{}, fmt.Errorf("%d questions got %d answers", len(requests), len(raws))
	}
	for i, q := range questions {
		answers.byKey[q.key] = answer{raws[i], answers.byKey[q.key].read}
	}
	return answers, nil
}

// isSame returns an error if the handler has asked something else with the key of a
// question: where answers come with the next run, they would be taken for the answers to
// both, and who has agreed to the one would have agreed to the other.
func (c *Call) isSame(q *mcp.InputRequest) error {
	text, err := wire.Marshal([]any{q.Method, q.Params})
	if err != nil {
		return fmt.Errorf("question %q: %w", q.Key, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	before, asked := c.asked[q.Key]
	switch {
	case !asked && c.asked == nil:
		c.asked = map[string][]byte{q.Key: text}
	case !asked:
		c.asked[q.Key] = text
	case !bytes.Equal(before, text):
		return fmt.Errorf("question %q: another question of this call has the same key; give each a key of its own", q.Key)
	}
	return nil
}

// Answer returns the answer to the question with a key. T must be the type of
// that question's answer. When the user did not answer, the error is a
// *DeclinedError.
func Answer[T any](answers Answers, key string) (T, error) {
	var none T
	a, ok := answers.byKey[key]
	if !ok {
		return none, fmt.Errorf("there was no question %q", key)
	}
	v, err := a.read(a.raw)
	if err != nil {
		return none, err
	}
	t, ok := v.(T)
	if !ok {
		return none, fmt.Errorf("the answer to %q is a %T, not a %T", key, v, none)
	}
	return t, nil
}

func askOne[T any](ctx context.Context, call *Call, q Question) (T, error) {
	answers, err := call.Ask(ctx, q)
	if err != nil {
		var none T
		return none, err
	}
	return Answer[T](answers, q.key)
}

// accepted returns the content of an answer to an elicitation.
//
// Spec: 2026-07-28 client/elicitation#response-actions.
func accepted(key string, raw json.RawMessage) (json.RawMessage, error) {
	var result mcp.ElicitResult
	if err := readAnswer(key, raw, &result); err != nil {
		return nil, err
	}
	switch result.Action {
	case mcp.ActionAccept:
		return result.Content, nil
	case mcp.ActionDecline:
		return nil, &DeclinedError{key, ErrDeclined}
	case mcp.ActionCancel:
		return nil, &DeclinedError{key, ErrCancelled}
	}
	return nil, mcp.InvalidParams("answer to %q: unknown action %q", key, shorten(result.Action))
}

func readAnswer(key string, raw json.RawMessage, v any) error {
	if err := wire.Unmarshal(raw, v); err != nil {
		return mcp.InvalidParams("answer to %q: %v", key, err)
	}
	return nil
}
