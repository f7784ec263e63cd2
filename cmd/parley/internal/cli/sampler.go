package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// samplerOutput bounds what a sampler may print, in bytes.
const samplerOutput = 4 << 20

// runSampler gives the request to a command and returns the answer that it
// prints.
func runSampler(ctx context.Context, command string, p *mcp.CreateMessageParams, stderr *output) (*mcp.CreateMessageResult, error) {
	request, err := wire.Marshal(p)
	if err != nil {
		return nil, err
	}
	name, flag := "sh", "-c"
	if runtime.GOOS == "windows" {
		name, flag = "cmd", "/c"
	}
	out := &capped{limit: samplerOutput}
	cmd := exec.CommandContext(ctx, name, flag, command) //nolint:gosec // running the command the user names is the purpose
	cmd.Stdin = bytes.NewReader(append(request, '\n'))
	cmd.Env = append(os.Environ(), samplerEnv(p)...)
	cmd.Stdout = out
	cmd.Stderr = stderr
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); out.full {
		return nil, fmt.Errorf("--sampler %q printed more than %d bytes", command, samplerOutput)
	} else if err != nil {
		return nil, fmt.Errorf("--sampler %q: %w", command, err)
	}
	text := strings.TrimRight(out.String(), "\r\n")
	if text == "" {
		return nil, fmt.Errorf("--sampler %q printed nothing", command)
	}
	return answerOf(p, command, text), nil
}

// answerOf makes an answer of what a sampler printed: a result as the protocol
// has it, or the text of one.
func answerOf(p *mcp.CreateMessageParams, command, text string) *mcp.CreateMessageResult {
	r := new(mcp.CreateMessageResult)
	if strings.HasPrefix(text, "{") && wire.Unmarshal([]byte(text), r) == nil && r.Role == mcp.RoleAssistant && len(r.Content) > 0 && r.Model != "" {
		return r
	}
	r = &mcp.CreateMessageResult{Role: mcp.RoleAssistant, Model: samplerName(command), StopReason: "endTurn"}
	for _, stop := range p.StopSequences {
		if before, _, found := strings.Cut(text, stop); found && stop != "" {
			text, r.StopReason = before, "stopSequence"
		}
	}
	if short := firstTokens(text, p.MaxTokens); len(short) < len(text) {
		text, r.StopReason = short, "maxTokens"
	}
	r.Content = mcp.OneOrMany{mcp.Text(text)}
	return r
}

// firstTokens cuts a text to a number of tokens. What a token is only the model
// knows; here it is up to eight bytes of a word, or of signs between words, so that a
// model that has kept to the limit is seldom cut. Without a positive number,
// nothing is.
//
// Spec: 2026-07-28 client/sampling#sampling-parameters.
func firstTokens(text string, most int64) string {
	if most <= 0 {
		return text
	}
	var tokens int64
	var word bool // the current token is of a word
	left := 0     // how many bytes more it can take
	for i, r := range text {
		if unicode.IsSpace(r) {
			left = 0
			continue
		}
		if isWord := unicode.IsLetter(r) || unicode.IsDigit(r); isWord != word || left < utf8.RuneLen(r) {
			word, left = isWord, 8
			tokens++
		}
		left -= utf8.RuneLen(r)
		if tokens > most {
			return strings.TrimRightFunc(text[:i], unicode.IsSpace)
		}
	}
	return text
}

// plainHint is a hint that does no harm where a sampler puts it on a command
// line: it is neither an option nor more than a word.
var plainHint = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,99}$`)

// samplerEnv tells a sampler what the request says about the model, so that it
// need not read JSON to choose one.
//
// Spec: 2026-07-28 client/sampling#model-preferences.
func samplerEnv(p *mcp.CreateMessageParams) []string {
	env := []string{"PARLEY_MAX_TOKENS=" + strconv.FormatInt(p.MaxTokens, 10)}
	prefs := p.ModelPreferences
	if prefs == nil {
		prefs = new(mcp.ModelPreferences)
	}
	var hints []string
	for _, h := range prefs.Hints {
		if plainHint.MatchString(h.Name) {
			hints = append(hints, h.Name)
		}
	}
	env = append(env, "PARLEY_MODEL_HINTS="+strings.Join(hints, " "))
	for name, value := range map[string]*float64{"COST": prefs.CostPriority, "SPEED": prefs.SpeedPriority, "INTELLIGENCE": prefs.IntelligencePriority} {
		text := ""
		if value != nil {
			text = strconv.FormatFloat(*value, 'g', -1, 64)
		}
		env = append(env, "PARLEY_"+name+"_PRIORITY="+text)
	}
	return env
}

// samplerName names the "model" after the command's program.
func samplerName(command string) string {
	program, _, _ := strings.Cut(strings.TrimSpace(command), " ")
	return "sampler:" + filepath.Base(program)
}

// capped is a buffer that takes only so much.
type capped struct {
	bytes.Buffer

	limit int
	full  bool
}

// Write implements io.Writer.
func (c *capped) Write(p []byte) (int, error) {
	if c.Len()+len(p) > c.limit {
		c.full = true
		return 0, errors.New("too much output")
	}
	return c.Buffer.Write(p)
}
