package spec_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// tasker is a server whose tools can run as tasks. What waits goes on when release is
// closed.
type tasker struct {
	*server.Server
	release chan struct{}
}

func newTasker(o server.TaskOptions) *tasker {
	s := &tasker{server.New(mcp.Implementation{Name: "t", Version: "1"}, &server.Options{Logger: mcptest.Quiet(), Logging: true, Tasks: o}), make(chan struct{})}
	add := func(name string, support mcp.TaskSupport, f func(ctx context.Context, call *server.Call) (string, error)) {
		server.AddTool(s.Server, mcp.Tool{Name: name, Execution: &mcp.ToolExecution{TaskSupport: support}},
			func(ctx context.Context, call *server.Call, _ struct{}) (string, error) { return f(ctx, call) })
	}
	says := func(text string, err error) func(context.Context, *server.Call) (string, error) {
		return func(context.Context, *server.Call) (string, error) { return text, err }
	}
	add("quick", mcp.TaskOptional, says("done", nil))
	add("plain", mcp.TaskForbidden, says("done", nil))
	add("must", mcp.TaskRequired, says("done", nil))
	add("fails", mcp.TaskOptional, says("", errors.New("no paper")))
	add("breaks", mcp.TaskOptional, says("", jsonrpc.Errorf(-7, "out of order")))
	add("slow", mcp.TaskOptional, func(ctx context.Context, call *server.Call) (string, error) {
		call.Progress(ctx, 1, 2, "half")
		call.Log(ctx, mcp.LevelError, "halfway")
		select {
		case <-s.release:
			return "done", nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	})
	add("asks", mcp.TaskOptional, func(ctx context.Context, call *server.Call) (string, error) {
		where, err := server.Elicit[city](ctx, call, "where", "Where?")
		return where.City, err
	})
	return s
}

// stop ends the server's runs.
func (s *tasker) stop(t *testing.T) {
	t.Helper()
	if err := s.Close(context.Background()); err != nil { // a bubble may have ended the test's
		t.Error(err)
	}
}

// session opens a session over lines, whose client can fill in forms.
func (w *wire) session(revision string) message {
	w.t.Helper()
	a, _ := w.exchange(`"init"`, `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"`+revision+`","clientInfo":{"name":"c","version":"1"},"capabilities":{"elicitation":{}}}}`)
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return a
}

// ask sends a request of a session, and returns its answer.
func (w *wire) ask(id, method, members string) message {
	w.t.Helper()
	a, _ := w.exchange(id, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`, id, method, members))
	return a
}

// begin calls a tool as a task, in a session.
func (w *wire) begin(id, name string) taskOnWire {
	w.t.Helper()
	a := w.ask(id, mcp.MethodCallTool, fmt.Sprintf(`"name":%q,"arguments":{},"task":{}`, name))
	made := decodeInto[struct{ Task *taskOnWire }](w.t, a.Result).Task
	if made == nil || strings.Contains(a.raw, `"content"`) {
		w.t.Fatalf("the call of %s was answered by %s", name, a.raw)
	}
	return *made
}

// state asks for the state of a task, in a session.
func (w *wire) state(id string) taskOnWire {
	w.t.Helper()
	a := w.ask(`"state"`, mcp.MethodGetTask, `"taskId":"`+id+`"`)
	if strings.Contains(a.raw, "related-task") {
		w.t.Errorf("the state is %s", a.raw)
	}
	return decodeInto[taskOnWire](w.t, a.Result)
}

// quiet fails the test if the server has sent anything else.
func (w *wire) quiet() {
	w.t.Helper()
	synctest.Wait()
	select {
	case m := <-w.frames:
		w.t.Errorf("the server sent %s", m.raw)
	default:
	}
}

// code returns the code of the error of an answer, or 0.
func (m message) code() int64 {
	if m.Error == nil {
		return 0
	}
	return m.Error.Code
}

// text returns the text of a tool's result.
func textOf(t *testing.T, result json.RawMessage) string {
	t.Helper()
	r := decodeInto[struct {
		Content []struct{ Text string }
	}](t, result)
	if len(r.Content) != 1 {
		t.Fatalf("the result is %s", result)
	}
	return r.Content[0].Text
}
