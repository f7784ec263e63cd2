// Ask calls a tool, and asks on the terminal what the server wants to know
// meanwhile: a client for a server of any revision.
//
//	go run ./examples/ask                                                       # books a table
//	go run ./examples/ask greet '{"name":"Ann"}' go run ./examples/greeter      # TOOL ARGUMENTS COMMAND...
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/transport/stdio"
)

// terminal is where the user is asked.
type terminal struct {
	in  *bufio.Scanner
	out io.Writer
}

// form is what the client needs to know of the fields of a question.
type form struct {
	Properties map[string]struct {
		Type, Description string
		Enum              []string
		Default           json.RawMessage
	}
}

// elicit is called for each form of the server. What the user enters is checked
// here, so that they can correct it.
func (t *terminal) elicit(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	var f form
	if err := json.Unmarshal(p.RequestedSchema, &f); err != nil {
		return nil, err
	}
	for {
		_, _ = fmt.Fprintln(t.out, p.Message)
		content := map[string]json.RawMessage{}
		for _, name := range slices.Sorted(maps.Keys(f.Properties)) {
			field := f.Properties[name]
			text, err := t.ask(fmt.Sprint("  ", name, " ", hint(field.Description, field.Enum, field.Default), ": "))
			if err != nil {
				return &mcp.ElicitResult{Action: mcp.ActionCancel}, nil
			}
			if text != "" {
				content[name] = value(field.Type, text)
			}
		}
		answer, err := t.ask("Send this? (yes, no): ")
		if err != nil || answer != "yes" {
			return &mcp.ElicitResult{Action: mcp.ActionDecline}, nil
		}
		raw, err := json.Marshal(content)
		if err == nil {
			var result *mcp.ElicitResult
			if result, err = client.CheckForm(p, &mcp.ElicitResult{Action: mcp.ActionAccept, Content: raw}); err == nil {
				return result, nil
			}
		}
		_, _ = fmt.Fprintln(t.out, "That does not fit:", err)
	}
}

// hint tells the user what a field takes.
func hint(description string, choices []string, preset json.RawMessage) string {
	hints := choices
	if description != "" {
		hints = append([]string{description}, hints...)
	}
	if preset != nil {
		hints = append(hints, "else "+string(preset))
	}
	return "(" + strings.Join(hints, ", ") + ")"
}

// value is what the user has entered, as JSON: text that is none stays text.
func value(kind, text string) json.RawMessage {
	if kind != "string" && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, _ := json.Marshal(text)
	return quoted
}

func (t *terminal) ask(question string) (string, error) {
	_, _ = fmt.Fprint(t.out, question)
	if !t.in.Scan() {
		return "", errors.Join(t.in.Err(), io.EOF)
	}
	return strings.TrimSpace(t.in.Text()), nil
}

// call calls a tool of the server that a command starts.
func call(ctx context.Context, t *terminal, tool, args string, command []string) (string, error) {
	c, err := client.Connect(ctx, &stdio.Command{Args: command}, &client.Options{Elicit: t.elicit})
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }()
	return client.Call[string](ctx, c, tool, json.RawMessage(args))
}

func main() {
	tool, args, command := "book", `{"restaurant":"Luigi"}`, []string{"go", "run", "./examples/booking"}
	if len(os.Args) > 3 {
		tool, args, command = os.Args[1], os.Args[2], os.Args[3:]
	}
	said, err := call(context.Background(), &terminal{bufio.NewScanner(os.Stdin), os.Stderr}, tool, args, command)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(said)
}
