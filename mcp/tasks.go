package mcp

import (
	"encoding/json"
	"fmt"

	"github.com/parley-mcp/parley/jsonrpc"
)

// ExtensionTasks identifies the extension by which servers of 2026-07-28 answer a
// call with a task.
//
// Spec: ext-tasks/draft tasks#extension-identifier.
const ExtensionTasks = "io.modelcontextprotocol/tasks"

// Keys of _meta that concern tasks. Only sessions use them.
const (
	// MetaRelatedTask is {"taskId": …} on whatever belongs to a task.
	//
	// Spec: 2025-11-25 basic/utilities/tasks#related-task-metadata.
	MetaRelatedTask = "io.modelcontextprotocol/related-task"
	// MetaImmediateResponse is a text on a CreateTaskResult that a model can be
	// given until the task has ended.
	//
	// Spec: 2025-11-25 basic/utilities/tasks#creating-tasks.
	MetaImmediateResponse = "io.modelcontextprotocol/model-immediate-response"
)

// TaskStatus says how far a task has come.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-status.
// Spec: ext-tasks/draft tasks#task-status.
type TaskStatus string

// The statuses. A task begins as TaskWorking. The last three are final.
const (
	TaskWorking       TaskStatus = "working"
	TaskInputRequired TaskStatus = "input_required"
	TaskCompleted     TaskStatus = "completed"
	TaskFailed        TaskStatus = "failed"
	TaskCancelled     TaskStatus = "cancelled"
)

// Final reports whether a task with this status has ended.
func (s TaskStatus) Final() bool {
	return s == TaskCompleted || s == TaskFailed || s == TaskCancelled
}

// Task is the state of a request that is served apart from its exchange. It has
// the form of 2026-07-28; 2025-11-25 names two of its members differently, which
// the parts that speak its wire format take care of.
//
// Spec: ext-tasks/draft tasks#tasks.
type Task struct {
	// ID is made up by whoever executes the task, and cannot be guessed.
	ID     string     `json:"taskId"`
	Status TaskStatus `json:"status"`
	// StatusMessage describes the status to people; optional.
	StatusMessage string `json:"statusMessage,omitzero"`
	// CreatedAt and LastUpdatedAt are ISO 8601 times.
	CreatedAt     string `json:"createdAt"`
	LastUpdatedAt string `json:"lastUpdatedAt"`
	// TTLMs is how long the task is kept, in milliseconds from its creation; nil
	// means without limit.
	TTLMs *int64 `json:"ttlMs"`
	// PollIntervalMs is how long to wait between two requests for the state, in
	// milliseconds; nil says nothing.
	PollIntervalMs *int64 `json:"pollIntervalMs,omitzero"`
	// ToolFailed says that the task has completed with the result of a tool that
	// failed (CallToolResult.IsError). In 2025-11-25 such a task counts as failed.
	ToolFailed bool `json:"-"`
}

// CreateTaskResult answers a request that goes on as a task.
//
// Spec: 2025-11-25 basic/utilities/tasks#creating-tasks.
// Spec: ext-tasks/draft tasks#task-creation.
type CreateTaskResult struct {
	ResultFields
	Task
}

// TaskParams name a task. They are the params of tasks/get, tasks/result and
// tasks/cancel.
//
// Spec: 2025-11-25 basic/utilities/tasks#getting-tasks.
type TaskParams struct {
	ID string `json:"taskId"`
}

// TaskState is the state of a task with what belongs to its status. It is the
// result of tasks/get and, in 2025-11-25, of tasks/cancel; it is also what status
// notifications carry. Only 2026-07-28 has the members besides those of Task.
//
// Spec: ext-tasks/draft tasks#task-polling.
type TaskState struct {
	ResultFields
	Task
	// InputRequests are the questions that the task waits for, by their keys.
	InputRequests map[string]*InputRequest `json:"inputRequests,omitzero"`
	// Result is the result of the request, if the task has completed.
	Result json.RawMessage `json:"result,omitzero"`
	// Error is why the task failed.
	Error *jsonrpc.Error `json:"error,omitzero"`
}

// ListTasksResult is a page of the tasks of one requestor. Only 2025-11-25 has it.
//
// Spec: 2025-11-25 basic/utilities/tasks#listing-tasks.
type ListTasksResult struct {
	ResultFields
	Tasks      []*Task `json:"tasks"`
	NextCursor *string `json:"nextCursor,omitzero"`
}

// UpdateTaskParams answer questions of a task, by their keys. Only 2026-07-28 has
// them.
//
// Spec: ext-tasks/draft tasks#task-update-requests.
type UpdateTaskParams struct {
	ID             string                     `json:"taskId"`
	InputResponses map[string]json.RawMessage `json:"inputResponses"`
}

// TaskOffer says that the client of an exchange can take a task in place of the
// result.
type TaskOffer struct {
	// Demanded says that the client asks for a task, as clients of 2025-11-25 do.
	// Otherwise the server decides.
	Demanded bool
	// TTLMs is how long the client wants the task to be kept, in milliseconds; nil
	// leaves it to the server.
	TTLMs *int64
}

// TaskRequiredError says that a tool can only be called as a task, and that the
// client has not asked for one or cannot take one. Its number on the wire depends
// on the revision.
//
// Spec: 2025-11-25 basic/utilities/tasks#tool-level-negotiation.
// Spec: ext-tasks/draft tasks#capability-negotiation.
type TaskRequiredError struct{ Tool string }

// Error names the tool.
func (e *TaskRequiredError) Error() string {
	return fmt.Sprintf("tool %q can only be called as a task", e.Tool)
}

// TaskForbiddenError says that a client asked for a task, but that the tool cannot
// run as one.
//
// Spec: 2025-11-25 basic/utilities/tasks#tool-level-negotiation.
type TaskForbiddenError struct{ Tool string }

// Error names the tool.
func (e *TaskForbiddenError) Error() string {
	return fmt.Sprintf("tool %q cannot be called as a task", e.Tool)
}

// TaskEndedError says that a task cannot be cancelled because it has ended. It is
// an error in 2025-11-25 only.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-cancellation.
type TaskEndedError struct {
	ID     string
	Status TaskStatus
}

// Error names the status.
func (e *TaskEndedError) Error() string {
	return fmt.Sprintf("cannot cancel task: it has already ended as %q", e.Status)
}

// TasksCapability says which requests can be made as tasks, and what can be done
// with these. Only 2025-11-25 has it; servers of 2026-07-28 declare ExtensionTasks
// instead.
//
// Spec: 2025-11-25 basic/utilities/tasks#capabilities.
type TasksCapability struct {
	List     *Empty       `json:"list,omitzero"`
	Cancel   *Empty       `json:"cancel,omitzero"`
	Requests TaskRequests `json:"requests,omitzero"`
}

// TaskRequests are the kinds of requests that can be made as tasks: Tools of
// servers, the others of clients.
//
// Spec: 2025-11-25 basic/utilities/tasks#capabilities.
type TaskRequests struct {
	Tools       *ToolTasks        `json:"tools,omitzero"`
	Sampling    *SamplingTasks    `json:"sampling,omitzero"`
	Elicitation *ElicitationTasks `json:"elicitation,omitzero"`
}

// ToolTasks says that calls of tools can be tasks.
type ToolTasks struct {
	Call *Empty `json:"call,omitzero"`
}

// SamplingTasks says that sampling can be a task.
type SamplingTasks struct {
	CreateMessage *Empty `json:"createMessage,omitzero"`
}

// ElicitationTasks says that elicitation can be a task.
type ElicitationTasks struct {
	Create *Empty `json:"create,omitzero"`
}
