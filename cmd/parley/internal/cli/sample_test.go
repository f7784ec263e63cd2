package cli

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

func sky() *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{
		SystemPrompt: "Be brief",
		Messages:     []*mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.OneOrMany{mcp.Text("Why is the sky blue?")}}},
		MaxTokens:    10,
	}
}

func TestSamplingAsksFirst(t *testing.T) {
	tests := []struct {
		name, sampler, typed, shown string
		refused                     bool
	}{
		{"yes, and yes", "echo because", "y\ny\n", `Run "echo because" on this?`, false},
		{"no", "echo because", "n\n", `Run "echo because" on this?`, true},
		{"nothing typed is no", "echo because", "\n", "Why is the sky blue?", true},
		{"left", "echo because", "", "Be brief", true},
		{"the answer is refused", "echo because", "y\nn\n", "    because", true},
		{"nothing typed refuses the answer", "echo because", "y\n\n", "Send this answer?", true},
		{"left at the answer", "echo because", "y\n", `The answer of sampler:echo for the server of the command "a-server":`, true},
		{"no model", "", "y\n", "Declined: there is no model. --sampler CMD", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, c := testAnswers(t, tt.typed)
			s.app.flags.sampler = tt.sampler
			got, err := s.sample(t.Context(), sky())
			var rpc *jsonrpc.Error
			switch {
			case tt.refused:
				if !errors.As(err, &rpc) || rpc.Code != -1 {
					t.Errorf("error = %v, want code -1", err)
				}
			case err != nil || got.Text() != "because" || got.Model != "sampler:echo" || got.StopReason != "endTurn":
				t.Errorf("got %v, %v", got, err)
			}
			if !strings.Contains(c.err.String(), tt.shown) {
				t.Errorf("%q is not shown in %q", tt.shown, c.err.String())
			}
		})
	}
}

// What goes to the model and what comes of it can be changed.
func TestSamplingIsEdited(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the editors are shell commands")
	}
	s, c := testAnswers(t, "e\ny\ne\ny\n")
	s.app.flags.sampler = `grep -o "Why is the sea blue"`
	s.app.io.LookupEnv = func(name string) (string, bool) {
		return `sh -c 'sed "s/sky/sea/; s/Why is/It is not that/; s/\"maxTokens\": 10/\"maxTokens\": 99/" "$1" >"$1.new" && mv "$1.new" "$1"' sh`, name == "EDITOR"
	}
	// The first edit must leave "Why is" alone for the sampler to find.
	first := true
	lookup := s.app.io.LookupEnv
	s.app.io.LookupEnv = func(name string) (string, bool) {
		editor, ok := lookup(name)
		if ok && first {
			first = false
			editor = strings.Replace(editor, "s/Why is/It is not that/; ", "", 1)
		}
		return editor, ok
	}
	got, err := s.sample(t.Context(), sky())
	if err != nil || got.Text() != "It is not that the sea blue" {
		t.Errorf("got %v, %v\n%s", got, err, c.err.String())
	}
	if text := c.err.String(); !strings.Contains(text, "Why is the sea blue?") || strings.Contains(text, "99 tokens") {
		t.Errorf("shown: %s", text)
	}
}

// A failed edit changes nothing.
func TestSamplingKeepsWhatCannotBeEdited(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the editors are shell commands")
	}
	for editor, why := range map[string]string{"false": "EDITOR names another", "truncate -s 0": "left as it was"} {
		s, c := testAnswers(t, "e\ny\ne\ny\n")
		s.app.flags.sampler = "echo because"
		s.app.io.LookupEnv = func(name string) (string, bool) { return editor, name == "EDITOR" }
		got, err := s.sample(t.Context(), sky())
		if err != nil || got.Text() != "because" || strings.Count(c.err.String(), why) != 2 {
			t.Errorf("%s: got %v, %v\n%s", editor, got, err, c.err.String())
		}
	}
}

// Without a terminal, nothing runs unless a flag says so.
func TestSamplingWithoutATerminal(t *testing.T) {
	a, _ := newTestApp("", false)
	a.flags.sampler = "echo because"
	if _, err := a.newAnswers(newServerName(target.Target{})); err == nil || !strings.Contains(err.Error(), "--yes-sample") {
		t.Errorf("error = %v", err)
	}
	a.flags.yesSample = true
	s, err := a.newAnswers(newServerName(target.Target{}))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.sample(t.Context(), sky()); err != nil || got.Text() != "because" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestSamplingHasARate(t *testing.T) {
	s, c := testAnswers(t, "")
	s.app.flags.sampler, s.app.flags.yesSample = "echo because", true
	s.samples.SetBurst(2)
	for i := range 3 {
		_, err := s.sample(t.Context(), sky())
		if (err != nil) != (i == 2) {
			t.Errorf("request %d: %v", i, err)
		}
	}
	if !strings.Contains(c.err.String(), "too often") {
		t.Errorf("the user is not told: %q", c.err.String())
	}
}

// The answer is as long as the server allows, and says so if it was cut.
func TestSamplingKeepsToTheLimit(t *testing.T) {
	for _, tt := range []struct {
		printed string
		most    int64
		stops   []string
		want    string
		reason  string
	}{
		{"one two three", 3, nil, "one two three", "endTurn"},
		{"one two three", 2, nil, "one two", "maxTokens"},
		{"donaudampfschiff", 1, nil, "donaudam", "maxTokens"},
		{"yes!!! no", 2, nil, "yes!!!", "maxTokens"},
		{"äöüä äöü", 1, nil, "äöüä", "maxTokens"},
		{"one STOP two", 9, []string{"", "STOP"}, "one ", "stopSequence"},
		{"one two three", 0, nil, "one two three", "endTurn"},
		{`{"role":"assistant","content":{"type":"text","text":"one two"},"model":"m","stopReason":"maxTokens"}`, 1, nil, "one two", "maxTokens"},
		{`{"content":"x"}`, 99, nil, `{"content":"x"}`, "endTurn"},
	} {
		got := answerOf(&mcp.CreateMessageParams{MaxTokens: tt.most, StopSequences: tt.stops}, "cmd", tt.printed)
		if got.Text() != tt.want || got.StopReason != tt.reason {
			t.Errorf("%s, at most %d: got %q, %s", tt.printed, tt.most, got.Text(), got.StopReason)
		}
	}
}

// What a request says about models reaches the sampler; what could be more than
// a name does not.
func TestSamplerEnvironment(t *testing.T) {
	p, speed := sky(), 0.5
	p.MaxTokens = 12
	p.ModelPreferences = &mcp.ModelPreferences{
		Hints:         []mcp.ModelHint{{Name: "claude-3.5"}, {Name: "--exec=rm"}, {Name: "a b"}, {Name: "x\x00"}, {Name: "org/model:7b"}},
		SpeedPriority: &speed,
	}
	got := samplerEnv(p)
	for _, want := range []string{"PARLEY_MAX_TOKENS=12", "PARLEY_MODEL_HINTS=claude-3.5 org/model:7b", "PARLEY_SPEED_PRIORITY=0.5", "PARLEY_COST_PRIORITY="} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	a, _ := newTestApp("", false)
	r, err := runSampler(t.Context(), `echo "$PARLEY_MODEL_HINTS"`, p, a.err)
	if err != nil || r.Text() != "claude-3.5 org/model:7b" {
		t.Errorf("got %v, %v; PATH=%s", r, err, os.Getenv("PATH"))
	}
}
