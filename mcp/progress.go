package mcp

import "github.com/parley-mcp/parley/jsonrpc"

// ProgressToken ties progress notifications to a request: a string or an
// integer, exactly as the client sent it. Its zero value means that the
// client wants no progress.
//
// Spec: 2026-07-28 basic/patterns/progress#progress-flow.
type ProgressToken = jsonrpc.ID

// ProgressParams says how far a request has come.
//
// Spec: 2026-07-28 basic/patterns/progress#progress-flow.
type ProgressParams struct {
	Meta          Meta          `json:"_meta,omitzero"`
	ProgressToken ProgressToken `json:"progressToken"`
	// Progress increases with each notification.
	Progress float64 `json:"progress"`
	// Total is what Progress runs up to; 0 when unknown.
	Total   float64 `json:"total,omitzero"`
	Message string  `json:"message,omitzero"`
}

// CancelledParams says that a request's answer is no longer wanted.
//
// Spec: 2026-07-28 basic/patterns/cancellation#cancellation-flow.
type CancelledParams struct {
	Meta      Meta       `json:"_meta,omitzero"`
	RequestID jsonrpc.ID `json:"requestId"`
	Reason    string     `json:"reason,omitzero"`
}
