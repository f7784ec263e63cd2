package spec_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

const searchExtension = "com.example/search"

// searching has a method of an extension, and a tool that can do without it.
func searching() mcp.Handler {
	s := server.New(mcp.Implementation{Name: "s", Version: "1"}, &server.Options{Logger: mcptest.Quiet(), Extensions: map[string]any{searchExtension: nil}})
	s.HandleMethod("search/run", func(_ context.Context, call *server.Call, _ json.RawMessage) (any, error) {
		var settings struct{ Depth int }
		if err := call.Extension(searchExtension, &settings); err != nil {
			return nil, err
		}
		return settings, nil
	})
	server.AddTool(s, mcp.Tool{Name: "find"}, func(_ context.Context, call *server.Call, _ struct{}) (string, error) {
		if call.Extension(searchExtension, nil) != nil {
			return "without", nil
		}
		return "with", nil
	})
	return s
}

// A client that does not declare an extension is refused, with an error that says
// what it lacks, or gets by without.
//
// Spec: 2026-07-28 basic/versioning#extension-negotiation.
func TestExtensionOfTheServerAlone(t *testing.T) {
	mcptest.Run(t, searching, nil, func(t *testing.T, c *client.Client) {
		code := int64(jsonrpc.CodeInternalError)
		if c.Revision() == mcp.Revision20260728 {
			code = mcp.CodeMissingCapability
		}
		_, err := c.Do(t.Context(), "search/run", nil)
		refusal, coded := errors.AsType[*jsonrpc.Error](err)
		if !coded || refusal.Code != code || refusal.Message != `the client has not declared the capability "com.example/search" (extension)` {
			t.Fatalf("got %v, want an error with the code %d that names the extension", err, code)
		}
		if want := `{"requiredCapabilities":{"extensions":{"com.example/search":{}}}}`; code == mcp.CodeMissingCapability && string(refusal.Data) != want {
			t.Errorf("the data of the error is %s, want %s", refusal.Data, want)
		}
		if got, err := client.Call[string](t.Context(), c, "find", nil); err != nil || got != "without" {
			t.Errorf("the tool gave %q, %v", got, err)
		}
	})
}

func TestExtensionOfBoth(t *testing.T) {
	declaring := func(settings string) func() *client.Options {
		return func() *client.Options {
			return &client.Options{Extensions: map[string]any{searchExtension: json.RawMessage(settings)}}
		}
	}
	mcptest.RunModes(t, statelessModes(), searching, declaring(`{"Depth":3}`), func(t *testing.T, c *client.Client) {
		if got, err := c.Do(t.Context(), "search/run", nil); err != nil || string(jsonOf(t, got, "Depth")) != "3" {
			t.Errorf("got %s, %v", got, err)
		}
		if got, err := client.Call[string](t.Context(), c, "find", nil); err != nil || got != "with" {
			t.Errorf("the tool gave %q, %v", got, err)
		}
	})
	mcptest.RunModes(t, statelessModes(), searching, declaring(`{"Depth":"x"}`), func(t *testing.T, c *client.Client) {
		_, err := c.Do(t.Context(), "search/run", nil)
		if refusal, coded := errors.AsType[*jsonrpc.Error](err); !coded || refusal.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("got %v, want an error with the code %d", err, jsonrpc.CodeInvalidParams)
		}
	})
}

// jsonOf returns a member of an object.
func jsonOf(t *testing.T, object json.RawMessage, member string) json.RawMessage {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil {
		t.Fatalf("%s: %v", object, err)
	}
	return members[member]
}
