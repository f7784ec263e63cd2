package specimen

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// Names of tools and resources that judges ask for by name.
const (
	ShowRequest   = "show_request"
	ShowCancelled = "show_cancelled"
	ShowHeader    = "show_header"
	WaitLong      = "wait_long"
	TouchResource = "touch_resource"
	EchoHeader    = "echo_header"
	Touched       = "test://static"
)

// journal is what the server remembers of calls.
type journal struct {
	mu        sync.Mutex
	cancelled []string // why
}

func (j *journal) note(cause error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.cancelled = append(j.cancelled, cause.Error())
}

func (j *journal) text() ([]byte, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return json.Marshal(append([]string{}, j.cancelled...))
}

// addJournal adds tools that tell what reached the server.
func addJournal(s *server.Server, j *journal) {
	s.AddRawTool(withSchema(tool(ShowRequest, "Gives back the arguments and the _meta of the call, as JSON."), `{"type":"object","properties":{"text":{"type":"string"}}}`),
		func(_ context.Context, call *server.Call, arguments json.RawMessage) (*mcp.CallToolResult, error) {
			meta := call.Exchange().Meta
			if meta == nil {
				meta = json.RawMessage("{}")
			}
			return text(`{"arguments":` + string(arguments) + `,"_meta":` + string(meta) + `}`), nil
		})
	s.AddRawTool(withSchema(tool(ShowCancelled, "Lists why calls were cancelled, in order."), `{"type":"object","additionalProperties":false}`),
		func(context.Context, *server.Call, json.RawMessage) (*mcp.CallToolResult, error) {
			list, err := j.text()
			if err != nil {
				return nil, err
			}
			return text(string(list)), nil
		})
	server.AddTool(s, tool(ShowHeader, "Gives back a header of the HTTP request that carried the call."), func(_ context.Context, call *server.Call, h header) (string, error) {
		return call.Header(h.Name), nil
	})
}

// header is the argument of show_header.
type header struct {
	Name string `json:"name" description:"the name of the header"`
}
