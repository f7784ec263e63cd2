package mcp

import "github.com/parley-mcp/parley/internal/wire"

// The methods and notifications of the protocol, over all revisions.
// MethodNamed returns the properties of each.
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
	MethodListSkills        = "skills/list"
	MethodGetSkill          = "skills/get"
	MethodReadDirectory     = "resources/directory/read"
	MethodGetTask           = "tasks/get"
	MethodTaskResult        = "tasks/result"
	MethodListTasks         = "tasks/list"
	MethodCancelTask        = "tasks/cancel"
	MethodUpdateTask        = "tasks/update"
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
	NoteTaskStatus          = "notifications/tasks/status" // 2025-11-25
	NoteTask                = "notifications/tasks"        // 2026-07-28
)

// Method describes a method or a notification of the protocol. What depends on
// the method (dispatch, checks of capabilities, caching, headers, rules,
// telemetry) asks its descriptor instead of listing methods. Which revisions
// have the method is known only to the parts of this module that speak a
// revision's wire format.
type Method struct {
	Name string
	// Notification says that it is a notification, which has no answer.
	Notification bool
	// FromServer says that servers send it. The others are sent by clients;
	// notifications of cancellation and progress may come from either side.
	FromServer bool
	// Connection says that the method opens, checks, configures or ends
	// something about the connection, and is handled by whatever carries the
	// connection. It does not reach a Handler, unless Subscribes is set.
	Connection bool
	// Subscribes says that it opens a subscription; see Exchange.Watch.
	Subscribes bool
	// Capability is what a server that has the method must declare; "" is
	// nothing.
	Capability Capability
	// Extension is the identifier of the extension that has the method, or "".
	// Declaring it counts as declaring Capability. If Setting is not "", it is
	// the member of the extension's settings that must be true as well.
	//
	// Spec: 2026-07-28 basic/versioning#extension-negotiation.
	Extension, Setting string
	// ClientDeclares says that in the stateless era the client has to declare the
	// extension as well, in each request.
	//
	// Spec: ext-tasks/draft tasks#protocol-errors.
	ClientDeclares bool
	// AsTask says that the request can go on as a task.
	//
	// Spec: 2025-11-25 basic/utilities/tasks#capabilities.
	// Spec: ext-tasks/draft tasks#supported-methods.
	AsTask bool
	// Feature is the kind of feature that a request is about, and Subject the
	// member of params that names it; zero for none.
	Feature FeatureKind
	Subject string
	// Mirrored says that the stateless era's HTTP requests name the subject in
	// the header Mcp-Name.
	//
	// Spec: 2026-07-28 basic/transports/streamable-http#standard-request-headers.
	Mirrored bool
	// MayAsk says that its handler may ask the client for input.
	//
	// Spec: 2026-07-28 basic/patterns/mrtr#supported-requests.
	MayAsk bool
	// Cacheable says that its result has cache hints, and List that the result
	// is a list of features.
	//
	// Spec: 2026-07-28 server/utilities/caching#cacheable-results.
	Cacheable, List bool
	// Change is the change that a notification announces or, for a cacheable
	// method, the change that makes earlier results stale; zero is none.
	Change ChangeKind

	params, result func() any
}

// NewParams returns a pointer to a zero value of the type of its params, or nil
// if it has none of its own.
func (m *Method) NewParams() any { return made(m.params) }

// NewResult returns a pointer to a zero value of the type of its result, or nil
// for a notification.
func (m *Method) NewResult() any { return made(m.result) }

func made(f func() any) any {
	if f == nil {
		return nil
	}
	return f()
}

func of[T any]() any { return new(T) }

// MethodNamed returns the descriptor of a method of the protocol, or nil for any
// other name. It is shared and must not be changed.
func MethodNamed(name string) *Method { return byName[name] }

// Methods returns the descriptors of all methods and notifications of the
// protocol. They are shared and must not be changed.
func Methods() []*Method {
	all := make([]*Method, len(methods))
	for i := range methods {
		all[i] = &methods[i]
	}
	return all
}

var byName = func() map[string]*Method {
	named := make(map[string]*Method, len(methods))
	for _, m := range Methods() {
		named[m.Name] = m
	}
	return named
}()

var methods = []Method{
	// The life of a connection.
	{Name: MethodInitialize, Connection: true, params: of[InitializeParams], result: of[InitializeResult]},
	{Name: MethodDiscover, Connection: true, Cacheable: true, result: of[DiscoverResult]},
	{Name: MethodPing, Connection: true, result: of[EmptyResult]},
	{Name: NoteInitialized, Connection: true, Subscribes: true, Notification: true},
	{Name: NoteCancelled, Connection: true, Notification: true, params: of[CancelledParams]},

	// Tools.
	{Name: MethodListTools, Capability: CapTools, Cacheable: true, List: true, Change: ToolsChanged, params: of[ListParams], result: of[ListToolsResult]},
	{Name: MethodCallTool, Capability: CapTools, Feature: ToolFeature, Subject: "name", Mirrored: true, MayAsk: true, AsTask: true, params: of[CallToolParams], result: of[CallToolResult]},
	{Name: NoteToolsChanged, Notification: true, FromServer: true, Change: ToolsChanged, params: of[NotificationParams]},

	// Resources.
	{Name: MethodListResources, Capability: CapResources, Cacheable: true, List: true, Change: ResourcesChanged, params: of[ListParams], result: of[ListResourcesResult]},
	{Name: MethodListTemplates, Capability: CapResources, Cacheable: true, List: true, Change: ResourcesChanged, params: of[ListParams], result: of[ListResourceTemplatesResult]},
	{Name: MethodReadResource, Capability: CapResources, Feature: ResourceFeature, Subject: "uri", Mirrored: true, MayAsk: true, Cacheable: true, Change: ResourceUpdated, params: of[ReadResourceParams], result: of[ReadResourceResult]},
	{Name: MethodSubscribe, Connection: true, Subscribes: true, Capability: CapSubscribe, Feature: ResourceFeature, Subject: "uri", params: of[SubscribeParams], result: of[EmptyResult]},
	{Name: MethodUnsubscribe, Connection: true, Capability: CapSubscribe, Feature: ResourceFeature, Subject: "uri", params: of[SubscribeParams], result: of[EmptyResult]},
	{Name: NoteResourcesChanged, Notification: true, FromServer: true, Change: ResourcesChanged, params: of[NotificationParams]},
	{Name: NoteResourceUpdated, Notification: true, FromServer: true, Change: ResourceUpdated, params: of[ResourceUpdatedParams]},

	// Skills.
	{Name: MethodListSkills, Extension: ExtensionSkills, Cacheable: true, List: true, Change: ResourcesChanged, params: of[ListParams], result: of[ListSkillsResult]},
	{Name: MethodGetSkill, Extension: ExtensionSkills, Feature: ResourceFeature, Subject: "uri", Cacheable: true, Change: ResourcesChanged, params: of[GetSkillParams], result: of[GetSkillResult]},
	{Name: MethodReadDirectory, Extension: ExtensionSkills, Setting: "directoryRead", Feature: ResourceFeature, Subject: "uri", params: of[ReadDirectoryParams], result: of[ReadDirectoryResult]},

	// Prompts and completion.
	{Name: MethodListPrompts, Capability: CapPrompts, Cacheable: true, List: true, Change: PromptsChanged, params: of[ListParams], result: of[ListPromptsResult]},
	{Name: MethodGetPrompt, Capability: CapPrompts, Feature: PromptFeature, Subject: "name", Mirrored: true, MayAsk: true, params: of[GetPromptParams], result: of[GetPromptResult]},
	{Name: NotePromptsChanged, Notification: true, FromServer: true, Change: PromptsChanged, params: of[NotificationParams]},
	{Name: MethodComplete, Capability: CapCompletions, params: of[CompleteParams], result: of[CompleteResult]},

	// Logging, progress and subscriptions.
	{Name: MethodSetLevel, Connection: true, Capability: CapLogging, params: of[SetLevelParams], result: of[EmptyResult]},
	{Name: NoteMessage, Notification: true, FromServer: true, params: of[LogParams]},
	{Name: NoteProgress, Notification: true, FromServer: true, params: of[ProgressParams]},
	{Name: MethodListen, Connection: true, Subscribes: true, params: of[ListenParams], result: of[EmptyResult]},
	{Name: NoteAcknowledged, Notification: true, FromServer: true, params: of[AcknowledgedParams]},

	// Tasks. In 2025-11-25 servers send them as well, about the tasks of clients.
	{Name: MethodGetTask, Capability: CapTasks, Extension: ExtensionTasks, ClientDeclares: true, Feature: TaskFeature, Subject: "taskId", Mirrored: true, params: of[TaskParams], result: of[TaskState]},
	{Name: MethodTaskResult, Capability: CapTasks, Feature: TaskFeature, Subject: "taskId", MayAsk: true, params: of[TaskParams], result: of[CallToolResult]},
	{Name: MethodListTasks, Capability: CapTasksList, params: of[ListParams], result: of[ListTasksResult]},
	{Name: MethodCancelTask, Capability: CapTasksCancel, Extension: ExtensionTasks, ClientDeclares: true, Feature: TaskFeature, Subject: "taskId", Mirrored: true, params: of[TaskParams], result: of[TaskState]},
	{Name: MethodUpdateTask, Capability: CapTasks, Extension: ExtensionTasks, ClientDeclares: true, Feature: TaskFeature, Subject: "taskId", Mirrored: true, params: of[UpdateTaskParams], result: of[EmptyResult]},
	{Name: NoteTaskStatus, Notification: true, FromServer: true, Change: TaskChanged, params: of[Task]},
	{Name: NoteTask, Notification: true, FromServer: true, Change: TaskChanged, params: of[TaskState]},

	// What servers ask.
	{Name: MethodElicit, FromServer: true, AsTask: true, params: of[ElicitParams], result: of[ElicitResult]},
	{Name: MethodSample, FromServer: true, AsTask: true, params: of[CreateMessageParams], result: of[CreateMessageResult]},
	{Name: MethodRoots, FromServer: true, result: of[ListRootsResult]},
	{Name: NoteElicitationComplete, Notification: true, FromServer: true, params: of[ElicitCompleteParams]},
	{Name: NoteRootsChanged, Notification: true, params: of[NotificationParams]},
}

// FeatureKind is a kind of feature that a server has.
type FeatureKind uint8

// The kinds of features.
const (
	ToolFeature FeatureKind = iota + 1
	ResourceFeature
	TemplateFeature
	PromptFeature
	TaskFeature
)

// SubjectOf returns the name or URI of the feature that a request is about: the
// member of its params that Method.Subject names. It is "" if the method has no
// subject, and if the member is absent or not a string. params must be valid
// JSON, as those of an Exchange are.
func (m *Method) SubjectOf(params []byte) string {
	if m == nil || m.Subject == "" {
		return ""
	}
	subject, _ := wire.Text(wire.Find(params, m.Subject))
	return subject
}

func unmarshal(data []byte, v any) error { return wire.Unmarshal(data, v) }
