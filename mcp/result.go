package mcp

// ResultFields are the members every result may have.
//
// Spec: 2026-07-28 basic#result-responses.
type ResultFields struct {
	Meta Meta `json:"_meta,omitzero"`
	// ResultType is set by the wire of the revision in use; handlers leave it
	// empty.
	ResultType string `json:"resultType,omitzero"`
}

// The result types of the core protocol.
const (
	ResultComplete      = "complete"
	ResultInputRequired = "input_required"
)

// ResultTask is the type of a CreateTaskResult, which ExtensionTasks defines.
//
// Spec: ext-tasks/draft tasks#polymorphic-results.
const ResultTask = "task"

// CacheScope says who may reuse a result.
//
// Spec: 2026-07-28 server/utilities/caching#cache-scope-field.
type CacheScope string

// The scopes. CachePrivate is what an empty scope means.
const (
	CachePrivate CacheScope = "private" // only for the same authorization
	CachePublic  CacheScope = "public"  // for anybody
)

// CacheFields say how long a result may be reused, and by whom.
//
// Spec: 2026-07-28 server/utilities/caching#cacheable-model.
type CacheFields struct {
	// TTLMs is how long the result stays fresh, in milliseconds. nil means
	// the server's default, which is 0 unless it was configured.
	// A negative value is sent as 0.
	TTLMs *int64 `json:"ttlMs,omitzero"`
	// CacheScope is sent as CachePrivate unless it is CachePublic.
	CacheScope CacheScope `json:"cacheScope,omitzero"`
}

// ListParams asks for a page of a list: the one that the cursor points to, or
// the first.
// Spec: 2026-07-28 server/utilities/pagination#pagination-model.
type ListParams struct {
	Cursor *string `json:"cursor,omitzero"`
}

// EmptyResult is a result that says nothing but "done".
type EmptyResult struct {
	ResultFields
}
