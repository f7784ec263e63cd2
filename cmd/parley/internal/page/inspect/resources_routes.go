package inspect

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// resourcePart watches resources, and completes what is typed for templates and prompts.
type resourcePart struct{ s *Server }

func (resourcePart) prepare(*Connection, *client.Options) {}
func (resourcePart) ended(*Connection)                    {}

// connected opens the subscriptions of the last connection anew.
func (resourcePart) connected(c *Connection) {
	c.spawn(func(ctx context.Context) { partOf[watches](c).again(ctx, c) })
}

func (p resourcePart) routes(api *web.API) {
	api.Handle("POST /connections/{c}/complete", onConnection(p.s, p.complete))
	api.Handle("GET /connections/{c}/subscriptions", onConnection(p.s, p.list))
	api.Handle("POST /connections/{c}/subscriptions", onConnection(p.s, p.subscribe))
	api.Handle("DELETE /connections/{c}/subscriptions/{s}", onConnection(p.s, p.unsubscribe))
}

// complete completes the value of a prompt's argument or a template's variable.
func (resourcePart) complete(c *Connection, r *web.Request) (any, error) {
	var p struct {
		Prompt   string            `json:"prompt"`
		Template string            `json:"template"`
		Name     string            `json:"name"`
		Value    string            `json:"value"`
		Known    map[string]string `json:"known"`
	}
	if err := r.Read(&p); err != nil {
		return nil, err
	}
	if (p.Prompt == "") == (p.Template == "") {
		return nil, &web.Error{Status: http.StatusBadRequest, Code: "bad_reference", Field: "prompt", Message: `either "prompt" or "template" says what is completed`}
	}
	cl, err := c.live()
	if err != nil {
		return nil, err
	}
	var done *mcp.Completion
	if p.Prompt != "" {
		done, err = cl.CompletePrompt(r.Context(), p.Prompt, p.Name, p.Value, p.Known)
	} else {
		done, err = cl.CompleteTemplate(r.Context(), p.Template, p.Name, p.Value, p.Known)
	}
	if err != nil {
		return nil, refused(err)
	}
	return done, nil
}

func (resourcePart) list(c *Connection, _ *web.Request) (any, error) {
	return struct {
		Subscriptions []watch `json:"subscriptions"`
	}{partOf[watches](c).list()}, nil
}

func (resourcePart) subscribe(c *Connection, r *web.Request) (any, error) {
	var body struct {
		URI string `json:"uri"`
	}
	if err := r.Read(&body); err != nil {
		return nil, err
	}
	return partOf[watches](c).subscribe(r.Context(), c, body.URI)
}

func (resourcePart) unsubscribe(c *Connection, r *web.Request) (any, error) {
	return struct{}{}, partOf[watches](c).unsubscribe(r.PathValue("s"))
}

// refused says why a server did not do what it was asked for. An error that says so
// already is left as it is.
func refused(err error) *web.Error {
	if e, ok := errors.AsType[*web.Error](err); ok {
		return e
	}
	e := &web.Error{Status: http.StatusBadGateway, Code: "call_failed", Message: clip(err.Error(), 4000)}
	if rpc, ok := errors.AsType[*jsonrpc.Error](err); ok {
		e.Code, e.Message = "server_error", fmt.Sprintf("the server answered with error %d: %s", rpc.Code, clip(rpc.Message, 4000))
	}
	if missing, ok := errors.AsType[*client.NotDeclaredError](err); ok {
		e.Status, e.Code, e.Hint = http.StatusConflict, "not_declared", fmt.Sprintf("a server that has it declares %q", missing.Capability)
	}
	if errors.Is(err, client.ErrTimeout) {
		e.Status, e.Code = http.StatusGatewayTimeout, "timeout"
	}
	return e
}
