package stream

import (
	"context"
	"errors"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/jsonrpc"
)

// malformed refuses a message, if it may be answered. A notification may not.
// The ID of an answer is one of this side: the question it belongs to fails.
//
// Spec: 2025-11-25 basic#notifications.
func (s *server) malformed(ctx context.Context, m *jsonrpc.Message, bad error, out era.Out) {
	switch m.Kind {
	case jsonrpc.Request:
		s.answerBad(ctx, m.ID, bad, out)
	case jsonrpc.Notification:
		s.opts.Logger.WarnContext(ctx, "notification ignored", "method", m.Method, "reason", bad)
	case jsonrpc.Response:
		failed := jsonrpc.Errorf(jsonrpc.CodeInternalError, "the client sent a malformed answer: %v", bad)
		s.session.Receive(ctx, jsonrpc.NewError(m.ID, failed), s, era.Via{})
	}
}

// refuse answers a frame whose ID could not be read.
func (s *server) refuse(ctx context.Context, err error) { s.answerBad(ctx, jsonrpc.ID{}, err, s) }

// answerBad refuses a message; the connection lives on.
func (s *server) answerBad(ctx context.Context, id jsonrpc.ID, bad error, out era.Out) {
	var rpc *jsonrpc.Error
	if !errors.As(bad, &rpc) {
		rpc = jsonrpc.Errorf(jsonrpc.CodeInternalError, "internal error")
	}
	s.opts.Logger.WarnContext(ctx, "message refused", "reason", rpc.Message)
	frame, err := s.encodeBad(id, rpc)
	if err != nil {
		return
	}
	_ = out.Answer(ctx, frame, &era.Failure{Error: rpc, Malformed: true}) // a client that is gone shows in the next Read
}

// encodeBad leaves the id out where the revision's schema wants that, and
// writes null as JSON-RPC has it before.
//
// Spec: 2026-07-28 basic#error-responses.
func (s *server) encodeBad(id jsonrpc.ID, rpc *jsonrpc.Error) ([]byte, error) {
	if id.IsZero() && s.facts().ErrorWithoutID {
		return jsonrpc.AppendNoID(nil, rpc)
	}
	return jsonrpc.Append(nil, jsonrpc.NewError(id, rpc))
}
