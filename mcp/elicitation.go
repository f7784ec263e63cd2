package mcp

import "encoding/json"

// The modes of ElicitParams.
const (
	ElicitForm = "form"
	ElicitURL  = "url"
)

// ElicitParams asks the user a question: a form with flat fields, or a visit
// to a URL.
//
// Spec: 2026-07-28 client/elicitation#elicitation-requests.
type ElicitParams struct {
	Meta Meta `json:"_meta,omitzero"`
	// Mode is ElicitForm, ElicitURL, or empty for a form.
	Mode    string `json:"mode,omitzero"`
	Message string `json:"message"`
	// RequestedSchema describes the fields of a form.
	RequestedSchema json.RawMessage `json:"requestedSchema,omitzero"`
	// URL is where to send the user, in URL mode.
	URL string `json:"url,omitzero"`
	// ElicitationID names a URL elicitation in 2025-11-25 only; the session
	// sets it unless the handler has.
	ElicitationID string `json:"elicitationId,omitzero"`
}

// The actions of ElicitResult.
const (
	ActionAccept  = "accept"  // the user answered
	ActionDecline = "decline" // the user said no
	ActionCancel  = "cancel"  // the user made no choice
)

// ElicitResult is the user's answer.
//
// Spec: 2026-07-28 client/elicitation#response-actions.
type ElicitResult struct {
	Meta   Meta   `json:"_meta,omitzero"`
	Action string `json:"action"`
	// Content is the filled-in form, a JSON object; nil unless accepted.
	Content json.RawMessage `json:"content,omitzero"`
}

// ElicitCompleteParams says that a URL elicitation of 2025-11-25 is over.
//
// Spec: 2025-11-25 client/elicitation#completion-notifications-for-url-mode-elicitation.
type ElicitCompleteParams struct {
	ElicitationID string `json:"elicitationId"`
}
