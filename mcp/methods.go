package mcp

import "github.com/parley-mcp/parley/internal/wire"

// The methods and notifications of the protocol, over all revisions.
const (
	MethodInitialize        = "initialize"
	MethodDiscover          = "server/discover"
	MethodPing              = "ping"
	MethodListTools         = "tools/list"
	MethodCallTool          = "tools/call"
	MethodListResources     = "resources/list"
	MethodListTemplates     = "resources/templates/list"
	MethodReadResource      = "resources/read"
	MethodSubscribe         = "resources/subscribe"
	MethodUnsubscribe       = "resources/unsubscribe"
	MethodListPrompts       = "prompts/list"
	MethodGetPrompt         = "prompts/get"
	MethodComplete          = "completion/complete"
	MethodSetLevel          = "logging/setLevel"
	MethodListen            = "subscriptions/listen"
	MethodElicit            = "elicitation/create"
	MethodSample            = "sampling/createMessage"
	MethodRoots             = "roots/list"
	NoteInitialized         = "notifications/initialized"
	NoteCancelled           = "notifications/cancelled"
	NoteProgress            = "notifications/progress"
	NoteMessage             = "notifications/message"
	NoteToolsChanged        = "notifications/tools/list_changed"
	NotePromptsChanged      = "notifications/prompts/list_changed"
	NoteResourcesChanged    = "notifications/resources/list_changed"
	NoteResourceUpdated     = "notifications/resources/updated"
	NoteRootsChanged        = "notifications/roots/list_changed"
	NoteAcknowledged        = "notifications/subscriptions/acknowledged"
	NoteElicitationComplete = "notifications/elicitation/complete"
)

func unmarshal(data []byte, v any) error { return wire.Unmarshal(data, v) }
