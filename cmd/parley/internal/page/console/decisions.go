package console

import (
	"encoding/json"
	"time"
)

// Approvals is what waits for a human, and what was approved for a time.
type Approvals struct {
	Waiting []Waiting `json:"waiting"`
	Given   []Grant   `json:"given"`
	// MaxSeconds is for how long something can be approved; 0 is for one call only. ToolWide
	// says that a tool can be approved with any arguments.
	MaxSeconds float64 `json:"maxSeconds"`
	ToolWide   bool    `json:"toolWide"`
}

// Waiting is an operation that waits.
type Waiting struct {
	ID        string    `json:"id"`
	Asked     time.Time `json:"asked"`
	Until     time.Time `json:"until"`
	Principal string    `json:"principal,omitzero"`
	Client    string    `json:"client,omitzero"`
	Source    string    `json:"source,omitzero"`
	View      string    `json:"view,omitzero"`
	Backend   string    `json:"backend"`
	Method    string    `json:"method"`
	Subject   string    `json:"subject"`
	Shown     string    `json:"shown"`
	Why       []string  `json:"why,omitzero"`
	// Ask is who may decide: the operator, the person at the client, or both.
	Ask string `json:"ask"`
	// Arguments and Extra are what the backend would get, as it is; they are left out of
	// lists if they are large. Text is what people are shown of them, with everything visible.
	Arguments json.RawMessage `json:"arguments,omitzero"`
	Extra     json.RawMessage `json:"extra,omitzero"`
	Text      string          `json:"text"`
	Digest    string          `json:"digest"`
	Unlisted  bool            `json:"unlisted,omitzero"`
}

// Grant is an approval for a time.
type Grant struct {
	ID        string    `json:"id"`
	Given     time.Time `json:"given"`
	Until     time.Time `json:"until"`
	By        string    `json:"by"`
	Principal string    `json:"principal,omitzero"`
	Client    string    `json:"client,omitzero"`
	Backend   string    `json:"backend"`
	Method    string    `json:"method"`
	Subject   string    `json:"subject"`
	Shown     string    `json:"shown"`
	Tool      bool      `json:"tool,omitzero"`
	Arguments string    `json:"arguments,omitzero"`
	Digest    string    `json:"digest,omitzero"`
	Used      int       `json:"used"`
}

// Terms are those of an approval: for one call, or for a time.
type Terms struct {
	Seconds float64 `json:"seconds"`
	// Tool covers any arguments, and not only those that were asked about.
	Tool bool `json:"tool"`
}

// PinKey names a definition.
type PinKey struct {
	Backend string `json:"backend"`
	Kind    string `json:"kind"`
	Name    string `json:"name"`
}

// Pin is what is known of a definition.
type Pin struct {
	PinKey

	// Approved may be used; Pending is what the backend has now, if that is something else.
	Approved *Version `json:"approved,omitzero"`
	Pending  *Version `json:"pending,omitzero"`
}

// Version is a definition as it was at a time.
type Version struct {
	Digest string    `json:"digest"`
	Since  time.Time `json:"since"`
	// Lines is the definition in a form in which equal parts are equal lines; "" in lists.
	Lines string `json:"lines,omitzero"`
}
