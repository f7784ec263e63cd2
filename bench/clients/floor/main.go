// Floor is what the clients are measured against: bare net/http and
// encoding/json, one encode and one decode for each call. In memory it is the
// same over a pair of pipes.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/parley-mcp/parley/bench/clients/driver"
	"github.com/parley-mcp/parley/bench/payload"
)

func main() {
	driver.Main(func(_ context.Context, c driver.Config) (driver.Call, error) {
		if c.URL == "" {
			return memory(), nil
		}
		return web(c)
	})
}

type request struct {
	JSONRPC string `json:"jsonrpc"`
	ID      int    `json:"id"`
	Method  string `json:"method"`
	Params  params `json:"params"`
}

type params struct {
	Name      string         `json:"name,omitempty"`
	Arguments payload.Echo   `json:"arguments"`
	Meta      map[string]any `json:"_meta,omitempty"`
	// These open a session.
	ProtocolVersion string         `json:"protocolVersion,omitempty"`
	ClientInfo      map[string]any `json:"clientInfo,omitempty"`
	Capabilities    map[string]any `json:"capabilities,omitempty"`
}

type response struct {
	ID     int `json:"id"`
	Result struct {
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		StructuredContent payload.Echo `json:"structuredContent"`
	} `json:"result"`
}

func call(id int, args payload.Echo) request {
	return request{"2.0", id, "tools/call", params{Name: "echo", Arguments: args}}
}

// web calls over HTTP.
func web(c driver.Config) (driver.Call, error) {
	w := &caller{Config: c}
	if c.Era == payload.Session {
		open := request{"2.0", 1, "initialize", params{
			ProtocolVersion: payload.SessionRevision, ClientInfo: map[string]any{"name": "bench", "version": "1.0.0"}, Capabilities: map[string]any{},
		}}
		if _, err := w.post(open); err != nil {
			return nil, err
		}
		if _, err := w.post(json.RawMessage(payload.Initialized)); err != nil {
			return nil, err
		}
	}
	w.id = payload.FirstID
	return w.call, nil
}

type caller struct {
	driver.Config
	session string
	id      int
}

func (w *caller) call(_ context.Context, args payload.Echo) (payload.Echo, error) {
	w.id++
	req := call(w.id, args)
	if w.Era == payload.Stateless {
		req.Params.Meta = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    payload.StatelessRevision,
			"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "bench", "version": "1.0.0"},
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		}
	}
	r, err := w.post(req)
	return r.Result.StructuredContent, err
}

// post sends a message and decodes the JSON that comes back, if any.
func (w *caller) post(msg any) (response, error) {
	var r response
	b, err := json.Marshal(msg)
	if err != nil {
		return r, err
	}
	req, err := http.NewRequest(http.MethodPost, w.URL, bytes.NewReader(b))
	if err != nil {
		return r, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if w.session != "" {
		req.Header.Set("Mcp-Session-Id", w.session)
	}
	if w.session != "" || w.Era == payload.Stateless {
		req.Header.Set("MCP-Protocol-Version", w.Era.Revision())
	}
	if w.Era == payload.Stateless {
		req.Header.Set("Mcp-Method", "tools/call")
		req.Header.Set("Mcp-Name", "echo")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return r, err
	}
	defer func() { _ = resp.Body.Close() }()
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		w.session = id
	}
	if resp.StatusCode == http.StatusAccepted {
		return r, nil
	}
	err = json.NewDecoder(resp.Body).Decode(&r)
	_, _ = io.Copy(io.Discard, resp.Body) // so that the connection can be used again
	return r, err
}
