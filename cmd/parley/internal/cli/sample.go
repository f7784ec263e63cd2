package cli

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// errNoModel is the error that a server gets when its sampling request is
// refused.
//
// Spec: 2025-11-25 client/sampling#error-handling.
func errNoModel() error { return jsonrpc.Errorf(-1, "User rejected sampling request") }

// sample runs the command that stands in for a model, after asking the user if
// there is one.
func (s *answers) sample(ctx context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
	if s.lines != nil {
		if err := s.maySample(ctx, p); err != nil {
			return nil, err
		}
	}
	command := s.app.flags.sampler
	text, err := runSampler(ctx, command, p, s.app.err)
	if err != nil {
		s.app.note("parley: %s", oneLine(err.Error(), 1000))
		return nil, err
	}
	return &mcp.CreateMessageResult{
		Role:       mcp.RoleAssistant,
		Content:    mcp.OneOrMany{mcp.Text(text)},
		Model:      samplerName(command),
		StopReason: "endTurn",
	}, nil
}

// maySample shows what the model would be asked, and asks for consent.
//
// Spec: 2026-07-28 client/sampling#user-interaction-model.
func (s *answers) maySample(ctx context.Context, p *mcp.CreateMessageParams) error {
	s.app.screen.Lock()
	defer s.app.screen.Unlock()
	s.app.clearBar()
	e := s.app.err
	e.printf("\n%s\n", e.bold(fmt.Sprintf("%s wants a model to answer (at most %d tokens):", s.server, p.MaxTokens)))
	if p.SystemPrompt != "" {
		e.printf("%s\n%s\n", e.dim("  system:"), indent(p.SystemPrompt, "    "))
	}
	for _, m := range p.Messages {
		e.printf("%s\n", e.dim("  "+label(string(m.Role), 40)+":"))
		e.printf("%s\n", indent(messageText(m), "    "))
	}
	if s.app.flags.sampler == "" {
		e.printf("\nDeclined: there is no model. --sampler CMD names a command that answers.\n")
		return errNoModel()
	}
	text, err := s.lines.ask(ctx, fmt.Sprintf("\nRun %q on this? [y/N] > ", s.app.flags.sampler))
	if err == nil && yesOrNo(text) == "true" {
		return nil
	}
	return errNoModel()
}

// messageText shows a message; content that is not text is only named.
func messageText(m *mcp.SamplingMessage) string {
	var parts []string
	for _, block := range m.Content {
		if t, ok := block.(*mcp.TextContent); ok {
			parts = append(parts, t.Text)
			continue
		}
		raw, err := wire.Marshal(block)
		if err != nil {
			continue
		}
		parts = append(parts, oneLine(string(raw), 200))
	}
	return strings.Join(parts, "\n")
}

// runSampler gives the request to a command and returns what it prints.
func runSampler(ctx context.Context, command string, p *mcp.CreateMessageParams, stderr *output) (string, error) {
	request, err := wire.Marshal(p)
	if err != nil {
		return "", err
	}
	name, flag := "sh", "-c"
	if runtime.GOOS == "windows" {
		name, flag = "cmd", "/c"
	}
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, name, flag, command) //nolint:gosec // running the command the user names is the purpose
	cmd.Stdin = bytes.NewReader(append(request, '\n'))
	cmd.Stdout = &out
	cmd.Stderr = stderr
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("--sampler %q: %w", command, err)
	}
	text := strings.TrimRight(out.String(), "\r\n")
	if text == "" {
		return "", fmt.Errorf("--sampler %q printed nothing", command)
	}
	return text, nil
}

// samplerName names the "model" after the command's program.
func samplerName(command string) string {
	program, _, _ := strings.Cut(strings.TrimSpace(command), " ")
	return "sampler:" + filepath.Base(program)
}
