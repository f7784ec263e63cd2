package mcp

// MaxCompletions is the largest number of values in one answer.
//
// Spec: 2026-07-28 server/utilities/completion#completion-results.
const MaxCompletions = 100

// CompleteParams asks for values of an argument that start like what was
// typed so far.
//
// Spec: 2026-07-28 server/utilities/completion#requesting-completions.
type CompleteParams struct {
	Ref      Reference          `json:"ref"`
	Argument CompleteArgument   `json:"argument"`
	Context  *CompletionContext `json:"context,omitzero"`
}

// The types of Reference.
const (
	RefPrompt   = "ref/prompt"
	RefResource = "ref/resource"
)

// Reference names a prompt, or a resource template by its URI template.
type Reference struct {
	Type string `json:"type"`
	Name string `json:"name,omitzero"`
	URI  string `json:"uri,omitzero"`
}

// CompleteArgument is the argument to complete, and what was typed so far.
type CompleteArgument struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// CompletionContext holds the arguments that are already known.
type CompletionContext struct {
	Arguments map[string]string `json:"arguments,omitzero"`
}

// CompleteResult holds the values found.
type CompleteResult struct {
	ResultFields
	Completion Completion `json:"completion"`
}

// Completion is a list of values, best first, of at most MaxCompletions.
type Completion struct {
	Values []string `json:"values"`
	// Total is how many there are in all; nil when unknown.
	Total   *int64 `json:"total,omitzero"`
	HasMore bool   `json:"hasMore,omitzero"`
}
