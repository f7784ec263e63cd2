package era

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/question"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// A question of another server is sent in the form of each revision; what the
// revision does not change keeps its text, known or not.
func TestRawQuestionsAreLowered(t *testing.T) {
	all := &mcp.ClientCapabilities{
		Roots: &mcp.RootsCapability{}, Sampling: &mcp.SamplingCapability{Tools: &mcp.Empty{}},
		Elicitation: &mcp.ElicitationCapability{Form: &mcp.Empty{}, URL: &mcp.Empty{}},
	}
	const plainForm = `{"com.example/a":1.0,"message":"\u0041","requestedSchema":{"type":"object","properties":{"n":{"type":"number","minimum":1.0}}}`
	tests := []struct {
		name     string
		revision mcp.Revision
		method   string
		params   string
		want     string
	}{
		{"a form without mode", mcp.Revision20250618, mcp.MethodElicit, plainForm + `}`, plainForm + `}`},
		{"a form gets its mode", mcp.Revision20251125, mcp.MethodElicit, plainForm + `}`, plainForm + `,"mode":"form"}`},
		{"no mode yet", mcp.Revision20250618, mcp.MethodElicit, plainForm + `,"mode":"form"}`, plainForm + `}`},
		{
			"defaults and titles", mcp.Revision20250618, mcp.MethodElicit,
			`{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string","default":"x"}}},"x":1.0}`,
			`{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}},"x":1.0}`,
		},
		{"no identifier", mcp.Revision20260728, mcp.MethodElicit, `{"mode":"url","message":"m","url":"https://a.b/","elicitationId":"e","x":1}`, `{"mode":"url","message":"m","url":"https://a.b/","x":1}`},
		{
			"tools", mcp.Revision20250618, mcp.MethodSample,
			`{"messages":[],"maxTokens":1,"tools":[],"toolChoice":{"mode":"auto"},"temperature":0.10}`, `{"messages":[],"maxTokens":1,"temperature":0.10}`,
		},
		{
			"one block in a list", mcp.Revision20250618, mcp.MethodSample,
			`{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}],"maxTokens":1}`, `{"messages":[{"role":"user","content":{"type":"text","text":"a"}}],"maxTokens":1}`,
		},
		{
			"a list stays one", mcp.Revision20251125, mcp.MethodSample,
			`{"messages":[{"role":"user","content":[{"type":"text","text":"a"}],"y":1.0}],"maxTokens":1}`, `{"messages":[{"role":"user","content":[{"type":"text","text":"a"}],"y":1.0}],"maxTokens":1}`,
		},
		{
			"what another hop said", mcp.Revision20251125, mcp.MethodSample,
			`{"messages":[],"maxTokens":1,"_meta":{"progressToken":7,"com.example/k":1.0}}`, `{"messages":[],"maxTokens":1,"_meta":{"com.example/k":1.0}}`,
		},
		{"roots", mcp.Revision20241105, mcp.MethodRoots, `{"_meta":{"progressToken":7}}`, `{}`},
		{"roots with more", mcp.Revision20260728, mcp.MethodRoots, `{"x":1.0}`, `{"x":1.0}`},
	}
	for _, tt := range tests {
		t.Run(tt.revision.String()+"/"+tt.name, func(t *testing.T) {
			q := mcp.InputRequest{Key: "q", Method: tt.method, Params: json.RawMessage(tt.params)}
			if err := question.Missing(q, all); err != nil {
				t.Fatal(err)
			}
			got, err := wire.Marshal(lowerQuestion(q, revision.Of(tt.revision), all).Params)
			if err != nil || string(got) != tt.want {
				t.Errorf("got %s, %v; want %s", got, err, tt.want)
			}
		})
	}
}

// A raw question needs the capability of what it asks, as a typed one does, and
// one that cannot be read is not sent.
func TestRawQuestionsNeedTheirCapability(t *testing.T) {
	forms := &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{Form: &mcp.Empty{}}, Sampling: &mcp.SamplingCapability{}}
	for _, tt := range []struct{ method, params, want string }{
		{mcp.MethodElicit, `{"mode":"url"}`, "elicitation (url)"},
		{mcp.MethodElicit, `{"message":5}`, "message"},
		{mcp.MethodElicit, `{`, "params"},
		{mcp.MethodSample, `{"tools":[{"name":"t"}],"messages":[]}`, "sampling with tools"},
		{mcp.MethodRoots, `{}`, "roots"},
		{"x/y", `{}`, "not a question"},
	} {
		q := mcp.InputRequest{Key: "q", Method: tt.method, Params: json.RawMessage(tt.params)}
		if err := question.Missing(q, forms); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %s: %v; want %q", tt.method, tt.params, err, tt.want)
		}
	}
	choice := mcp.InputRequest{Key: "q", Method: mcp.MethodElicit, Params: json.RawMessage(
		`{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"array"}},"required":["a"]}}`)}
	if err := askable(choice, revision.Of(mcp.Revision20250618)); err == nil {
		t.Error("a required multiple choice was found to have an older form")
	}
}

// The answer of another client goes out in the form of each revision.
func TestRawAnswersAreShaped(t *testing.T) {
	tests := []struct {
		revision         mcp.Revision
		method, in, want string
	}{
		{mcp.Revision20260728, mcp.MethodElicit, `{"x":1.0,"action":"accept","content":{"n":1.0}}`, `{"x":1.0,"action":"accept","content":{"n":1.0}}`},
		{mcp.Revision20251125, mcp.MethodElicit, `{"action":"decline","_meta":{"a/b":1}}`, `{"action":"decline","_meta":{"a/b":1}}`},
		{mcp.Revision20260728, mcp.MethodElicit, `{"action":"decline","_meta":{"a/b":1}}`, `{"action":"decline"}`},
		{mcp.Revision20251125, mcp.MethodSample, `{"role":"assistant","model":"m","content":[{"type":"text","text":"a"}],"stopReason":"x"}`, `{"role":"assistant","model":"m","content":[{"type":"text","text":"a"}],"stopReason":"x"}`},
		{mcp.Revision20250618, mcp.MethodSample, `{"role":"assistant","model":"m","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"x":1.0}`, `{"role":"assistant","model":"m","content":{"type":"text","text":"ab"},"x":1.0,"stopReason":"endTurn"}`},
		{mcp.Revision20250618, mcp.MethodSample, `{"role":"assistant","model":"m","content":[{"type":"text","text":"a"}],"stopReason":"x"}`, `{"role":"assistant","model":"m","content":{"type":"text","text":"a"},"stopReason":"x"}`},
		{mcp.Revision20251125, mcp.MethodRoots, `{"roots":[{"uri":"file:///a","x":1.0}],"_meta":{"` + mcp.MetaClientInfo + `":{}}}`, `{"roots":[{"uri":"file:///a","x":1.0}]}`},
	}
	for _, tt := range tests {
		got, err := shapeRawAnswer(tt.method, json.RawMessage(tt.in), revision.Of(tt.revision))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s %s: %s, %v; want %s", tt.revision, tt.in, got, err, tt.want)
		}
	}
	for method, in := range map[string]string{mcp.MethodElicit: `[]`, mcp.MethodSample: `{"role":5}`, mcp.MethodRoots: `{"roots":[null]}`} {
		if got, err := shapeRawAnswer(method, json.RawMessage(in), revision.Of(mcp.Revision20260728)); err == nil {
			t.Errorf("%s: %s was taken for an answer", method, got)
		}
	}
}

// Progress that is passed on gets the token of the client, and a message only
// where the revision has one.
func TestRelayedProgress(t *testing.T) {
	params := json.RawMessage(`{"progressToken":"theirs","progress":0.50,"message":"half","_meta":{"` + mcp.MetaSubscriptionID + `":1}}`)
	for r, want := range map[mcp.Revision]string{
		mcp.Revision20241105: `{"progressToken":7,"progress":0.50}`,
		mcp.Revision20260728: `{"progressToken":7,"progress":0.50,"message":"half"}`,
	} {
		token := mcp.ProgressToken{}
		if _, ok, err := relayed(noBack{}, mcp.NoteProgress, params, token, revision.Of(r)); ok || err != nil {
			t.Errorf("%s: without a token: %t, %v", r, ok, err)
		}
		if err := wire.Unmarshal([]byte("7"), &token); err != nil {
			t.Fatal(err)
		}
		got, ok, err := relayed(noBack{}, mcp.NoteProgress, params, token, revision.Of(r))
		if !ok || err != nil || string(got) != want {
			t.Errorf("%s: %s, %t, %v; want %s", r, got, ok, err, want)
		}
	}
}
