package era

import (
	"encoding/json"
	"fmt"

	"github.com/parley-mcp/parley/internal/related"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// form is how the results of an exchange go out: in which revision, and in whose
// name. A result is copied, and what the revision lacks is cleared in the copy,
// so a member that this package does not know goes out in every revision. The
// handler's value may be shared and is never changed.
type form struct {
	facts *revision.Facts
	by    *named // the server that answers; nil in sessions, whose results do not name it
	// client is what the client can do; nil is nothing.
	client *mcp.ClientCapabilities
}

// result returns a result in the form of the revision. Values that need no change
// are returned as they are.
func (f form) result(method string, result any) (any, error) {
	switch r := result.(type) {
	case nil:
		return f.result(method, &mcp.EmptyResult{})
	case *mcp.CallToolResult:
		return f.call(r), nil
	case *mcp.ListToolsResult:
		c := *r
		f.head(&c.ResultFields, &c.CacheFields)
		return listOf(&c, "tools", &c.Tools, f.facts, shapeTool), nil
	case *mcp.ListResourcesResult:
		c := *r
		f.head(&c.ResultFields, &c.CacheFields)
		return listOf(&c, "resources", &c.Resources, f.facts, shapeResource), nil
	case *mcp.ListResourceTemplatesResult:
		c := *r
		f.head(&c.ResultFields, &c.CacheFields)
		return listOf(&c, "resourceTemplates", &c.ResourceTemplates, f.facts, shapeTemplate), nil
	case *mcp.ListPromptsResult:
		c := *r
		f.head(&c.ResultFields, &c.CacheFields)
		return listOf(&c, "prompts", &c.Prompts, f.facts, shapePrompt), nil
	case *mcp.ReadResourceResult:
		c := *r
		f.head(&c.ResultFields, &c.CacheFields)
		c.Contents = shapeEach(c.Contents, f.facts, shapeResourceContents)
		return &c, nil
	case *mcp.ListSkillsResult:
		c := *r
		f.head(&c.ResultFields, &c.CacheFields)
		return listOf(&c, "skills", &c.Skills, f.facts, unshaped), nil
	case *mcp.GetSkillResult:
		c := *r
		f.head(&c.ResultFields, &c.CacheFields)
		return &c, nil
	case *mcp.ReadDirectoryResult:
		c := *r
		f.head(&c.ResultFields, nil)
		c.Resources = shapeEach(c.Resources, f.facts, shapeResource)
		return &c, nil
	case *mcp.GetPromptResult:
		c := *r
		f.head(&c.ResultFields, nil)
		c.Messages = shapeEach(c.Messages, f.facts, shapePromptMessage)
		return &c, nil
	case *mcp.CompleteResult:
		c := *r
		f.head(&c.ResultFields, nil)
		return &c, nil
	case *mcp.CreateTaskResult:
		return f.createdTask(r)
	case *mcp.TaskState:
		return f.taskState(method, r)
	case *mcp.ListTasksResult:
		return f.listedTasks(r)
	case *mcp.EmptyResult:
		c := *r
		f.head(&c.ResultFields, nil)
		return &c, nil
	}
	return f.raw(method, result)
}

// head completes or clears the members that many results share. cache is nil for
// a result without cache hints.
func (f form) head(fields *mcp.ResultFields, cache *mcp.CacheFields) {
	if f.facts.Stateless {
		stamp(fields, f.by.meta)
		if cache != nil {
			cacheable(cache)
		}
		return
	}
	fields.ResultType, fields.Meta = "", fields.Meta.WithoutReserved()
	if cache != nil {
		*cache = mcp.CacheFields{}
	}
}

// raw is result for a result of any other type, such as the JSON that a gateway
// passes on. Known members are shaped; unknown ones keep their text, down to the
// digits of numbers.
func (f form) raw(method string, result any) (any, error) {
	original, err := wire.Marshal(result)
	if err != nil {
		return nil, err
	}
	if method == mcp.MethodCallTool && callByHand {
		if plain, ok := f.rawCall(original); ok {
			return plain, nil
		}
	}
	return f.understood(method, original)
}

// understood is raw for JSON that has been checked: it decodes it.
func (f form) understood(method string, original json.RawMessage) (any, error) {
	m := mcp.MethodNamed(method)
	if m == nil || f.facts.Stateless && m.AsTask && related.IsTask(original) { // which has this form already
		return f.custom(original)
	}
	known := typeOf(m, original)
	if err := wire.Unmarshal(original, known); err != nil {
		return nil, fmt.Errorf("the result does not fit its method: %w", err)
	}
	shaped, err := f.result(method, known)
	if err != nil {
		return nil, err
	}
	return patch(original, known, shaped)
}

// typeOf returns a zero value of the type of a result that is JSON already.
func typeOf(m *mcp.Method, result json.RawMessage) any {
	if m.AsTask && related.IsTask(result) {
		return new(mcp.CreateTaskResult)
	}
	return m.NewResult()
}

// custom is raw for a method that the protocol does not define. A session adds
// nothing to its result, and removes what a stateless server has added to one that
// is passed on.
func (f form) custom(original json.RawMessage) (any, error) {
	if !f.facts.Stateless {
		if wire.Is(wire.Find(original, "resultType"), mcp.ResultComplete) {
			original = wire.Except(original, "resultType")
		}
		return withoutReserved(original), nil
	}
	var have mcp.EmptyResult
	if err := wire.Unmarshal(original, &have); err != nil {
		return nil, err
	}
	f.head(&have.ResultFields, nil)
	for name, value := range map[string]any{"resultType": have.ResultType, "_meta": have.Meta} {
		raw, err := wire.Marshal(value)
		if err != nil {
			return nil, err
		}
		if original, err = wire.Set(original, name, raw); err != nil {
			return nil, err
		}
	}
	return original, nil
}
