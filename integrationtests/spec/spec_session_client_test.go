package spec_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// sessEverything is everything that a server may declare.
const sessEverything = `{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true},"completions":{},"logging":{}}`

// sessAnswer returns a function for sessOpens that answers each request with
// the entry of byMethod: members of a response, from "result" or "error" on.
func sessAnswer(byMethod map[string]string) func(*jsonrpc.Message, func(string)) {
	return func(m *jsonrpc.Message, say func(string)) {
		if body, ok := byMethod[m.Method]; ok && m.Kind == jsonrpc.Request {
			say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, body))
		}
	}
}

const sessEcho = `"result":{"content":[{"type":"text","text":"echo"}]}`

// Spec: 2025-11-25 basic/lifecycle#initialization.
//
// A client begins with initialize, in its newest revision, with its
// capabilities and its name; it sends notifications/initialized once that was
// answered, and nothing else before.
func TestSessionClientOpens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		open := sessOpens("2025-06-18", sessEverything, sessAnswer(map[string]string{"logging/setLevel": `"result":{}`}))
		f := &sessFake{on: func(m *jsonrpc.Message, frame string, say func(string)) {
			if m.Method == mcp.MethodInitialize {
				<-answer
			}
			open(m, frame, say)
		}}
		connected := make(chan error, 1)
		go func() {
			c, err := sessConnect(t, f, answering())
			if err == nil {
				err = c.Close()
			}
			connected <- err
		}()
		sessWant(t, "before the answer", f.took(), `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}},"clientInfo":{"name":"golden","title":"Golden","version":"1","description":"d","icons":[{"src":"https://example.com/i.png"}],"websiteUrl":"https://example.com"}}}`)
		close(answer)
		sessWant(t, "after it", f.took(), sessReady, `~"method":"logging/setLevel"`)
		if err := <-connected; err != nil {
			t.Error(err)
		}
		f.running.Wait()
	})
}

// Spec: 2025-11-25 basic/lifecycle#version-negotiation.
//
// A client accepts any revision of its own that the server answers with, and
// otherwise disconnects without sending notifications/initialized.
func TestSessionClientVersionNegotiation(t *testing.T) {
	for _, r := range sessRevisions {
		f := &sessFake{on: sessOpens(r.String(), `{}`, nil)}
		sessClient(t, f, nil, func(t *testing.T, c *client.Client) {
			if c.Revision() != r {
				t.Errorf("revision = %s, want %s", c.Revision(), r)
			}
		})
	}
	for _, bad := range []string{"2026-07-28", "2023-01-01", "", "1.0", "2025-11-25 "} {
		synctest.Test(t, func(t *testing.T) {
			f := &sessFake{on: sessOpens(bad, `{}`, nil)}
			_, err := sessConnect(t, f, nil)
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("revision %q", bad)) {
				t.Errorf("%q: error = %v", bad, err)
			}
			f.running.Wait() // ends with the connection
			sessWant(t, bad, f.took(), `~"method":"initialize"`)
		})
	}
	synctest.Test(t, func(t *testing.T) {
		f := &sessFake{on: sessOpens("2024-11-05", `{}`, nil)}
		if _, err := sessConnect(t, f, &client.Options{Revisions: sessRevisions[2:]}); err == nil {
			t.Error("a client of the later revisions accepted 2024-11-05")
		}
		f.running.Wait()
	})
}

// Spec: 2025-11-25 basic/lifecycle#error-handling.
//
// If initialize is refused with an error that names the server's revisions, the
// client tries once more with one of them, and if it names none, with the next older
// one. The second refusal is the end of it.
func TestSessionClientWhoseInitializeIsRefused(t *testing.T) {
	tests := []struct {
		data   string
		second string // the revision of the second attempt, "" for none
	}{
		{`{"supported":["2024-11-05","2025-03-26"],"requested":"2025-11-25"}`, "2025-03-26"},
		{`{"supported":["2024-11-05","1.0"]}`, "2024-11-05"},
		{`{"supported":["2025-11-25"]}`, ""},
		{`{"supported":["2026-07-28","2023-01-01"]}`, ""},
		{`{"supported":[]}`, "2025-06-18"},
		{`{"supported":"2024-11-05"}`, "2025-06-18"},
		{`"2024-11-05"`, "2025-06-18"},
		{`null`, "2025-06-18"},
	}
	for _, tt := range tests {
		for _, again := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				var asked []string
				f := &sessFake{}
				f.on = func(m *jsonrpc.Message, frame string, say func(string)) {
					var p mcp.InitializeParams
					if m.Method != mcp.MethodInitialize || json.Unmarshal(m.Params, &p) != nil {
						return
					}
					asked = append(asked, p.ProtocolVersion)
					if len(asked) == 1 || again {
						say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"Unsupported protocol version","data":%s}}`, m.ID, tt.data))
						return
					}
					sessOpens(p.ProtocolVersion, `{}`, nil)(m, frame, say)
				}
				c, err := sessConnect(t, f, nil)
				ok := tt.second != "" && !again
				if ok != (err == nil) || err != nil && sessCode(err) != -32602 {
					t.Errorf("%s: error = %v, want success %v", tt.data, err, ok)
				}
				if err == nil {
					if c.Revision().String() != tt.second {
						t.Errorf("%s: revision %s, want %s", tt.data, c.Revision(), tt.second)
					}
					if err := c.Close(); err != nil {
						t.Error(err)
					}
				}
				f.running.Wait()
				if want := strings.TrimSpace("2025-11-25 " + tt.second); strings.Join(asked, " ") != want {
					t.Errorf("%s: asked for %q, want %s", tt.data, asked, want)
				}
			})
		}
	}
}

// Spec: 2025-11-25 basic/utilities/cancellation#behavior-requirements.
//
// A client that gives up on initialize does not cancel it.
func TestSessionClientDoesNotCancelInitialize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &sessFake{on: func(*jsonrpc.Message, string, func(string)) {}}
		start := time.Now()
		_, err := sessConnect(t, f, &client.Options{Timeout: 30 * time.Second})
		if !errors.Is(err, client.ErrTimeout) || time.Since(start) != 30*time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		f.running.Wait()
		sessWant(t, "said", f.took(), `~"method":"initialize"`)
	})
}

// Spec: 2025-11-25 basic/lifecycle#timeouts.
//
// A call that times out, or is given up, is cancelled by its ID; a response
// that still arrives is ignored, and the next call gets its own.
func TestSessionClientCancels(t *testing.T) {
	var stuck string
	f := &sessFake{}
	f.on = sessOpens("2025-11-25", sessEverything, func(m *jsonrpc.Message, say func(string)) {
		switch {
		case m.Method == mcp.NoteCancelled:
			say(`{"jsonrpc":"2.0","id":` + stuck + `,"result":{"content":[{"type":"text","text":"too late"}]}}`)
		case m.Method == mcp.MethodCallTool && strings.Contains(string(m.Params), "stuck"):
			stuck = m.ID.String()
		default:
			sessAnswer(map[string]string{mcp.MethodCallTool: sessEcho})(m, say)
		}
	})
	sessClient(t, f, nil, func(t *testing.T, c *client.Client) {
		f.took()
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			<-time.NewTimer(time.Second).C
			cancel(errSess)
		}()
		if _, err := c.CallTool(ctx, "stuck", nil); !errors.Is(err, errSess) {
			t.Errorf("given up: %v, want the cause", err)
		}
		sessWant(t, "given up", f.took(), `~"method":"tools/call"`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+stuck+`,"reason":"not today"}}`)
		if _, err := c.CallTool(t.Context(), "stuck", nil, client.WithTimeout(time.Second)); !errors.Is(err, client.ErrTimeout) {
			t.Errorf("timed out: %v, want ErrTimeout", err)
		}
		sessWant(t, "timed out", f.took(), `~"method":"tools/call"`, `~"method":"notifications/cancelled","params":{"requestId":`+stuck)
		got, err := client.Call[string](t.Context(), c, "t", nil)
		if got != "echo" || err != nil {
			t.Errorf("the next call got %q, %v", got, err)
		}
	})
}

// Spec: 2025-11-25 basic#messages.
//
// A client is not confused by lines that are not messages, responses without a
// request, repeated responses, and errors without an ID; a malformed response
// fails its call and no other.
func TestSessionClientOfANoisyServer(t *testing.T) {
	noise := []string{
		`Server started on port 3000`, `{"jsonrpc":"2.0"`, `null`, `[]`, `[1,{}]`, `{}`, "\x00\xff",
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`,
		`{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request"}}`,
		`{"jsonrpc":"2.0","id":999,"result":{}}`, `{"jsonrpc":"2.0","id":"1","result":{}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2024-11-05"}}`,
		`{"jsonrpc":"2.0","method":"notifications/unknown","params":{"a":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":77,"progress":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":null}}`,
		`{"jsonrpc":"2.0","method":"notifications/message","params":5}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"nobody's"}}`,
		`{"jsonrpc":"2.0","method":"notifications/resources/updated"}`,
	}
	f := &sessFake{}
	f.on = sessOpens("2025-11-25", sessEverything, func(m *jsonrpc.Message, say func(string)) {
		if m.Method != mcp.MethodCallTool {
			return
		}
		for _, n := range noise {
			say(n)
		}
		body := sessEcho
		if strings.Contains(string(m.Params), "malformed") {
			body += `,"error":{"code":1,"message":"both"}`
		}
		for range 2 {
			say(`{"jsonrpc":"2.0","id":` + m.ID.String() + `,` + body + `}`)
		}
	})
	sessClient(t, f, nil, func(t *testing.T, c *client.Client) {
		for range 3 {
			if got, err := client.Call[string](t.Context(), c, "t", nil); got != "echo" || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
			if _, err := c.CallTool(t.Context(), "malformed", nil); err == nil || !strings.Contains(err.Error(), "malformed") {
				t.Errorf("a malformed answer gave %v", err)
			}
		}
		if c.Revision() != mcp.Revision20251125 {
			t.Errorf("a second answer to initialize made the revision %s", c.Revision())
		}
	})
}

// Spec: 2025-11-25 basic#requests.
//
// A malformed request of the server is answered with an error, and not mistaken
// for the response to the client's request of the same ID.
func TestSessionClientKeepsIDsOfTheTwoSidesApart(t *testing.T) {
	f := &sessFake{}
	f.on = sessOpens("2025-11-25", sessEverything, func(m *jsonrpc.Message, say func(string)) {
		if m.Method == mcp.MethodCallTool {
			say(`{"jsonrpc":"2.0","id":` + m.ID.String() + `,"method":"roots/list","params":[]}`)
			say(`{"jsonrpc":"2.0","id":` + m.ID.String() + `,"method":"ping"}`)
			say(`{"jsonrpc":"2.0","id":` + m.ID.String() + `,` + sessEcho + `}`)
		}
	})
	sessClient(t, f, nil, func(t *testing.T, c *client.Client) {
		f.took()
		if got, err := client.Call[string](t.Context(), c, "t", nil); got != "echo" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		said := strings.Join(f.took(), "\n")
		if !strings.Contains(said, `"error":{"code":-326`) {
			t.Errorf("the malformed request was not refused:\n%s", said)
		}
	})
}

// Spec: 2025-11-25 basic/lifecycle#initialization.
//
// A server that has not answered initialize may ping; its other requests are
// refused.
func TestSessionClientAskedTooEarly(t *testing.T) {
	f := &sessFake{}
	f.on = func(m *jsonrpc.Message, frame string, say func(string)) {
		switch {
		case m.Method == mcp.MethodInitialize:
			say(sessRequest(`"p"`, "ping", "{}"))
			say(sessRequest(`"r"`, "roots/list", "{}"))
		case m.Kind == jsonrpc.Response && m.ID == jsonrpc.StringID("r"):
			sessOpens("2025-11-25", `{}`, nil)(&jsonrpc.Message{Method: mcp.MethodInitialize, ID: jsonrpc.IntID(1)}, frame, say)
		}
	}
	sessClient(t, f, answering(), func(t *testing.T, _ *client.Client) {
		said := strings.Join(f.took(), "\n")
		for _, want := range []string{`{"jsonrpc":"2.0","id":"p","result":{}}`, `{"jsonrpc":"2.0","id":"r","error":{"code":-32600`} {
			if !strings.Contains(said, want) {
				t.Errorf("no %s in\n%s", want, said)
			}
		}
	})
}

// Spec: 2025-11-25 basic/utilities/ping#behavior-requirements.
//
// A client that is still probing which revisions its server speaks answers
// pings.
func TestSessionClientAnswersPingsWhileItProbes(t *testing.T) {
	f := &sessFake{}
	f.on = func(m *jsonrpc.Message, frame string, say func(string)) {
		switch {
		case m.Method == mcp.MethodDiscover:
			say(sessRequest(`"p"`, "ping", "{}"))
		case m.Kind == jsonrpc.Response:
			say(`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Server not initialized"}}`)
		default:
			sessOpens("2025-03-26", `{}`, nil)(m, frame, say)
		}
	}
	sessClient(t, f, &client.Options{Revisions: mcp.Revisions(), ProbeTimeout: time.Hour, Timeout: -1}, func(t *testing.T, c *client.Client) {
		if c.Revision() != mcp.Revision20250326 {
			t.Errorf("revision = %s", c.Revision())
		}
		sessWant(t, "said", f.took(), `~"method":"server/discover"`, `{"jsonrpc":"2.0","id":"p","result":{}}`, `~"method":"initialize"`, sessReady)
	})
}

// Spec: 2026-07-28 basic/versioning#compatibility-matrix.
//
// A server without sessions that was too slow for the probe says so when the
// client tries to open a session, and is then used without one.
func TestSessionClientGivesUpSessionsWithASlowServer(t *testing.T) {
	const modern = `{"supportedVersions":["2026-07-28"],"capabilities":{},"resultType":"complete","ttlMs":0,"cacheScope":"private"}`
	probes := 0
	f := &sessFake{on: func(m *jsonrpc.Message, _ string, say func(string)) {
		switch m.Method {
		case mcp.MethodDiscover:
			if probes++; probes > 1 {
				say(`{"jsonrpc":"2.0","id":` + m.ID.String() + `,"result":` + modern + `}`)
			}
		case mcp.MethodInitialize:
			say(`{"jsonrpc":"2.0","id":` + m.ID.String() + `,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"],"requested":"2025-11-25"}}}`)
		}
	}}
	sessClient(t, f, &client.Options{Revisions: mcp.Revisions()}, func(t *testing.T, c *client.Client) {
		if c.Revision() != mcp.Revision20260728 {
			t.Errorf("revision = %s", c.Revision())
		}
	})
}

// Spec: 2025-11-25 basic/utilities/cancellation#behavior-requirements.
//
// A client that gives up a call and closes at once still sends the
// cancellation.
func TestSessionClientCancelsBeforeItCloses(t *testing.T) {
	f := &sessFake{on: sessOpens("2025-06-18", `{"tools":{}}`, nil)}
	sessClient(t, f, nil, func(t *testing.T, c *client.Client) {
		f.took()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { // ends with ctx
			_, err := c.CallTool(ctx, "slow", nil)
			ended <- err
		}()
		sessWant(t, "asked", f.took(), `~"method":"tools/call"`)
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v", err)
		}
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		sessWant(t, "said", f.took(), `~"method":"notifications/cancelled"`)
	})
}

// Spec: 2025-11-25 client/roots#error-handling.
//
// What a client has not declared, what its revision lacks, and what does not
// exist is refused: with -32601, or with -32602 for a mode of elicitation.
func TestSessionClientRefusesWhatItHasNotDeclared(t *testing.T) {
	form := `{"message":"m","requestedSchema":{"type":"object","properties":{}}}`
	visit := `{"mode":"url","message":"m","url":"https://example.com","elicitationId":"e"}`
	sample := `{"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"maxTokens":5}`
	tools := `{"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"maxTokens":5,"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`
	tests := []struct {
		revision       mcp.Revision
		all            bool // the client declares everything
		method, params string
		code           int
	}{
		{mcp.Revision20251125, true, "nope", `{}`, -32601},
		{mcp.Revision20251125, true, "tools/list", `{}`, -32601},
		{mcp.Revision20251125, true, "initialize", `{}`, -32601},
		{mcp.Revision20251125, false, "roots/list", `{}`, -32601},
		{mcp.Revision20251125, false, "sampling/createMessage", sample, -32601},
		{mcp.Revision20251125, false, "elicitation/create", form, -32602},
		{mcp.Revision20251125, false, "elicitation/create", visit, -32602},
		{mcp.Revision20251125, true, "elicitation/create", `{"mode":"later","message":"m"}`, -32602},
		{mcp.Revision20251125, true, "elicitation/create", `{"message":5}`, -32602},
		{mcp.Revision20250618, true, "elicitation/create", visit, -32602},
		{mcp.Revision20250618, true, "sampling/createMessage", tools, -32602},
	}
	// An empty list of tools needs the capability as well.
	for _, params := range []string{tools, strings.TrimSuffix(sample, "}") + `,"tools":[]}`, strings.TrimSuffix(sample, "}") + `,"toolChoice":{"mode":"auto"}}`} {
		o := answering()
		o.SampleTools = false
		f := &sessFake{on: sessOpens("2025-11-25", `{}`, nil)}
		sessClient(t, f, o, func(t *testing.T, _ *client.Client) {
			f.took()
			sessWant(t, params, f.tell(sessRequest("7", "sampling/createMessage", params)), `~{"jsonrpc":"2.0","id":7,"error":{"code":-32602,`)
		})
	}
	for _, tt := range tests {
		o := &client.Options{}
		if tt.all {
			o = answering()
		}
		f := &sessFake{on: sessOpens(tt.revision.String(), `{}`, nil)}
		sessClient(t, f, o, func(t *testing.T, _ *client.Client) {
			f.took()
			what := fmt.Sprint(tt.revision, " ", tt.method, " ", tt.params)
			sessWant(t, what, f.tell(sessRequest("7", tt.method, tt.params)), fmt.Sprintf(`~{"jsonrpc":"2.0","id":7,"error":{"code":%d,`, tt.code))
		})
	}
}

// Spec: 2025-11-25 basic/lifecycle#capability-negotiation.
//
// A server that agrees on a revision without elicitation should not ask. A client
// that has told it that it can be asked answers all the same; one that speaks only
// such a revision has told nothing, and refuses.
func TestSessionClientElicitationInOldRevisions(t *testing.T) {
	form := `{"message":"m","requestedSchema":{"type":"object","properties":{}}}`
	for _, revision := range []mcp.Revision{mcp.Revision20241105, mcp.Revision20250326} {
		for want, speaks := range map[string][]mcp.Revision{
			`~{"jsonrpc":"2.0","id":7,"result":{"action":"accept",`: nil,
			`~{"jsonrpc":"2.0","id":7,"error":{"code":-32601,`:      {revision},
		} {
			o := answering()
			o.Revisions = speaks
			f := &sessFake{on: sessOpens(revision.String(), `{}`, nil)}
			sessClient(t, f, o, func(t *testing.T, _ *client.Client) {
				f.took()
				sessWant(t, fmt.Sprint(revision, " of ", speaks), f.tell(sessRequest("7", "elicitation/create", form)), want)
			})
		}
	}
}

// Spec: 2025-11-25 client/sampling#error-handling.
//
// A client answers with what its functions return, or the error that they
// return; an answer that does not fit the question is not sent.
func TestSessionClientAnswers(t *testing.T) {
	use := `{"role":"assistant","content":{"type":"tool_use","id":"1","name":"t","input":{}}}`
	result := `{"type":"tool_result","toolUseId":"1","content":[]}`
	sample := func(messages string) string { return `{"messages":[` + messages + `],"maxTokens":5}` }
	hello := `{"role":"user","content":{"type":"text","text":"hello"}}`
	form := `{"message":"m","requestedSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}`
	tests := []struct {
		method, params string
		opts           client.Options
		want           string
	}{
		{"roots/list", `{}`, client.Options{Roots: []*mcp.Root{}}, `"result":{"roots":[]}}`},
		{"roots/list", `{"_meta":{"a":1}}`, client.Options{Roots: []*mcp.Root{{URI: "file:///a", Name: "A"}}}, `"result":{"roots":[{"uri":"file:///a","name":"A"}]}}`},
		{"ping", `{}`, client.Options{}, `"result":{}}`},
		{"sampling/createMessage", sample(hello), sessSays(&mcp.CreateMessageResult{Model: "m", Content: mcp.OneOrMany{mcp.Text("hi")}}, nil), `"result":{"role":"assistant","content":{"type":"text","text":"hi"},"model":"m","stopReason":"endTurn"}}`},
		{"sampling/createMessage", sample(hello), sessSays(nil, jsonrpc.Errorf(-1, "User rejected sampling request")), `"error":{"code":-1,"message":"User rejected sampling request"}}`},
		{"sampling/createMessage", sample(hello), sessSays(nil, errSess), `"error":{"code":-32603,`},
		{"sampling/createMessage", sample(hello), sessSays(nil, nil), `"error":{"code":-32603,`},
		{"sampling/createMessage", sample(hello), sessSays(&mcp.CreateMessageResult{Model: "m"}, nil), `"error":{"code":-32603,`},
		{"sampling/createMessage", sample(use), sessSays(nil, errSess), `"error":{"code":-32602,`},
		{"sampling/createMessage", sample(use + `,` + hello), sessSays(nil, errSess), `"error":{"code":-32602,`},
		{"sampling/createMessage", sample(use + `,{"role":"user","content":[` + result + `,{"type":"text","text":"x"}]}`), sessSays(nil, errSess), `"error":{"code":-32602,`},
		{"sampling/createMessage", sample(`{"role":"user","content":` + result + `}`), sessSays(nil, errSess), `"error":{"code":-32602,`},
		{"sampling/createMessage", sample(`null`), sessSays(nil, errSess), `"error":{"code":-32602,`},
		{"sampling/createMessage", sample(use + `,{"role":"user","content":[` + result + `]}`), sessSays(nil, jsonrpc.Errorf(-1, "fits")), `"error":{"code":-1,"message":"fits"}`},
		{"elicitation/create", form, sessFills(mcp.ActionAccept, `{"n":3}`), `"result":{"action":"accept","content":{"n":3}}}`},
		{"elicitation/create", `{"mode":"form",` + form[1:], sessFills(mcp.ActionAccept, `{"n":3}`), `"result":{"action":"accept","content":{"n":3}}}`},
		{"elicitation/create", form, sessFills(mcp.ActionDecline, `{"n":3}`), `"result":{"action":"decline"}}`},
		{"elicitation/create", form, sessFills(mcp.ActionCancel, ``), `"result":{"action":"cancel"}}`},
		{"elicitation/create", form, sessFills(mcp.ActionAccept, `{"n":"three"}`), `"error":{"code":-32603,`},
		{"elicitation/create", form, sessFills("maybe", ``), `"error":{"code":-32603,`},
	}
	for _, tt := range tests {
		f := &sessFake{on: sessOpens("2025-11-25", `{}`, nil)}
		sessClient(t, f, &tt.opts, func(t *testing.T, _ *client.Client) {
			f.took()
			sessWant(t, tt.method+" "+tt.params, f.tell(sessRequest(`"q"`, tt.method, tt.params)), `~{"jsonrpc":"2.0","id":"q",`+tt.want)
		})
	}
}

func sessSays(r *mcp.CreateMessageResult, err error) client.Options {
	return client.Options{SampleTools: true, Sample: func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) { return r, err }}
}

func sessFills(action, content string) client.Options {
	return client.Options{Elicit: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: action, Content: json.RawMessage(content)}, nil
	}}
}

// sessThinks is a client whose model thinks until its context ends.
func sessThinks(ended chan<- error) *client.Options {
	return &client.Options{Sample: func(ctx context.Context, _ *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	}}
}

const sessAsk = `{"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"maxTokens":5}`

// Spec: 2025-11-25 basic/utilities/cancellation#behavior-requirements.
//
// A question that the server cancels ends without an answer, except for -32800
// if it was cancelled with $/cancelRequest; its ID may be used again.
func TestSessionClientWhoseQuestionIsCancelled(t *testing.T) {
	ended := make(chan error, 4)
	f := &sessFake{on: sessOpens("2025-11-25", `{}`, nil)}
	sessClient(t, f, sessThinks(ended), func(t *testing.T, _ *client.Client) {
		f.took()
		for _, frame := range []string{sessRequest("7", "sampling/createMessage", sessAsk), sessCancel("8"), sessCancel(`"7"`), `{"jsonrpc":"2.0","method":"notifications/cancelled"}`} {
			sessWant(t, frame, f.tell(frame))
		}
		sessWant(t, "cancelled", f.tell(sessCancel("7"), sessCancel("7")))
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the model's context: %v", err)
		}
		sessWant(t, "the older way", f.tell(sessRequest("7", "sampling/createMessage", sessAsk), `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":7}}`), `{"jsonrpc":"2.0","id":7,"error":{"code":-32800,"message":"Request cancelled"}}`)
		<-ended
	})
}

// Spec: 2025-03-26 basic#batching.
//
// A client accepts batches of notifications, responses to its calls, and
// requests. The requests are answered with one array, in which cancelled ones
// and invalid messages are missing.
func TestSessionClientTakesBatches(t *testing.T) {
	ended := make(chan error, 4)
	f := &sessFake{}
	f.on = sessOpens("2025-03-26", sessEverything, func(m *jsonrpc.Message, say func(string)) {
		if m != nil && m.Method == mcp.MethodCallTool {
			say(sessBatch(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`, `{"jsonrpc":"2.0","id":`+m.ID.String()+`,`+sessEcho+`}`))
		}
	})
	sessClient(t, f, sessThinks(ended), func(t *testing.T, c *client.Client) {
		told := 0
		got, err := client.Call[string](t.Context(), c, "t", nil, client.WithProgress(func(*mcp.ProgressParams) { told++ }))
		if got != "echo" || err != nil || told != 1 {
			t.Errorf("got %q, %v and %d notifications", got, err, told)
		}
		f.took()
		batch := sessBatch(sessRequest("1", "ping", "{}"), `5`, sessRequest("2", "sampling/createMessage", sessAsk), sessRequest("3", "nope", "{}"))
		sessWant(t, "waits for the last answer", f.tell(batch))
		parts := sessParts(t, "batch", f.tell(sessCancel("2")))
		if fmt.Sprint(parts) != "map[1:{} 3:-32601]" {
			t.Errorf("answers: %v", parts)
		}
		<-ended
		sessWant(t, "notifications only", f.tell(sessBatch(`{"jsonrpc":"2.0","method":"notifications/x"}`)))
	})
}

// Spec: 2025-11-25 basic/utilities/ping#behavior-requirements.
//
// Pings are answered while a call waits, and while the user is asked.
func TestSessionClientAnswersPingsDuringACall(t *testing.T) {
	ended := make(chan error, 1)
	f := &sessFake{on: sessOpens("2025-11-25", sessEverything, nil)}
	sessClient(t, f, sessThinks(ended), func(t *testing.T, c *client.Client) {
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		go func() {
			_, err := c.CallTool(ctx, "t", nil)
			failed <- err
		}()
		f.took()
		f.tell(sessRequest("1", "sampling/createMessage", sessAsk))
		for _, id := range []string{`2`, `"x"`} {
			sessWant(t, "ping", f.tell(sessRequest(id, "ping", "{}")), `{"jsonrpc":"2.0","id":`+id+`,"result":{}}`)
		}
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("call: %v", err)
		}
	})
	<-ended
}

// Spec: 2025-11-25 basic/lifecycle#operation.
//
// A request for what a server has not declared is not sent, but refused here;
// before 2025-03-26 completion could not be declared.
func TestSessionClientRespectsServerCapabilities(t *testing.T) {
	for _, r := range sessRevisions {
		f := &sessFake{}
		f.on = sessOpens(r.String(), `{}`, sessAnswer(map[string]string{"completion/complete": `"result":{"completion":{"values":["x"]}}`}))
		sessClient(t, f, &client.Options{LogLevel: mcp.LevelDebug, Log: func(context.Context, *mcp.LogParams) {}}, func(t *testing.T, c *client.Client) {
			ctx := t.Context()
			f.took()
			for method, call := range map[string]func() error{
				"tools/list":          func() error { _, err := client.Collect(c.Tools(ctx)); return err },
				"tools/call":          func() error { _, err := c.CallTool(ctx, "t", nil); return err },
				"resources/list":      func() error { _, err := client.Collect(c.Resources(ctx)); return err },
				"resources/read":      func() error { _, err := c.ReadResource(ctx, "a:b"); return err },
				"prompts/get":         func() error { _, err := c.GetPrompt(ctx, "p", nil); return err },
				"logging/setLevel":    func() error { return c.SetLogLevel(ctx, mcp.LevelInfo) },
				"resources/subscribe": func() error { _, err := c.Do(ctx, "resources/subscribe", mcp.SubscribeParams{URI: "a:b"}); return err },
			} {
				var undeclared *client.NotDeclaredError
				if err := call(); !errors.As(err, &undeclared) || undeclared.Method != method {
					t.Errorf("%s %s: %v, want a NotDeclaredError", r, method, err)
				}
			}
			_, err := c.CompletePrompt(ctx, "p", "x", "", nil)
			said := f.took()
			if undeclarable := r == mcp.Revision20241105; undeclarable != (err == nil) || undeclarable != (len(said) == 1) {
				t.Errorf("%s: completion: %v; said %q", r, err, said)
			}
		})
	}
}

// Spec: 2025-11-25 server/resources#error-handling.
//
// "Not found" is ErrNotFound with the specification's code and with those of
// older servers; other errors with these codes are not.
func TestSessionClientReadsOlderNotFoundCodes(t *testing.T) {
	for code, want := range map[int64]bool{-32001: true, -32002: true, -32003: true, -32004: false, -32000: false, -32602: false, -32603: false} {
		f := &sessFake{}
		failed := fmt.Sprintf(`"error":{"code":%d,"message":"Tool not found: x"}`, code)
		f.on = sessOpens("2025-03-26", sessEverything, sessAnswer(map[string]string{"tools/call": failed, "resources/read": failed, "prompts/get": failed, "tools/list": failed}))
		sessClient(t, f, nil, func(t *testing.T, c *client.Client) {
			_, tool := c.CallTool(t.Context(), "x", nil)
			_, resource := c.ReadResource(t.Context(), "x:y")
			_, prompt := c.GetPrompt(t.Context(), "x", nil)
			for what, err := range map[string]error{"tool": tool, "resource": resource, "prompt": prompt} {
				if errors.Is(err, client.ErrNotFound) != want || sessCode(err) != code {
					t.Errorf("%s %d: %v, want not found %v", what, code, err, want)
				}
			}
			if _, err := client.Collect(c.Tools(t.Context())); errors.Is(err, client.ErrNotFound) {
				t.Errorf("a list cannot be missing, but %d made it so", code)
			}
		})
	}
	f := &sessFake{}
	f.on = sessOpens("2025-03-26", sessEverything, sessAnswer(map[string]string{"resources/read": `"error":{"code":-32602,"message":"no","data":{"uri":"x:y"}}`}))
	sessClient(t, f, nil, func(t *testing.T, c *client.Client) {
		if _, err := c.ReadResource(t.Context(), "x:y"); !errors.Is(err, client.ErrNotFound) {
			t.Errorf("-32602 that names the resource: %v", err)
		}
	})
}

// Spec: 2025-11-25 server/utilities/pagination#operations-supporting-pagination.
//
// Servers of sessions end a list with an empty cursor as well as with none. A page
// that is passed on as it came does not have that cursor, which a client without a
// session would use.
func TestSessionClientTakesAnEmptyCursorForTheEnd(t *testing.T) {
	for method, member := range map[string]string{mcp.MethodListTools: "tools", mcp.MethodListPrompts: "prompts", mcp.MethodListResources: "resources", mcp.MethodListTemplates: "resourceTemplates"} {
		f := &sessFake{}
		f.on = sessOpens("2025-11-25", sessEverything, sessAnswer(map[string]string{method: `"result":{"` + member + `":[],"nextCursor":"","x":1.0}`}))
		sessClient(t, f, &client.Options{MaxListPages: 1}, func(t *testing.T, c *client.Client) {
			raw, err := c.Do(t.Context(), method, nil)
			if want := `{"` + member + `":[],"x":1.0}`; string(raw) != want || err != nil {
				t.Errorf("%s: %s, %v; want %s", method, raw, err, want)
			}
			if _, err := client.Collect(c.Tools(t.Context())); method == mcp.MethodListTools && err != nil {
				t.Errorf("the list goes on: %v", err)
			}
		})
	}
}

// Spec: 2025-11-25 client/elicitation#url-elicitation-required-error.
//
// A client that can open URLs opens those of the error, waits until each is
// announced as done, and sends the call again, once. It ignores notifications
// for others, and passes on an error that it cannot satisfy.
func TestSessionClientVisitsWhatIsRequired(t *testing.T) {
	elicitation := func(mode, id string) string {
		return fmt.Sprintf(`{"mode":%q,"elicitationId":%q,"url":"https://example.com/%s","message":"m"}`, mode, id, id)
	}
	tests := []struct {
		name         string
		elicitations string
		action       string
		calls        int
		ok           bool
	}{
		{"two visits", elicitation("url", "a") + "," + elicitation("url", "b"), mcp.ActionAccept, 2, true},
		{"declined", elicitation("url", "a"), mcp.ActionDecline, 1, false},
		{"cancelled", elicitation("url", "a"), mcp.ActionCancel, 1, false},
		{"no visits", "", mcp.ActionAccept, 1, false}, // there is nothing to wait for, so nothing to call again for
		{"a form", elicitation("form", "a"), mcp.ActionAccept, 1, false},
		{"no ID", elicitation("url", ""), mcp.ActionAccept, 1, false},
		{"null", "null", mcp.ActionAccept, 1, false},
		{"no client for it", elicitation("url", "a"), "", 1, false},
		{"again and again", elicitation("url", "again"), mcp.ActionAccept, 2, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			calls := 0
			f := &sessFake{}
			f.on = sessOpens("2025-11-25", sessEverything, func(m *jsonrpc.Message, say func(string)) {
				if m.Method != mcp.MethodCallTool {
					return
				}
				if calls++; calls > 1 && tt.ok {
					say(`{"jsonrpc":"2.0","id":` + m.ID.String() + `,` + sessEcho + `}`)
					return
				}
				say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32042,"message":"This request requires more information.","data":{"elicitations":[%s]}}}`, m.ID, tt.elicitations))
			})
			var visited []string
			o := &client.Options{Elicit: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) { return nil, errSess }}
			if tt.action != "" {
				o.VisitURL = func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
					visited = append(visited, p.ElicitationID)
					for _, id := range []string{"unknown", p.ElicitationID, p.ElicitationID} {
						f.say(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"` + id + `"}}`)
					}
					return &mcp.ElicitResult{Action: tt.action}, nil
				}
			}
			sessClient(t, f, o, func(t *testing.T, c *client.Client) {
				got, err := client.Call[string](t.Context(), c, "t", nil)
				if tt.ok && (got != "echo" || err != nil) || !tt.ok && sessCode(err) != mcp.CodeURLElicitation {
					t.Errorf("got %q, %v after %v", got, err, visited)
				}
				if calls != tt.calls {
					t.Errorf("called %d times, want %d", calls, tt.calls)
				}
			})
		})
	}
}

// Spec: 2025-11-25 client/elicitation#completion-notifications-for-url-mode-elicitation.
//
// If a visit is never announced as done, the caller can give up.
func TestSessionClientGivesUpOnAVisit(t *testing.T) {
	f := &sessFake{}
	f.on = sessOpens("2025-11-25", sessEverything, sessAnswer(map[string]string{"tools/call": `"error":{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url","elicitationId":"e","url":"https://example.com","message":"m"}]}}`}))
	o := &client.Options{VisitURL: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: mcp.ActionAccept}, nil
	}}
	sessClient(t, f, o, func(t *testing.T, c *client.Client) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		if _, err := c.CallTool(ctx, "t", nil); err == nil || time.Since(start) != time.Minute {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

// Spec: 2025-11-25 basic/utilities/progress#behavior-requirements.
//
// Each call that wants progress has a token of its own; progress with another
// token is not reported, and none is after the call has returned.
func TestSessionClientProgress(t *testing.T) {
	f := &sessFake{}
	seen := map[string]bool{}
	f.on = sessOpens("2025-03-26", sessEverything, func(m *jsonrpc.Message, say func(string)) {
		if m.Method != mcp.MethodCallTool {
			return
		}
		var meta struct {
			ProgressToken json.RawMessage `json:"progressToken"`
		}
		if err := json.Unmarshal(m.Meta, &meta); err != nil || seen[string(meta.ProgressToken)] {
			t.Errorf("_meta %s: %v, or a token that was used before", m.Meta, err)
		}
		seen[string(meta.ProgressToken)] = true
		progress := func(token string) {
			say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token + `,"progress":1,"total":2,"message":"half"}}`)
		}
		progress(`"other"`)
		progress(string(meta.ProgressToken))
		say(`{"jsonrpc":"2.0","id":` + m.ID.String() + `,` + sessEcho + `}`)
		progress(string(meta.ProgressToken))
	})
	sessClient(t, f, nil, func(t *testing.T, c *client.Client) {
		for range 3 {
			told, returned := 0, false
			_, err := c.CallTool(t.Context(), "t", nil, client.WithProgress(func(p *mcp.ProgressParams) {
				if told++; returned || p.Progress != 1 || p.Total != 2 || p.Message != "half" {
					t.Errorf("got %+v, after the call: %v", p, returned)
				}
			}))
			returned = true
			if err != nil || told == 0 {
				t.Errorf("got %d reports, %v", told, err)
			}
			synctest.Wait()
		}
	})
}

// Spec: 2025-11-25 server/resources#subscriptions.
//
// A subscription that the server refused is requested again; an accepted one is
// requested once, and ended when nothing wants it any more.
func TestSessionClientSubscribes(t *testing.T) {
	refuse := true
	f := &sessFake{}
	f.on = sessOpens("2025-11-25", sessEverything, func(m *jsonrpc.Message, say func(string)) {
		body := `"result":{}`
		if refuse {
			body = `"error":{"code":-32002,"message":"Resource not found"}`
		}
		sessAnswer(map[string]string{"resources/subscribe": body, "resources/unsubscribe": body})(m, say)
	})
	sessClient(t, f, nil, func(t *testing.T, c *client.Client) {
		events := make(chan client.Event, 16)
		listen := func() (*client.Subscription, error) {
			return c.Listen(t.Context(), mcp.SubscriptionFilter{ResourceSubscriptions: []string{"x:y"}}, func(_ context.Context, e client.Event) { events <- e })
		}
		f.took()
		for range 2 {
			if _, err := listen(); sessCode(err) != -32002 {
				t.Errorf("refused: %v", err)
			}
		}
		sessWant(t, "refused twice", f.took(), `~"method":"resources/subscribe"`, `~"method":"resources/subscribe"`)
		refuse = false
		first, err := listen()
		if err != nil {
			t.Fatal(err)
		}
		second, err := listen()
		if err != nil {
			t.Fatal(err)
		}
		sessWant(t, "twice", f.took(), `~"method":"resources/subscribe","params":{"uri":"x:y"}`)
		for _, uri := range []string{"x:y", "x:z"} {
			f.tell(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":%q}}`, uri))
		}
		if len(events) != 2 {
			t.Errorf("got %d notifications, want x:y for both and nothing else", len(events))
		}
		check(t, "close", first.Close())
		sessWant(t, "one is left", f.took())
		check(t, "close", second.Close())
		sessWant(t, "none is left", f.took(), `~"method":"resources/unsubscribe","params":{"uri":"x:y"}`)
	})
}
