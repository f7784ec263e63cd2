package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/transport/stdio"
	"github.com/parley-mcp/parley/transport/streamable"
)

const limit = time.Minute

// visit is what is known of a server while it is checked.
type visit struct {
	c       *client.Client
	endless *client.Task // the task that is polled and then cancelled

	heard atomic.Int64 // notifications about the states of tasks
}

// check runs all checks against a server and writes a line of JSON for each to standard
// output, but for those in SKIP, which the server cannot pass.
func check(ctx context.Context, date string, target []string, logger *slog.Logger) error {
	revision, ok := mcp.ParseRevision(date)
	if !ok {
		return fmt.Errorf("there is no revision %q", date)
	}
	v := &visit{}
	checks := []struct {
		column string
		run    func(context.Context) error
	}{
		{"connect", func(ctx context.Context) error { return v.connect(ctx, revision, target, logger) }},
		{"result", v.result},
		{"poll", v.poll},
		{"list", v.list},
		{"cancel", v.cancel},
		{"ask", v.answering("order", map[string]any{}, "Ada wants 7")},
		{"sample", v.answering("ask", map[string]any{"text": "Why?"}, "the model said: You asked: Why?")},
		{"failure", v.failure},
		{"error", v.broken},
		{"unknown", v.unknown},
		{"notify", v.notified},
		{"apart", v.answering("apart", map[string]any{}, "Hello, Ada.")},
		{"end", func(context.Context) error { return v.c.Close() }},
	}
	skip := strings.Split(os.Getenv("SKIP"), ",")
	for _, c := range checks {
		if slices.Contains(skip, c.column) {
			continue
		}
		err := within(ctx, c.run)
		text := ""
		if err != nil {
			text = err.Error()
		}
		line, _ := json.Marshal(map[string]any{"column": c.column, "passed": err == nil, "text": text})
		fmt.Fprintf(os.Stdout, "%s\n", line) //nolint:forbidigo // nobody speaks MCP on it
		if v.c == nil {
			return err
		}
	}
	return nil
}

func within(ctx context.Context, run func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return run(ctx)
}

func (v *visit) connect(ctx context.Context, revision mcp.Revision, target []string, logger *slog.Logger) error {
	var t mcp.Transport = &stdio.Command{Args: target}
	if len(target) == 1 {
		t = &streamable.Client{URL: target[0], Logger: logger}
	}
	c, err := client.Connect(ctx, t, &client.Options{
		Revisions: []mcp.Revision{revision}, Logger: logger, AnswerAsTasks: true,
		Elicit: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: mcp.ActionAccept, Content: json.RawMessage(`{"name":"Ada","amount":7}`)}, nil
		},
		Sample: func(_ context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			asked, _ := p.Messages[0].Content[0].(*mcp.TextContent)
			return &mcp.CreateMessageResult{Role: mcp.RoleAssistant, Model: "none", Content: mcp.OneOrMany{mcp.Text("You asked: " + asked.Text)}}, nil
		},
		Tap: v.hear,
	})
	v.c = c
	return err
}

func (v *visit) hear(e mcp.TapEvent) {
	if e.Direction == mcp.Received && e.Dropped == 0 && bytes.Contains(e.Frame, []byte(`"notifications/tasks`)) {
		v.heard.Add(1)
	}
}

// result follows a task from its beginning to its end.
func (v *visit) result(ctx context.Context) error {
	var states []mcp.TaskStatus
	t, err := v.c.StartTask(ctx, "count", map[string]any{"steps": 3, "pause": 0.05},
		client.WithTaskStatus(func(t *mcp.Task) { states = append(states, t.Status) }))
	if err != nil {
		return err
	}
	if t.ID() == "" {
		return errors.New("the call did not become a task")
	}
	result, err := t.Wait(ctx)
	if err != nil {
		return err
	}
	if len(states) == 0 || states[0] != mcp.TaskWorking {
		return fmt.Errorf("the states were %v", states)
	}
	return says(result, "counted to 3")
}

// poll looks at a task that runs until it says how far it is.
func (v *visit) poll(ctx context.Context) (err error) {
	if v.endless, err = v.c.StartTask(ctx, "count", map[string]any{"steps": 100_000, "pause": 0.05}); err != nil {
		return err
	}
	for {
		state, err := v.endless.Status(ctx)
		switch {
		case err != nil:
			return err
		case state.Status != mcp.TaskWorking || state.CreatedAt == "" || state.LastUpdatedAt == "":
			return fmt.Errorf("the state is %+v", state)
		case state.StatusMessage != "":
			return nil
		}
		if err := rest(ctx); err != nil {
			return err
		}
	}
}

func (v *visit) list(ctx context.Context) error {
	tasks, err := client.Collect(v.c.Tasks(ctx))
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(tasks, func(t *mcp.Task) bool { return t.ID == v.endless.ID() }) {
		return fmt.Errorf("the task %q is not among the %d that are listed", v.endless.ID(), len(tasks))
	}
	return nil
}

func (v *visit) cancel(ctx context.Context) error {
	if err := v.endless.Cancel(ctx); err != nil {
		return err
	}
	if err := failing(v.endless.Wait(ctx)); !errors.Is(err, client.ErrTaskCancelled) {
		return fmt.Errorf("the cancelled task: %w", err)
	}
	return v.endless.Cancel(ctx) // which must not matter
}

// answering calls a tool that asks.
func (v *visit) answering(tool string, args any, answer string) func(context.Context) error {
	return func(ctx context.Context) error {
		t, err := v.c.StartTask(ctx, tool, args)
		if err != nil {
			return err
		}
		if t.ID() == "" {
			return errors.New("the call did not become a task")
		}
		result, err := t.Wait(ctx)
		if err != nil {
			return err
		}
		return says(result, answer)
	}
}

func (v *visit) failure(ctx context.Context) error {
	t, err := v.c.StartTask(ctx, "fail", nil)
	if err != nil {
		return err
	}
	result, err := t.Wait(ctx)
	if err != nil {
		return err
	}
	if !result.IsError {
		return errors.New("the result is not that of a failure")
	}
	return says(result, "it failed")
}

func (v *visit) broken(ctx context.Context) error {
	t, err := v.c.StartTask(ctx, "broken", nil)
	if err != nil {
		return err
	}
	if err = failing(t.Wait(ctx)); !strings.Contains(err.Error(), "it is broken") {
		return fmt.Errorf("the reason is lost: %w", err)
	}
	return nil
}

// failing returns the error of a task, or an error because there is none.
func failing(_ *mcp.CallToolResult, err error) error {
	if err == nil {
		return errors.New("there is a result")
	}
	return err
}

func (v *visit) unknown(ctx context.Context) error {
	_, err := v.c.Task("there-is-no-such-task", "").Status(ctx)
	if !errors.Is(err, client.ErrNotFound) {
		return fmt.Errorf("an unknown task is no such error: %w", err)
	}
	return nil
}

// notified waits for a notification about a state. Whatever task it is about has ended
// or will.
func (v *visit) notified(ctx context.Context) error {
	for v.heard.Load() == 0 {
		if err := rest(ctx); err != nil {
			return fmt.Errorf("no notification came: %w", err)
		}
	}
	return nil
}

func rest(ctx context.Context) error {
	timer := time.NewTimer(20 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// says reports whether a result has a text.
func says(r *mcp.CallToolResult, text string) error {
	for _, block := range r.Content {
		if t, ok := block.(*mcp.TextContent); ok && strings.Contains(t.Text, text) {
			return nil
		}
	}
	doc, _ := json.Marshal(r)
	return fmt.Errorf("%q is missing in %s", text, doc)
}
