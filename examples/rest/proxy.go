package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// operation is what the API lists, as JSON: Input is a JSON Schema. An argument
// whose name is in the path, such as /books/{id}, goes there; the others are the
// query of a GET, and the JSON body of anything else.
type operation struct {
	Name, Description, Method, Path string
	Input                           json.RawMessage
}

// tool describes the operation to a model. Any of them may turn out to take long.
func (op *operation) tool() mcp.Tool {
	return mcp.Tool{
		Name: op.Name, Description: op.Description, InputSchema: op.Input,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: op.Method == http.MethodGet},
		Execution:   &mcp.ToolExecution{TaskSupport: mcp.TaskOptional},
	}
}

type arguments map[string]json.RawMessage

// request returns the path and the body of the request that a call is.
func (op *operation) request(args arguments) (path, body string, err error) {
	path, query := op.Path, url.Values{}
	for name, value := range args {
		text := string(value) // of a number or a boolean, unless it is a string
		_ = json.Unmarshal(value, &text)
		switch place := "{" + name + "}"; {
		case !strings.Contains(path, place):
			query.Set(name, text)
		case strings.Trim(text, ".") == "":
			return "", "", fmt.Errorf("%s: %q would lead to another path", name, text)
		default:
			path = strings.ReplaceAll(path, place, url.PathEscape(text))
			delete(args, name)
		}
	}
	if op.Method == http.MethodGet {
		return path + "?" + query.Encode(), "", nil
	}
	object, err := json.Marshal(args)
	return path, string(object), err
}

// proxy is a server whose tools are the operations of an API.
type proxy struct {
	*server.Server
	http       *http.Client
	api, token string // where the API is, and what authorizes this server there
	document   string // what the tools were made from
	tools      []string
}

func newProxy(c *http.Client, api, token string) *proxy {
	opts := &server.Options{Announce: server.Features{Tools: true}} // the API may not be there yet
	return &proxy{Server: server.New(mcp.Implementation{Name: "rest", Version: "1.0.0"}, opts), http: c, api: api, token: token}
}

// follow keeps the tools as the API has them, until ctx ends.
func (p *proxy) follow(ctx context.Context) {
	for ctx.Err() == nil {
		if err := p.refresh(ctx); err != nil {
			log.Print(err)
		}
		_ = wait(ctx, 10*time.Second)
	}
}

// refresh makes the tools anew if the API has changed.
func (p *proxy) refresh(ctx context.Context) error {
	r, err := p.send(ctx, http.MethodGet, p.api+"/operations", "")
	if err != nil || r.Body == p.document {
		return err
	}
	var all []*operation
	if err := json.Unmarshal([]byte(r.Body), &all); err != nil {
		return fmt.Errorf("the operations of %s: %w", p.api, err)
	}
	var names []string
	for _, op := range all {
		names = append(names, op.Name)
		err = errors.Join(err, server.TryAddTool(p.Server, op.tool(), p.handler(op), server.TaskAfter(-1), server.Resumable()))
	}
	p.RemoveTools(slices.DeleteFunc(p.tools, func(name string) bool { return slices.Contains(names, name) })...)
	p.document, p.tools = r.Body, names
	return err
}

// handler calls an operation. The request is sent once, even if another process
// goes on with the task that it has become.
func (p *proxy) handler(op *operation) func(context.Context, *server.Call, arguments) (*mcp.CallToolResult, error) {
	return func(ctx context.Context, call *server.Call, args arguments) (*mcp.CallToolResult, error) {
		path, body, err := op.request(args)
		if err != nil {
			return nil, err
		}
		r, err := server.Once(ctx, call, "send", func(ctx context.Context) (reply, error) { return p.send(ctx, op.Method, p.api+path, body) })
		for err == nil && r.Job != "" {
			call.Progress(ctx, r.Progress.Done, r.Progress.Of, "")
			if err = errors.Join(call.StartTask(ctx), wait(ctx, time.Duration(r.After)*time.Second)); err == nil {
				r, err = p.send(ctx, http.MethodGet, r.Job, "")
			}
		}
		return r.result(), err
	}
}

// reply is what the API answers. While it works on a job, Job is where to ask for
// the result in After seconds, and the body may say how much is done.
type reply struct {
	Status, After int
	Body, Job     string
	Progress      struct{ Done, Of float64 }
}

func (r reply) result() *mcp.CallToolResult {
	switch {
	case r.Status >= http.StatusBadRequest:
		return mcp.ToolError("%s: %s", http.StatusText(r.Status), r.Body)
	case json.Valid([]byte(r.Body)):
		return &mcp.CallToolResult{StructuredContent: json.RawMessage(r.Body)}
	}
	return &mcp.CallToolResult{Content: mcp.Contents{mcp.Text(r.Body)}}
}

func (p *proxy) send(ctx context.Context, method, target, body string) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, method, target, strings.NewReader(body)) //nolint:gosec // target is below api, see request and Location
	if err != nil {
		return reply{}, err
	}
	req.Header = http.Header{"Authorization": {"Bearer " + p.token}, "Content-Type": {"application/json"}}
	resp, err := p.http.Do(req) //nolint:gosec // as above
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(http.MaxBytesReader(nil, resp.Body, 1<<20))
	r := reply{Status: resp.StatusCode, Body: string(text)}
	if at, _ := resp.Location(); r.Status == http.StatusAccepted && at != nil && strings.HasPrefix(at.String(), p.api+"/") {
		after, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		r.Job, r.After = at.String(), max(after, 1)
		_ = json.Unmarshal(text, &r.Progress)
	}
	return r, err
}

// wait waits, unless ctx ends before.
func wait(ctx context.Context, d time.Duration) error {
	pause, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-pause.Done()
	return ctx.Err()
}
