package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
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
	s, err := a.newAnswers(newServerName(target.Target{Command: []string{"a-server"}}))
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
		{"one changed", []string{"Ada", "36", "y", "", "", "", "2", "37", "5", "card", "9", "y"}, nil, "accept", `{"name":"Ada","age":37,"agree":true,"colour":"g","extras":["card"]}`},
		{"changed and declined", []string{"Ada", "36", "y", "", "", "", "1", "", "n"}, nil, "decline", ""},
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
			for _, shown := range []string{`the server of the command "a-server" asks:`, "Your name", "As on the letter box", "Tell me\uFFFD[2J about you"} {
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

// The answers are shown before they go, as they would be sent.
func TestFormIsReviewed(t *testing.T) {
	s, c := testAnswers(t, "Ada\n36\ny\n\nwrap, 3\n\n1\nGrace\ny\n")
	s.server.set(mcp.Implementation{Title: "Your\nBank"})
	got, err := s.elicit(t.Context(), &mcp.ElicitParams{Message: "?", RequestedSchema: json.RawMessage(formSchema)})
	if err != nil || !strings.Contains(string(got.Content), "Grace") {
		t.Fatalf("got %v, %v", got, err)
	}
	_, shown, _ := strings.Cut(c.err.String(), "Your answers")
	first, second, _ := strings.Cut(shown, "Your answers")
	for text, in := range map[string]string{"1) Your name  Ada": first, "2) age  36": first, "3) agree  yes": first, "4) colour  g": first, "5) extras  wrap, bow": first, "6) mail  \x1b[2mnone": first, "1) Your name  Grace": second} {
		if !strings.Contains(in, text) {
			t.Errorf("%q is not shown in %q", text, in)
		}
	}
	if want := `the server of the command "a-server", which calls itself "Your\nBank", asks:`; !strings.Contains(c.err.String(), want) {
		t.Errorf("%q is not shown in %q", want, c.err.String())
	}
}

// Flags that fill a form in send it without asking only if a flag says so.
func TestFormOfFlags(t *testing.T) {
	given := []string{"name=Ada", "age=36", "agree=yes"}
	for _, tt := range []struct {
		name   string
		yes    bool
		given  []string
		typed  string
		action string
	}{
		{"asked", false, given, "\n\n\n\n\n\nn\n", "decline"},
		{"not asked", true, given, "", "accept"},
		{"asked, because the flags do not suffice", true, given[:1], "\n36\ny\n\n\n\nn\n", "decline"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, c := testAnswers(t, tt.typed, tt.given...)
			s.app.flags.yesForm = tt.yes
			got, err := s.elicit(t.Context(), &mcp.ElicitParams{Message: "?", RequestedSchema: json.RawMessage(formSchema)})
			if err != nil || got.Action != tt.action {
				t.Errorf("got %v, %v, want %s\n%s", got, err, tt.action, c.err.String())
			}
		})
	}
}

// A form in a dialect that is not supported is an error, and not the user's no.
func TestFormOfAnotherDialect(t *testing.T) {
	for _, terminal := range []bool{true, false} {
		a, c := newTestApp("", terminal)
		a.flags.answers = []string{"name=Ada"}
		s, err := a.newAnswers(newServerName(target.Target{}))
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.elicit(t.Context(), &mcp.ElicitParams{RequestedSchema: json.RawMessage(`{"$schema":"https://example.com/mine","type":"object","properties":{"name":{"type":"string"}}}`)})
		var rpc *jsonrpc.Error
		if !errors.As(err, &rpc) || rpc.Code != jsonrpc.CodeInvalidParams || !strings.Contains(rpc.Message, "dialect") {
			t.Errorf("got %v, %v", got, err)
		}
		if !strings.Contains(c.err.String(), "dialect") {
			t.Errorf("the user is not told: %q", c.err.String())
		}
	}
}

// A slip in the name of an answer is not left out of a form that would go out without it.
func TestAnswersThatMissAField(t *testing.T) {
	fields := properties(json.RawMessage(`{"type":"object","properties":{"threshold_cents":{"type":"integer","default":1},"format":{"type":"string","default":"csv"}}}`))
	p := &mcp.ElicitParams{RequestedSchema: json.RawMessage(`{"type":"object"}`)}
	for given, want := range map[string]string{
		"threshold=100": "is it threshold_cents?", "formt=csv": "is it format?", "Format=csv": "is it format?",
		"threshold_cents=100": "", "email=ada@example.com": "", "fo=1": "",
	} {
		s, _ := testAnswers(t, "", given)
		if _, why := s.fromFlags(p, fields); !strings.Contains(why, want) || want == "" && why != "" {
			t.Errorf("%s: %q, want %q", given, why, want)
		}
	}
}
