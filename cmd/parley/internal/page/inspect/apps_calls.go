package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/parley-mcp/parley/apps"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/cmd/parley/internal/serverlist"
	"github.com/parley-mcp/parley/internal/related"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// appPatience is how long an app waits for its server.
const appPatience = 2 * time.Minute

// call calls a tool for an app: one of the app's own server, which says that apps may
// call it.
//
// Spec: extensions/apps 2026-01-26 specification#visibility.
func (p *appsPart) call(c *Connection, _ *readApp, r *web.Request) (any, error) {
	var asked struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := r.Read(&asked); err != nil {
		return nil, err
	}
	cl, err := c.live()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), appPatience)
	defer cancel()
	onlyTask, err := c.forApps(ctx, asked.Name)
	if err != nil {
		return nil, err
	}
	if onlyTask {
		task, err := cl.StartTask(ctx, asked.Name, asked.Arguments)
		if err != nil {
			return answered(nil, err)
		}
		return answered(task.WaitRaw(ctx))
	}
	// Whether the server makes it a task all the same, its answer tells: the list of tools may have others
	// that are malformed.
	raw, err := cl.Do(ctx, mcp.MethodCallTool, mcp.CallToolParams{Name: asked.Name, Arguments: asked.Arguments})
	if err != nil || !related.IsTask(raw) {
		return answered(raw, err)
	}
	id, _ := wire.Text(wire.Find(raw, "taskId"))
	return answered(cl.Task(id, asked.Name).WaitRaw(ctx))
}

// forApps returns why an app must not call a tool or, if it may, whether the tool runs only as
// a task. Of the list of tools, only the entry of this one has to be right.
func (c *Connection) forApps(ctx context.Context, name string) (onlyTask bool, err error) {
	listed := c.list(ctx, serverlist.Tools, false)
	if listed.Error != nil {
		return false, &web.Error{Status: http.StatusBadGateway, Code: "tools", Message: "who may call the tool is not known: " + listed.Error.Message}
	}
	for _, item := range listed.Items {
		if !wire.Is(wire.Find(item, "name"), name) {
			continue
		}
		var tool struct {
			Meta      mcp.Meta           `json:"_meta"`
			Execution *mcp.ToolExecution `json:"execution"`
		}
		err := wire.Unmarshal(item, &tool)
		says := apps.ToolUI{Visibility: []apps.Visibility{}}
		if err == nil {
			says, err = apps.OfTool(&mcp.Tool{Name: name, Meta: tool.Meta})
		}
		switch {
		case says.ForApp():
			return tool.Execution != nil && tool.Execution.TaskSupport == mcp.TaskRequired, nil
		case err != nil:
			return false, web.Errorf(http.StatusForbidden, "not_for_apps", "nobody may call tool %.100q: %v", name, err)
		}
		return false, web.Errorf(http.StatusForbidden, "not_for_apps", "tool %.100q is not for apps: its visibility does not name them", name)
	}
	return false, web.Errorf(http.StatusForbidden, "not_for_apps", "the app's server has no tool %.100q", name)
}

// readFor reads a resource for an app, from the app's own server.
func (p *appsPart) readFor(c *Connection, _ *readApp, r *web.Request) (any, error) {
	var asked struct {
		URI string `json:"uri"`
	}
	if err := r.Read(&asked); err != nil {
		return nil, err
	}
	cl, err := c.live()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), appPatience)
	defer cancel()
	return answered(cl.Do(ctx, mcp.MethodReadResource, mcp.ReadResourceParams{URI: asked.URI}))
}

// answered passes on what a server said, errors included. Other failures are the page's.
func answered(result json.RawMessage, err error) (any, error) {
	if refusal, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return &answer{Error: refusal}, nil
	}
	if err != nil {
		return nil, &web.Error{Status: http.StatusBadGateway, Code: "app_call", Message: err.Error()}
	}
	return &answer{Result: result}, nil
}
