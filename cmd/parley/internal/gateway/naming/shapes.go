package naming

import "github.com/parley-mcp/parley/mcp"

// leaf is a string that names something.
func leaf(is what) *shape { return &shape{is: is} }

func each(s *shape) *shape { return &shape{each: s} }

// object makes the shape of the params or the result of something that may belong to a
// task, which its _meta then names.
//
// Spec: 2025-11-25 basic/utilities/tasks#related-task-metadata.
func object(members map[string]*shape) *shape {
	members["_meta"] = &shape{members: map[string]*shape{
		mcp.MetaRelatedTask: {members: map[string]*shape{"taskId": leaf(taskID)}},
	}}
	return &shape{members: members}
}

// located is what has a URI.
var located = &shape{members: map[string]*shape{"uri": leaf(uri)}}

// blocks are the kinds of blocks of content that name something, and simple those that
// can be in the result of a tool, in a conversation.
var (
	simple = map[string]*shape{
		"resource_link": located,
		"resource":      {members: map[string]*shape{"resource": located}},
	}
	blocks = map[string]*shape{
		"resource_link": simple["resource_link"],
		"resource":      simple["resource"],
		"tool_result":   {members: map[string]*shape{"content": each(&shape{by: "type", kinds: simple})}},
	}
	block = &shape{by: "type", kinds: blocks}
	// content is one block or several.
	content = &shape{by: "type", kinds: blocks, each: block}
)

// entries are the shapes of what lists hold, and members what holds it, by the method.
var (
	entries = map[string]*shape{
		mcp.MethodListTools: {members: map[string]*shape{
			"name": leaf(toolName),
			// Spec: extensions/apps 2026-01-26 specification#resource-discovery.
			"_meta": {members: map[string]*shape{
				"ui":                    {members: map[string]*shape{"resourceUri": leaf(appURI)}},
				"ui/resourceUri":        leaf(appURI),
				"openai/outputTemplate": leaf(appURI), // of apps older than the extension
			}},
		}},
		mcp.MethodListPrompts:   {members: map[string]*shape{"name": leaf(promptName)}},
		mcp.MethodListResources: located,
		mcp.MethodListTemplates: {members: map[string]*shape{"uriTemplate": leaf(uri)}},
		mcp.MethodListSkills:    {members: map[string]*shape{"uri": leaf(uri), "resources": each(located)}},
	}
	members = map[string]string{
		mcp.MethodListTools:     "tools",
		mcp.MethodListPrompts:   "prompts",
		mcp.MethodListResources: "resources",
		mcp.MethodListTemplates: "resourceTemplates",
		mcp.MethodListSkills:    "skills",
	}
)

// questions are what servers ask, by its method.
var questions = map[string]*shape{
	mcp.MethodElicit: object(map[string]*shape{}),
	mcp.MethodRoots:  object(map[string]*shape{}),
	mcp.MethodSample: object(map[string]*shape{"messages": each(&shape{members: map[string]*shape{"content": content}})}),
}

// task is a task with what belongs to its status. 2025-11-25 has it in a member of its
// own where it is created.
//
// Spec: 2025-11-25 basic/utilities/tasks#creating-tasks.
// Spec: ext-tasks/draft tasks#task-polling.
func task() map[string]*shape {
	asked := map[string]*shape{}
	for method, params := range questions {
		asked[method] = &shape{members: map[string]*shape{"params": params}}
	}
	return map[string]*shape{
		"taskId":        leaf(taskID),
		"task":          {members: map[string]*shape{"taskId": leaf(taskID)}},
		"inputRequests": {values: &shape{by: "method", kinds: asked}},
		"result":        called,
	}
}

// called is the result of a tool, unless it is a task.
var called = object(map[string]*shape{"content": each(block)})

// results are what backends answer, by the method.
var results = func() map[string]*shape {
	call := task()
	call["content"] = each(block)
	all := map[string]*shape{
		mcp.MethodCallTool:      object(call),
		mcp.MethodTaskResult:    called,
		mcp.MethodGetTask:       object(task()),
		mcp.MethodCancelTask:    object(task()),
		mcp.MethodUpdateTask:    object(task()),
		mcp.MethodListTasks:     object(map[string]*shape{"tasks": each(&shape{members: map[string]*shape{"taskId": leaf(taskID)}})}),
		mcp.MethodReadResource:  object(map[string]*shape{"contents": each(located)}),
		mcp.MethodReadDirectory: object(map[string]*shape{"resources": each(located)}),
		mcp.MethodGetSkill:      object(map[string]*shape{"skill": entries[mcp.MethodListSkills]}),
		mcp.MethodGetPrompt:     object(map[string]*shape{"messages": each(&shape{members: map[string]*shape{"content": content}})}),
	}
	for method, entry := range entries {
		all[method] = object(map[string]*shape{members[method]: each(entry)})
	}
	return all
}()

// anything may belong to a task.
var anything = object(map[string]*shape{})

// notes are what backends say unasked, by the method.
var notes = map[string]*shape{
	mcp.NoteResourceUpdated: object(map[string]*shape{"uri": leaf(uri)}),
	mcp.NoteTask:            object(task()),
	mcp.NoteTaskStatus:      object(task()),
}

// requests are the params that clients send, by the method.
//
// Spec: 2026-07-28 server/utilities/completion#reference-types.
var requests = func() map[string]*shape {
	all := map[string]*shape{mcp.MethodComplete: object(map[string]*shape{"ref": {by: "type", kinds: map[string]*shape{
		mcp.RefPrompt:   {members: map[string]*shape{"name": leaf(subject)}},
		mcp.RefResource: {members: map[string]*shape{"uri": leaf(subject)}},
	}}})}
	for _, m := range mcp.Methods() {
		if m.Subject != "" {
			all[m.Name] = object(map[string]*shape{m.Subject: leaf(subject)})
		}
	}
	return all
}()

// failed is what the data of an error can name.
//
// Spec: 2026-07-28 server/resources#error-handling.
var failed = &shape{members: map[string]*shape{"uri": leaf(uri), "taskId": leaf(taskID)}}
