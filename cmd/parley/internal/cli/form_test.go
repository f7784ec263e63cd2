package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

const formSchema = `{"type":"object","required":["name","age","agree"],"properties":{
	"name":{"type":"string","title":"Your name","description":"As on the letter box","minLength":2},
	"age":{"type":"integer","minimum":1,"maximum":150},
	"agree":{"type":"boolean"},
	"colour":{"type":"string","oneOf":[{"const":"r","title":"Red"},{"const":"g","title":"Green"}],"default":"g"},
	"extras":{"type":"array","items":{"type":"string","enum":["wrap","card","bow"]}},
	"mail":{"type":"string","format":"email"}}}`

func testAnswers(t *testing.T, input string, given ...string) (*answers, *console) {
	t.Helper()
	a, c := newTestApp(input, true)
	a.flags.answers = given
	s, err := a.newAnswers(newServerName("a-server"))
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

func TestForm(t *testing.T) {
	tests := []struct {
		name   string
		typed  []string
		given  []string
		action string
		want   string
	}{
		{"all typed", []string{"Ada", "36", "y", "1", "wrap, 3", "ada@example.com", "y"}, nil, "accept", `{"name":"Ada","age":36,"agree":true,"colour":"r","extras":["wrap","bow"],"mail":"ada@example.com"}`},
		{"as little as possible", []string{"Ada", "36", "no", "", "", "", "yes"}, nil, "accept", `{"name":"Ada","age":36,"agree":false,"colour":"g"}`},
		{"asked again", []string{"", "A", "Ada", "old", "0", "36", "perhaps", "yes", "blue", "Red", "ribbon", "2", "nowhere", "a@b.example", "what?", "y"}, nil, "accept", `{"name":"Ada","age":36,"agree":true,"colour":"r","extras":["card"],"mail":"a@b.example"}`},
		{"prefilled", []string{"", "37", "", "", "", "", "y"}, []string{"name=Ada", "age=36", "agree=yes", "extras=card,bow"}, "accept", `{"name":"Ada","age":37,"agree":true,"colour":"g","extras":["card","bow"]}`},
		{"declined", []string{"Ada", "36", "y", "", "", "", "n"}, nil, "decline", ""},
		{"cancelled", []string{"Ada", "36", "y", "", "", "", "c"}, nil, "cancel", ""},
		{"left in the middle", []string{"Ada"}, nil, "cancel", ""},
		{"left at the end", []string{"Ada", "36", "y", "", "", ""}, nil, "cancel", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, c := testAnswers(t, strings.Join(tt.typed, "\n")+"\n", tt.given...)
			got, err := s.elicit(t.Context(), &mcp.ElicitParams{Message: "Tell me\x1b[2J about you", RequestedSchema: json.RawMessage(formSchema)})
			if err != nil {
				t.Fatal(err)
			}
			if got.Action != tt.action || string(got.Content) != tt.want {
				t.Errorf("got  %s %s\nwant %s %s\n%s", got.Action, got.Content, tt.action, tt.want, c.err.String())
			}
			for _, shown := range []string{`the server "a-server" asks:`, "Your name", "As on the letter box", "Tell me\uFFFD[2J about you"} {
				if !strings.Contains(c.err.String(), shown) {
					t.Errorf("%q is not shown in %q", shown, c.err.String())
				}
			}
		})
	}
}

func TestFormEndsWithItsRequest(t *testing.T) {
	s, _ := testAnswers(t, "")
	r, w := io.Pipe()
	defer w.Close()
	s.lines.read = func() (string, error) {
		_, err := r.Read(make([]byte, 1))
		return "", err
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	withdrawn := errors.New("withdrawn")
	cancel(withdrawn)
	if _, err := s.elicit(ctx, &mcp.ElicitParams{RequestedSchema: json.RawMessage(formSchema)}); !errors.Is(err, withdrawn) {
		t.Errorf("error = %v, want %v", err, withdrawn)
	}
}

func TestVisit(t *testing.T) {
	tests := []struct{ name, url, typed, want, shown string }{
		{"agreed", "https://example.com/connect", "y", "accept", "host  \x1b[1mexample.com"},
		{"asked again", "https://example.com/", "\nperhaps\nyes", "accept", "example.com"},
		{"declined", "https://example.com/", "n", "decline", "example.com"},
		{"left", "https://example.com/", "", "cancel", "example.com"},
		{"in the clear", "http://example.com/", "n", "decline", "not encrypted"},
		{"disguised", "https://bank.example@evil.example/", "n", "decline", `before "@" is not the host`},
		{"look-alike", "https://bаnk.example/", "n", "decline", "may look like others"},
		{"no web address", "javascript:alert(1)", "y", "decline", "not a web address"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			input := tt.typed + "\n"
			if tt.typed == "" {
				input = ""
			}
			s, c := testAnswers(t, input)
			got, err := s.visit(t.Context(), &mcp.ElicitParams{Mode: mcp.ElicitURL, Message: "Connect", URL: tt.url})
			if err != nil || got.Action != tt.want {
				t.Fatalf("got %v, %v, want %s", got, err, tt.want)
			}
			if !strings.Contains(c.err.String(), tt.shown) {
				t.Errorf("%q is not shown in %q", tt.shown, c.err.String())
			}
		})
	}
}

func TestSamplingAsksFirst(t *testing.T) {
	p := &mcp.CreateMessageParams{
		SystemPrompt: "Be brief",
		Messages:     []*mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.OneOrMany{mcp.Text("Why is the sky blue?")}}},
		MaxTokens:    10,
	}
	tests := []struct {
		name, sampler, typed, shown string
		refused                     bool
	}{
		{"yes", "echo because", "y\n", `Run "echo because" on this?`, false},
		{"no", "echo because", "n\n", `Run "echo because" on this?`, true},
		{"nothing typed is no", "echo because", "\n", "Why is the sky blue?", true},
		{"left", "echo because", "", "Be brief", true},
		{"no model", "", "y\n", "Declined: there is no model. --sampler CMD", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, c := testAnswers(t, tt.typed)
			s.app.flags.sampler = tt.sampler
			got, err := s.sample(t.Context(), p)
			var rpc *jsonrpc.Error
			switch {
			case tt.refused:
				if !errors.As(err, &rpc) || rpc.Code != -1 {
					t.Errorf("error = %v, want code -1", err)
				}
			case err != nil || got.Text() != "because" || got.Model != "sampler:echo":
				t.Errorf("got %v, %v", got, err)
			}
			if !strings.Contains(c.err.String(), tt.shown) {
				t.Errorf("%q is not shown in %q", tt.shown, c.err.String())
			}
		})
	}
}
