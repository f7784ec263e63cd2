package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"
)

// each is how long one request may take.
const each = 3 * time.Second

// client is what the drivers of both SDKs can do. Lists are of all pages.
type client interface {
	declared() any // the server's capabilities, as JSON has them
	tools(context.Context) ([]feature, error)
	resources(context.Context) ([]feature, error)
	templates(context.Context) ([]feature, error)
	prompts(context.Context) ([]feature, error)
	call(ctx context.Context, name string, args any) error
	read(ctx context.Context, uri string) error
	prompt(ctx context.Context, name string, args map[string]string) error
	complete(ctx context.Context, f feature, argument, value string) error
	subscribe(ctx context.Context, uri string) error
	unsubscribe(ctx context.Context, uri string) error
	setLevel(ctx context.Context) error
	ping(context.Context) error
	close() error
}

// feature is what a list has: name is the URI of a resource and the template of one.
type feature struct {
	kind, name string
	schema     any      // of a tool's arguments
	arguments  []string // of a prompt
}

var variables = regexp.MustCompile(`\{[^}]*\}`)

// drive does everything that a client can do. What fails is told on standard error and left.
func drive(ctx context.Context, connect func() (client, error)) {
	done := map[string]int{}
	attempt := func(step string, run func(context.Context) error) {
		ctx, stop := context.WithTimeout(ctx, each)
		defer stop()
		if err := run(ctx); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", step, err)
			return
		}
		done[step]++
	}
	ended := make(chan struct{})
	go func() { // ends with the process
		defer close(ended)
		c, err := connect()
		if err != nil {
			fmt.Fprintln(os.Stderr, "connect:", err)
			return
		}
		done["connect"]++
		driveConnected(c, attempt)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		fmt.Fprintln(os.Stderr, "no end in time")
		os.Exit(0)
	}
	_ = json.NewEncoder(os.Stdout).Encode(done)
}

func driveConnected(c client, attempt func(string, func(context.Context) error)) {
	has := capabilities(c)
	if has["logging"] != nil {
		attempt("level", c.setLevel)
	}
	list := func(step, capability string, of func(context.Context) ([]feature, error)) (found []feature) {
		if has[capability] == nil {
			return nil
		}
		attempt("list "+step, func(ctx context.Context) (err error) {
			found, err = of(ctx)
			return err
		})
		return found
	}
	tools, resources := list("tools", "tools", c.tools), list("resources", "resources", c.resources)
	templates, prompts := list("templates", "resources", c.templates), list("prompts", "prompts", c.prompts)
	watches := len(resources) > 0 && has["resources"]["subscribe"] == true
	if watches {
		attempt("subscribe", func(ctx context.Context) error { return c.subscribe(ctx, resources[0].name) })
	}
	for _, tool := range tools {
		attempt("call", func(ctx context.Context) error { return c.call(ctx, tool.name, sample(tool.schema)) })
	}
	for _, f := range append(resources, templates...) {
		uri := variables.ReplaceAllString(f.name, "x")
		attempt("read", func(ctx context.Context) error { return c.read(ctx, uri) })
	}
	for _, f := range templates {
		if v := variables.FindString(f.name); v != "" && has["completions"] != nil {
			name := strings.Trim(v, "{}+#./;?&*")
			attempt("complete", func(ctx context.Context) error { return c.complete(ctx, f, name, "") })
		}
	}
	for _, f := range prompts {
		args := map[string]string{}
		for _, name := range f.arguments {
			args[name] = "x"
		}
		attempt("prompt", func(ctx context.Context) error { return c.prompt(ctx, f.name, args) })
		if len(f.arguments) > 0 && has["completions"] != nil {
			attempt("complete", func(ctx context.Context) error { return c.complete(ctx, f, f.arguments[0], "p") })
		}
	}
	attempt("ping", c.ping)
	attempt("cancel", func(ctx context.Context) error { return cancelOne(ctx, c, tools) })
	time.Sleep(200 * time.Millisecond) // for notifications on their way
	if watches {
		attempt("unsubscribe", func(ctx context.Context) error { return c.unsubscribe(ctx, resources[0].name) })
	}
	attempt("close", func(context.Context) error { return c.close() })
}

// capabilities are what the server declares, which is all that is used.
func capabilities(c client) map[string]map[string]any {
	has := map[string]map[string]any{}
	text, err := json.Marshal(c.declared())
	if err == nil {
		err = json.Unmarshal(text, &has)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "capabilities:", err)
	}
	return has
}

// cancelOne gives up a call of the slowest tool, by its name.
func cancelOne(ctx context.Context, c client, tools []feature) error {
	if len(tools) == 0 {
		return fmt.Errorf("there is no tool")
	}
	slow := tools[0]
	for _, tool := range tools {
		if regexp.MustCompile(`slow|count|paced|long`).MatchString(tool.name) {
			slow = tool
			break
		}
	}
	ctx, stop := context.WithTimeout(ctx, 100*time.Millisecond)
	defer stop()
	_ = c.call(ctx, slow.name, sample(slow.schema))
	return nil
}

// sample makes a value that a schema asks for: the first of a choice, "x", 1 or true.
func sample(schema any) any {
	text, err := json.Marshal(schema)
	if err != nil {
		return map[string]any{}
	}
	var decoded map[string]any
	_ = json.Unmarshal(text, &decoded)
	if value, isObject := sampleOf(decoded).(map[string]any); isObject {
		return value
	}
	return map[string]any{}
}

func sampleOf(schema map[string]any) any {
	for _, name := range []string{"const", "default"} {
		if value, has := schema[name]; has {
			return value
		}
	}
	for _, name := range []string{"enum", "oneOf", "anyOf"} {
		if choices, _ := schema[name].([]any); len(choices) > 0 {
			if choice, isSchema := choices[0].(map[string]any); isSchema && name != "enum" {
				return sampleOf(choice)
			}
			return choices[0]
		}
	}
	kind, _ := schema["type"].(string)
	if kinds, _ := schema["type"].([]any); len(kinds) > 0 {
		kind, _ = kinds[0].(string)
	}
	properties, _ := schema["properties"].(map[string]any)
	switch {
	case kind == "object" || properties != nil:
		value := map[string]any{}
		for name, property := range properties {
			inner, _ := property.(map[string]any)
			value[name] = sampleOf(inner)
		}
		return value
	case kind == "array":
		items, _ := schema["items"].(map[string]any)
		return []any{sampleOf(items)}
	case kind == "integer" || kind == "number":
		least, _ := schema["minimum"].(float64)
		return max(1, least)
	case kind == "boolean":
		return true
	case schema["format"] == "email":
		return "x@example.com"
	}
	least, _ := schema["minLength"].(float64)
	return strings.Repeat("x", max(1, int(least)))
}
