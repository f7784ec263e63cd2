package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// samplesPerMinute is how often the sampler runs at most: so many at once, and
// so many a minute.
//
// Spec: 2026-07-28 client/sampling#security-considerations.
const samplesPerMinute = 20

// errNoModel is the error that a server gets when its sampling request is
// refused.
//
// Spec: 2025-11-25 client/sampling#error-handling.
func errNoModel() error { return jsonrpc.Errorf(-1, "User rejected sampling request") }

// sample runs the command that stands in for a model. The user sees and may
// change what goes to it, and what comes of it, unless --yes-sample says that
// nobody is to be asked.
//
// Spec: 2026-07-28 client/sampling#user-interaction-model.
func (s *answers) sample(ctx context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
	if !s.samples.Allow() {
		s.app.note("parley: %s asks for a model too often: refused, %d a minute are answered", s.server, samplesPerMinute)
		return nil, jsonrpc.Errorf(jsonrpc.CodeInternalError, "too many sampling requests: at most %d a minute are answered", samplesPerMinute)
	}
	if s.app.flags.yesSample {
		result, err := runSampler(ctx, s.app.flags.sampler, p, s.app.err)
		return result, s.said(err)
	}
	s.app.takeScreen()
	defer s.app.screen.Unlock()
	s.app.clearBar()
	p, err := s.maySample(ctx, p)
	if err != nil {
		return nil, err
	}
	result, err := runSampler(ctx, s.app.flags.sampler, p, s.app.err)
	if err != nil {
		s.app.err.printf("parley: %s\n", oneLine(err.Error(), 1000))
		return nil, err
	}
	return s.mayDeliver(ctx, result)
}

// said shows an error, and returns it.
func (s *answers) said(err error) error {
	if err != nil {
		s.app.note("parley: %s", oneLine(err.Error(), 1000))
	}
	return err
}

// maySample shows what the model would be asked, which the user may change, and
// asks for consent.
func (s *answers) maySample(ctx context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageParams, error) {
	for {
		s.showPrompt(p)
		if s.app.flags.sampler == "" {
			s.app.err.printf("\nDeclined: there is no model. --sampler CMD names a command that answers.\n")
			return nil, errNoModel()
		}
		text, err := s.lines.ask(ctx, fmt.Sprintf("\nRun %q on this? [y]es, [e]dit, [N]o > ", s.app.flags.sampler))
		switch {
		case err == nil && isEdit(text):
			p = s.editPrompt(ctx, p)
		case err == nil && yesOrNo(text) == "true":
			return p, nil
		default:
			return nil, errNoModel()
		}
	}
}

func isEdit(text string) bool { return strings.EqualFold(text, "e") || strings.EqualFold(text, "edit") }

func (s *answers) showPrompt(p *mcp.CreateMessageParams) {
	e := s.app.err
	e.printf("\n%s\n", e.bold(fmt.Sprintf("%s wants a model to answer (at most %d tokens):", s.server, p.MaxTokens)))
	if p.SystemPrompt != "" {
		e.printf("%s\n%s\n", e.dim("  system:"), indent(p.SystemPrompt, "    "))
	}
	for _, m := range p.Messages {
		e.printf("%s\n", e.dim("  "+label(string(m.Role), 40)+":"))
		e.printf("%s\n", indent(messageText(m.Content), "    "))
	}
}

// editPrompt lets the user change a request. If that fails, it says why and
// returns the request as it was.
func (s *answers) editPrompt(ctx context.Context, p *mcp.CreateMessageParams) *mcp.CreateMessageParams {
	raw, err := wire.Marshal(p)
	if err != nil {
		_ = s.saidHere(err)
		return p
	}
	text, err := s.app.edit(ctx, pretty(escaped(raw)), ".json")
	if err != nil {
		_ = s.saidHere(err)
		return p
	}
	changed := new(mcp.CreateMessageParams)
	if err := wire.Unmarshal([]byte(text), changed); err != nil {
		_ = s.saidHere(fmt.Errorf("this is no request any more, and is left as it was: %w", err))
		return p
	}
	changed.MaxTokens = min(changed.MaxTokens, p.MaxTokens)
	return changed
}

// saidHere is said for whoever holds the screen.
func (s *answers) saidHere(err error) error {
	s.app.err.printf("%s\n", s.app.err.red("parley: "+oneLine(err.Error(), 1000)))
	return err
}

// mayDeliver shows the answer of the model, which the user may change, and asks
// whether the server is to get it.
func (s *answers) mayDeliver(ctx context.Context, r *mcp.CreateMessageResult) (*mcp.CreateMessageResult, error) {
	e := s.app.err
	for {
		e.printf("\n%s\n%s\n", e.bold("The answer of "+label(r.Model, 100)+" for "+s.server.typed+":"), indent(messageText(r.Content), "    "))
		if r.StopReason == "maxTokens" {
			e.printf("%s\n", e.dim("  It was cut where it would be longer than the server allows."))
		}
		text, err := s.lines.ask(ctx, "\nSend this answer? [y]es, [e]dit, [N]o > ")
		switch {
		case err == nil && isEdit(text):
			r = s.editAnswer(ctx, r)
		case err == nil && yesOrNo(text) == "true":
			return r, nil
		default:
			return nil, errNoModel()
		}
	}
}

// editAnswer lets the user change the text of an answer.
func (s *answers) editAnswer(ctx context.Context, r *mcp.CreateMessageResult) *mcp.CreateMessageResult {
	text, err := s.app.edit(ctx, r.Text(), ".txt")
	if text = strings.TrimRight(text, "\r\n"); err == nil && text == "" {
		err = errors.New("an empty answer is none: it is left as it was")
	}
	if err != nil {
		_ = s.saidHere(err)
		return r
	}
	changed := *r
	changed.Content = mcp.OneOrMany{mcp.Text(text)}
	for _, block := range r.Content {
		if _, ok := block.(*mcp.TextContent); !ok {
			changed.Content = append(changed.Content, block)
		}
	}
	return &changed
}

// messageText shows content; what is not text is only named.
func messageText(content mcp.OneOrMany) string {
	var parts []string
	for _, block := range content {
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
