package streamable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/parley-mcp/parley/internal/schema"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// toolHeaders remembers which parameters of which tools go into headers. The zero
// value is ready for use.
//
// Spec: 2026-07-28 basic/transports/streamable-http#custom-headers-from-tool-parameters.
type toolHeaders struct {
	mu       sync.Mutex
	bindings map[string][]schema.HeaderBinding
}

// maxBound is the number of tools for which a client remembers that.
const maxBound = 10_000

// learn reads a page of tools and returns it without those whose header annotations
// are invalid, so that one of them does not make the whole list fail.
//
// Spec: 2026-07-28 basic/transports/streamable-http#schema-extension.
func (t *toolHeaders) learn(page json.RawMessage, log *slog.Logger) json.RawMessage {
	var list struct {
		Tools []json.RawMessage `json:"tools"`
	}
	if wire.Unmarshal(page, &list) != nil {
		return page // whoever decodes it will report that
	}
	kept := make([]json.RawMessage, 0, len(list.Tools))
	for _, tool := range list.Tools {
		var head struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"inputSchema"`
		}
		if wire.Unmarshal(tool, &head) != nil {
			kept = append(kept, tool)
			continue
		}
		bindings, err := schema.Headers(head.Schema)
		t.set(head.Name, bindings)
		if err != nil {
			log.Warn("tool left out: its header annotations are invalid", "tool", head.Name, "reason", err)
			continue
		}
		kept = append(kept, tool)
	}
	if len(kept) == len(list.Tools) {
		return page
	}
	return withTools(page, kept)
}

func withTools(page json.RawMessage, tools []json.RawMessage) json.RawMessage {
	raw, err := wire.Marshal(tools)
	if err != nil {
		return page
	}
	shorter, err := wire.Set(page, "tools", raw)
	if err != nil {
		return page
	}
	return shorter
}

func (t *toolHeaders) set(tool string, bindings []schema.HeaderBinding) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.bindings, tool)
	if len(bindings) == 0 || len(t.bindings) >= maxBound {
		return
	}
	if t.bindings == nil {
		t.bindings = make(map[string][]schema.HeaderBinding)
	}
	t.bindings[tool] = bindings
}

// mirror adds the headers of a tools/call, which check has accepted. For a tool
// that was never listed none are known.
//
// Spec: 2026-07-28 basic/transports/streamable-http#client-behavior.
func (t *toolHeaders) mirror(h http.Header, call *call) {
	for b, raw := range t.arguments(call) {
		if value, ok := headerValue(raw, b); ok {
			h.Set(fieldParam+b.Name, encodeHeader(value))
		}
	}
}

// check refuses a tools/call with a number that must not go into a header.
//
// Spec: 2026-07-28 basic/transports/streamable-http#schema-extension.
func (t *toolHeaders) check(call *call) error {
	for b, raw := range t.arguments(call) {
		if _, ok := schema.Mirrored(string(raw)); b.Type == "integer" && isNumber(raw) && !ok {
			return fmt.Errorf("argument %q of tool %q is mirrored in the header Mcp-Param-%s, so it must be an integer from %d to %d",
				strings.Join(b.Path, "."), call.name, b.Name, -schema.MaxMirrored, schema.MaxMirrored)
		}
	}
	return nil
}

// arguments returns the mirrored parameters of a tools/call with their values, nil
// for those that are missing. Other messages have none.
func (t *toolHeaders) arguments(call *call) iter.Seq2[schema.HeaderBinding, json.RawMessage] {
	return func(yield func(schema.HeaderBinding, json.RawMessage) bool) {
		if call.m.Method != mcp.MethodCallTool || !call.stateless {
			return
		}
		t.mu.Lock()
		bindings := t.bindings[call.name]
		t.mu.Unlock()
		for _, b := range bindings {
			raw := wire.Find(call.m.Params, "arguments")
			for _, name := range b.Path {
				raw = wire.Find(raw, name)
			}
			if !yield(b, raw) {
				return
			}
		}
	}
}

// headerValue returns the text of a string, a number or a boolean; anything
// else has none.
//
// Spec: 2026-07-28 basic/transports/streamable-http#value-encoding.
func headerValue(raw json.RawMessage, b schema.HeaderBinding) (string, bool) {
	switch {
	case len(raw) == 0:
		return "", false
	case raw[0] == '"':
		return wire.Text(raw)
	case b.Type == "integer" && isNumber(raw):
		n, _ := schema.Mirrored(string(raw))
		return strconv.FormatInt(n, 10), true
	}
	return string(raw), isNumber(raw) || raw[0] == 't' || raw[0] == 'f'
}

func isNumber(raw json.RawMessage) bool {
	return len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

// callAgain repeats a call that the server refused because of its headers: the tools
// may have changed since they were listed. It returns refusal if they cannot be
// listed again.
//
// Spec: 2026-07-28 basic/transports/streamable-http#client-behavior.
func (c *conn) callAgain(ctx context.Context, first *call, refusal *jsonrpc.Message) (*jsonrpc.Message, error) {
	if err := c.relist(ctx, first); err != nil {
		c.opts.Logger.Warn("tools not listed after a header mismatch", "server", c.opts.Name(), "error", err)
		return refusal, nil //nolint:nilerr // the refusal is what the caller asked for
	}
	m := *first.m
	m.ID = c.ownID()
	again, err := newCall(&m)
	if err != nil {
		return nil, err
	}
	answer, err := c.roundTrip(ctx, again)
	if err != nil {
		return nil, err
	}
	answer.ID = first.m.ID
	return answer, nil
}

// ownID returns an ID that nothing else on this connection has.
func (c *conn) ownID() jsonrpc.ID {
	return jsonrpc.StringID("parley-retry-" + strconv.FormatInt(c.lastID.Add(1), 10))
}

// maxPages guards against a list that never ends.
const maxPages = 1000

// relist reads the whole list of tools again, with the _meta of a call.
func (c *conn) relist(ctx context.Context, of *call) error {
	meta, err := wire.Without(of.meta, mcp.MetaProgressToken)
	if err != nil {
		return err
	}
	var at *string
	for range maxPages {
		m, err := jsonrpc.NewRequest(c.ownID(), mcp.MethodListTools, struct {
			Meta   json.RawMessage `json:"_meta"`
			Cursor *string         `json:"cursor,omitzero"`
		}{meta, at})
		if err != nil {
			return err
		}
		call, err := newCall(m)
		if err != nil {
			return err
		}
		page, err := c.roundTrip(ctx, call)
		if err != nil {
			return err
		}
		if page.Error != nil {
			return page.Error
		}
		c.tools.learn(page.Result, c.opts.Logger)
		var next struct {
			Cursor *string `json:"nextCursor"`
		}
		if err := wire.Unmarshal(page.Result, &next); err != nil {
			return err
		}
		if at = next.Cursor; at == nil {
			return nil
		}
	}
	return errors.New("the list has too many pages")
}
