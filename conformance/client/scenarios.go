package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
)

// scenario does with a connection what one scenario of the suite expects.
type scenario func(ctx context.Context, c *client.Client) error

// scenarios returns the scenarios by the names that the suite has for them.
func scenarios() map[string]scenario {
	return map[string]scenario{
		"initialize":                          ping,
		"tools_call":                          calling("add_numbers", `{"a":5,"b":3}`),
		"elicitation-sep1034-client-defaults": calling("test_client_elicitation_defaults", `{}`),
		"sse-retry":                           calling("test_reconnection", `{}`),
		"request-metadata":                    ping,
		"sep-2322-client-request-state":       callRounds,
		"http-standard-headers":               visitAll,
		"http-custom-headers":                 callFromContext,
		"http-invalid-tool-headers":           callEach,
		"json-schema-ref-no-deref":            listTools,
		"json-schema-2020-12-preservation":    echoSchema,
		"sep-2640-client-no-prefetch":         listSkills,
		"sep-2640-client-verify-digest":       readSkill,
		"sep-2640-client-verify-size":         readSkill,
		"sep-2640-client-verify-frontmatter":  readSkill,
	}
}

// elicit accepts any form. Fields that it does not fill in get their defaults
// from package client.
func elicit(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	content := json.RawMessage(`{}`)
	if strings.Contains(string(p.RequestedSchema), `"confirmed"`) {
		content = json.RawMessage(`{"confirmed":true}`)
	}
	return &mcp.ElicitResult{Action: mcp.ActionAccept, Content: content}, nil
}

// ping is for servers that have declared nothing else.
func ping(ctx context.Context, c *client.Client) error { return c.Ping(ctx) }

func listTools(ctx context.Context, c *client.Client) error {
	_, err := client.Collect(c.Tools(ctx))
	return err
}

// calling lists the tools and calls one of them.
func calling(tool, args string) scenario {
	return func(ctx context.Context, c *client.Client) error {
		if err := listTools(ctx, c); err != nil {
			return err
		}
		return call(ctx, c, tool, json.RawMessage(args))
	}
}

func call(ctx context.Context, c *client.Client, tool string, args json.RawMessage) error {
	r, err := c.CallTool(ctx, tool, args)
	if err != nil {
		return fmt.Errorf("%s: %w", tool, err)
	}
	if r.IsError {
		return fmt.Errorf("%s: %w", tool, &client.ToolError{Tool: tool, Result: r})
	}
	return nil
}

// callRounds calls tools that ask before they answer. Their failures do not end
// the scenario, which expects all of them to be called.
func callRounds(ctx context.Context, c *client.Client) error {
	err := listTools(ctx, c)
	for _, tool := range []string{"test_mrtr_echo_state", "test_mrtr_unrelated", "test_mrtr_no_state", "test_mrtr_no_result_type"} {
		err = errors.Join(err, call(ctx, c, tool, json.RawMessage(`{}`)))
	}
	return err
}

// visitAll sends every kind of request whose name is mirrored in a header.
func visitAll(ctx context.Context, c *client.Client) error {
	tool, err := first(c.Tools(ctx))
	if err != nil {
		return err
	}
	if err := call(ctx, c, tool.Name, json.RawMessage(`{}`)); err != nil {
		return err
	}
	resource, err := first(c.Resources(ctx))
	if err != nil {
		return err
	}
	if _, err := c.ReadResource(ctx, resource.URI); err != nil {
		return err
	}
	prompt, err := first(c.Prompts(ctx))
	if err != nil {
		return err
	}
	_, err = c.GetPrompt(ctx, prompt.Name, nil)
	return err
}

func first[T any](list iter.Seq2[T, error]) (T, error) {
	for v, err := range list {
		return v, err
	}
	var none T
	return none, fmt.Errorf("the list of %T is empty", none)
}

// callFromContext makes the calls that the suite passes along.
func callFromContext(ctx context.Context, c *client.Client) error {
	var given struct {
		Calls []struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"toolCalls"`
	}
	if err := json.Unmarshal([]byte(os.Getenv("MCP_CONFORMANCE_CONTEXT")), &given); err != nil {
		return fmt.Errorf("MCP_CONFORMANCE_CONTEXT: %w", err)
	}
	if len(given.Calls) == 0 {
		return errors.New("MCP_CONFORMANCE_CONTEXT names no calls")
	}
	err := listTools(ctx, c)
	for _, next := range given.Calls {
		err = errors.Join(err, call(ctx, c, next.Name, next.Arguments))
	}
	return err
}

// callEach calls all tools that the client accepts.
func callEach(ctx context.Context, c *client.Client) error {
	tools, err := client.Collect(c.Tools(ctx))
	for _, tool := range tools {
		err = errors.Join(err, call(ctx, c, tool.Name, json.RawMessage(`{"region":"us-west1"}`)))
	}
	return err
}

// echoSchema sends back a schema as it came.
func echoSchema(ctx context.Context, c *client.Client) error {
	tools, err := client.Collect(c.Tools(ctx))
	if err != nil {
		return err
	}
	for _, tool := range tools {
		if tool.Name != "json_schema_2020_12_tool" {
			continue
		}
		args, err := json.Marshal(map[string]json.RawMessage{"schema": tool.InputSchema})
		if err != nil {
			return err
		}
		return call(ctx, c, "json_schema_echo", args)
	}
	return errors.New("the server has no json_schema_2020_12_tool")
}
