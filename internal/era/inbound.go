package era

import (
	"context"
	"errors"
	"strconv"

	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Inbound handles the frames that a server sends to a client on one connection:
// answers go to their calls, requests of the server are answered, and
// notifications are passed on. The transport carries bytes and owns the
// goroutines. The fields must be set before Take is called, and must not change
// afterwards.
type Inbound struct {
	Receiver mcp.Receiver
	Decoder  jsonrpc.Decoder
	// Reply sends a frame: the answer to a request, or an array of answers. The
	// transport reports errors itself: its reader notices that the connection
	// is gone.
	Reply func(frame []byte) error
	// Go runs f, which answers a request, on a goroutine of its own. It
	// reports false when the connection has ended; then f does not run.
	Go func(f func()) bool
	// Refuse runs f, which refuses a request, without holding up reading. It
	// reports false when that cannot be done; then f does not run.
	Refuse func(f func()) bool
	// Complain logs what the server does wrong, as in Complainer. It may be nil.
	Complain func(message string, args ...any)
	// Seen observes the connection.
	Seen *tap.Conn

	asked inFlight // requests of the server
}

// Pending are the calls that a frame may belong to: all those of a connection, or
// the one whose stream it came on.
type Pending interface {
	// Resolve hands a response to its call, and reports whether there is one.
	Resolve(response *jsonrpc.Message) bool
	// Late reports whether the call with this ID was given up, so that the response
	// is nobody's fault.
	Late(id jsonrpc.ID) bool
	// Fail ends the call with this ID, because its answer cannot be read, and
	// reports whether there is one. The ID is zero if it cannot be read either.
	Fail(id jsonrpc.ID, err error) bool
	// EndListen ends the subscription with this ID, and reports whether there
	// is one.
	EndListen(id jsonrpc.ID) bool
	// Undelivered says that the answer to a question, which may belong to one of
	// the calls, did not reach the server, so that the call would wait forever.
	Undelivered(err error)
	// Answers reports whether the server's requests are answered here.
	Answers() bool
	// Context is what the receiver gets with requests and notifications. It
	// ends with the connection, and has the values of the call's context if they
	// belong to a call.
	Context() context.Context
}

// maxAsked bounds how many of the server's requests are being answered at a time.
const maxAsked = 256

var (
	errNotAsked   = errors.New("nothing was asked under this ID")
	errLate       = errors.New("the call was given up")
	errMustNotAsk = errors.New("a server must not send any requests here")
	errTooMany    = errors.New("too many requests of the server wait to be refused")
)

// Take handles one frame. For each Pending, only one goroutine at a time may call
// it. A client accepts batches in every revision, though servers send them only in
// 2025-03-26. The answers to the requests of a batch go out as one array, too. Take reports
// whether the frame was a message, or has one, however wrong.
//
// Spec: 2025-03-26 basic#batching.
func (in *Inbound) Take(frame []byte, calls Pending) (isMessage bool) {
	if !jsonrpc.IsBatch(frame) {
		m, err := in.Decoder.Decode(frame)
		in.message(m, err, calls, nil)
		return speaks(m, err)
	}
	entries, err := in.Decoder.DecodeBatch(frame)
	if err != nil {
		in.malformed(new(jsonrpc.Message), err, calls)
		return false
	}
	open := 0
	for _, e := range entries {
		if asks(e.Message) {
			open++
		}
	}
	together := newGather(open, in.Reply)
	for _, e := range entries {
		in.message(e.Message, e.Err, calls, together)
		isMessage = isMessage || speaks(e.Message, e.Err)
	}
	return isMessage
}

// speaks reports whether something is a message; bad is the error of its decoding.
func speaks(m *jsonrpc.Message, bad error) bool {
	return bad == nil || m.Method != "" || !m.ID.IsZero()
}

// asks reports whether a message, which may be malformed, waits for an answer.
func asks(m *jsonrpc.Message) bool {
	return m.Kind == jsonrpc.Request && m.Method != "" && !m.ID.IsZero()
}

// message handles one message; bad is the error of its decoding. Its answer goes
// out together with others, or by itself if together is nil.
func (in *Inbound) message(m *jsonrpc.Message, bad error, calls Pending, together *gather) {
	switch {
	case asks(m) && !calls.Answers():
		in.ignore(m, mcp.DropNotAllowed, errMustNotAsk)
		_ = in.reply(nil, together)
	case asks(m):
		in.request(calls, m, bad, together)
	case bad != nil:
		in.malformed(m, bad, calls)
	case m.Kind == jsonrpc.Response:
		in.response(m, calls)
	case m.Method == mcp.NoteCancelled:
		if !endsListen(m, calls) {
			in.asked.notice(m, in.Seen, nil)
		}
		in.Receiver.Notification(calls.Context(), m) // it logs the reason
	case !in.asked.notice(m, in.Seen, nil):
		in.Receiver.Notification(calls.Context(), m)
	}
}

// resolveText is Resolve for a response whose ID is a number written as a string.
// Clients send numbers only, so it cannot belong to another call.
func (in *Inbound) resolveText(m *jsonrpc.Message, calls Pending) bool {
	id, ok := Number(m.ID)
	if !ok {
		return false
	}
	sent := *m
	sent.ID = id
	if !calls.Resolve(&sent) {
		return false
	}
	in.complain("the server answers with the ID as a string, which was sent as a number", "id", m.ID.String())
	return true
}

// Number returns the number that an ID holds as a string, such as 1 for "1".
func Number(id jsonrpc.ID) (jsonrpc.ID, bool) {
	text := id.String()
	if len(text) < 3 || text[0] != '"' {
		return jsonrpc.ID{}, false
	}
	n, err := strconv.ParseInt(text[1:len(text)-1], 10, 64)
	number := jsonrpc.IntID(n)
	return number, err == nil && number.String() == text[1:len(text)-1]
}

// Complainer is a Receiver that logs what a server does wrong. message is a constant,
// and args are those of a slog.Logger.
type Complainer interface {
	Complain(message string, args ...any)
}

func (in *Inbound) complain(message string, args ...any) {
	if in.Complain != nil {
		in.Complain(message, args...)
	}
}

// response hands a response to its call. One that comes after its call was
// cancelled is dropped without a word.
//
// Spec: 2026-07-28 basic/patterns/cancellation#behavior-requirements.
func (in *Inbound) response(m *jsonrpc.Message, calls Pending) {
	switch {
	case calls.Resolve(m), in.resolveText(m, calls):
	case calls.Late(m.ID):
		in.Seen.Drop(mcp.Received, mcp.DropUnasked, "", errLate)
	default:
		in.ignore(m, mcp.DropUnasked, errNotAsked)
	}
}

// endsListen handles a notification with which a server ends a subscription, and
// reports whether m was one. The answer that should follow it may never come.
//
// Spec: 2026-07-28 basic/patterns/cancellation#behavior-requirements (2).
func endsListen(m *jsonrpc.Message, calls Pending) bool {
	var p mcp.CancelledParams
	if wire.Unmarshal(m.Params, &p) != nil {
		return false
	}
	number, ok := Number(p.RequestID)
	return calls.EndListen(p.RequestID) || ok && calls.EndListen(number)
}

// malformed fails the call whose answer could not be read, so that it does not
// wait forever. The error arose on this side, so errors.As must not find one in it
// that looks as if the server had sent it. Messages other than answers are ignored.
//
// Spec: 2026-07-28 basic#error-codes.
func (in *Inbound) malformed(m *jsonrpc.Message, bad error, calls Pending) {
	if m.Method != "" || !calls.Fail(m.ID, errors.New("the server sent a malformed answer: "+bad.Error())) {
		in.ignore(m, mcp.DropMalformed, bad)
	}
}

// request answers a request; bad is the error of its decoding.
func (in *Inbound) request(calls Pending, m *jsonrpc.Message, bad error, together *gather) {
	ctx := calls.Context()
	if bad != nil {
		m = unnamed(m)
	}
	own, err := in.asked.add(ctx, m, maxAsked)
	if err != nil {
		if !in.Refuse(func() { _ = in.reply(in.answer(ctx, unnamed(m), err), together) }) {
			in.ignore(m, mcp.DropTooMany, errTooMany)
			_ = in.reply(nil, together)
		}
		return
	}
	if !in.Go(func() {
		frame, withdrawn := in.admitted(own, m, bad)
		if err := in.reply(frame, together); err != nil && !withdrawn {
			calls.Undelivered(err)
		}
	}) {
		in.asked.remove(m.ID)
		in.Seen.Drop(mcp.Received, mcp.DropClosed, m.Method, nil)
	}
}

// unnamed returns a request with the ID of m and no method: the receiver's reaction
// still tells whether this side answers requests at all.
func unnamed(m *jsonrpc.Message) *jsonrpc.Message {
	return &jsonrpc.Message{Kind: jsonrpc.Request, ID: m.ID}
}

// admitted answers a request, and frees its ID before the answer goes out: the
// server may use the ID again as soon as it has the answer. withdrawn says that
// nobody waits for the answer.
func (in *Inbound) admitted(ctx context.Context, m *jsonrpc.Message, bad error) (frame []byte, withdrawn bool) {
	defer in.asked.remove(m.ID)
	frame = in.answer(ctx, m, bad)
	return frame, ctx.Err() != nil
}

// answer asks the receiver, and returns the frame of the answer, or nil for
// none.
//
// Spec: 2025-11-25 basic/utilities/cancellation#behavior-requirements (4).
func (in *Inbound) answer(ctx context.Context, m *jsonrpc.Message, bad error) []byte {
	result, rpc := in.Receiver.Request(ctx, m)
	switch cause := context.Cause(ctx); {
	case result == nil && rpc == nil:
		return nil
	case errors.Is(cause, ErrCancelRequest):
		return encodeAnswer(m.ID, nil, Cancelled())
	case cause != nil:
		in.Seen.Drop(mcp.Sent, mcp.DropCancelled, m.Method, cause)
		return nil
	case bad != nil:
		return encodeAnswer(m.ID, nil, bad)
	case rpc != nil:
		return encodeAnswer(m.ID, nil, rpc)
	}
	return encodeAnswer(m.ID, result, nil)
}

// encodeAnswer returns the frame of an answer.
func encodeAnswer(id jsonrpc.ID, result any, failed error) []byte {
	if failed == nil {
		if frame, err := jsonrpc.AppendResult(nil, id, result); err == nil {
			return frame
		}
	}
	var rpc *jsonrpc.Error
	if !errors.As(failed, &rpc) {
		rpc = jsonrpc.Errorf(jsonrpc.CodeInternalError, "internal error")
	}
	frame, err := jsonrpc.Append(nil, jsonrpc.NewError(id, rpc))
	if err != nil { // the data was not JSON
		frame, _ = jsonrpc.Append(nil, jsonrpc.NewError(id, jsonrpc.Errorf(rpc.Code, "%s", rpc.Message)))
	}
	return frame
}

// reply sends an answer, alone or together with others; nil stands for one
// that will not come.
func (in *Inbound) reply(frame []byte, together *gather) (err error) {
	switch {
	case together != nil:
		err = together.settle(frame)
	case frame != nil:
		err = in.Reply(frame)
	}
	if err != nil { // Reply has reported it
		in.Seen.DropFrame(mcp.Sent, tap.ReasonOf(err), "", frame, err)
	}
	return err
}

func (in *Inbound) ignore(m *jsonrpc.Message, why mcp.DropReason, reason error) {
	in.Seen.Drop(mcp.Received, why, m.Method, reason)
	in.complain("message of the server ignored", "method", m.Method, "id", m.ID.String(), "reason", reason)
}
