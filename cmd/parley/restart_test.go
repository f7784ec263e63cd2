package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A task of the reference server outlives the process that runs it, however that ends:
// it goes on with what it had, is asked once, and does nothing behind Once again.
func TestTaskSurvivesRestart(t *testing.T) {
	t.Parallel()
	for name, ending := range map[string]os.Signal{"killed": syscall.SIGKILL, "told to stop": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "tasks.db")
			s := startServer(t, file)
			id := s.callTask("annual_report", map[string]any{"pace_ms": 250})
			s.until(id, "it has begun", func(state taskState) bool { return strings.Contains(state.StatusMessage, "is done") })
			s.end(ending)
			begun := s.steps()

			s = startServer(t, file)
			waiting := s.until(id, "it asks", func(state taskState) bool { return state.Status == "input_required" })
			if len(waiting.InputRequests) != 1 {
				t.Fatalf("it asks %v, want one question", waiting.InputRequests)
			}
			s.end(ending)
			rest := s.steps()

			s = startServer(t, file)
			if again := s.get(id); again.Status != "input_required" || len(again.InputRequests) != 1 {
				t.Fatalf("after a restart it is %+v, want the question", again)
			}
			for key := range waiting.InputRequests {
				s.rpc("tasks/update", id, map[string]any{"taskId": id, "inputResponses": map[string]any{
					key: map[string]any{"action": "accept", "content": map[string]any{"format": "csv", "threshold_cents": 250000}},
				}}, nil)
			}
			done := s.until(id, "it has ended", func(state taskState) bool { return state.Status != "working" })
			document := s.document(done.report(t).Document)
			s.end(ending)
			checkSteps(t, begun, rest, s.steps())
			checkReport(t, done.report(t), document)
		})
	}
}

// checkSteps compares what three processes have done. The one that ended while a step
// was going on may have ended between the step and its entry in the journal.
func checkSteps(t *testing.T, begun, rest, last []string) {
	t.Helper()
	count := map[string]int{}
	for _, step := range append(append(append([]string{}, begun...), rest...), last...) {
		count[step]++
	}
	if count["begun"] != 1 {
		t.Errorf("the report was begun %d times, want once", count["begun"])
	}
	if len(begun) < 2 || len(begun) > 13 {
		t.Errorf("the first process did %q, want the first of the months", begun)
	}
	twice := 0
	for step, n := range count {
		twice += n - 1
		if n > 2 || n == 2 && step != begun[len(begun)-1] {
			t.Errorf("%q was done %d times", step, n)
		}
	}
	if len(count) != 1+16 || twice > 1 || len(last) != 4 {
		t.Errorf("the processes did %q, %q and %q; want 16 steps, the last four after the answer", begun, rest, last)
	}
}

// checkReport compares a report with one that was made in a single call.
func checkReport(t *testing.T, got reportOf, document string) {
	t.Helper()
	s := startServer(t, filepath.Join(t.TempDir(), "other.db"))
	defer s.end(syscall.SIGTERM)
	var plain taskState
	s.rpcAs(map[string]any{}, "tools/call", "annual_report", map[string]any{"name": "annual_report", "arguments": map[string]any{"format": "csv", "threshold_cents": 250000}}, &plain.Result)
	want := plain.report(t)
	if got.Number == want.Number || got.Number == "" {
		t.Errorf("reports %q and %q, want numbers of their own", got.Number, want.Number)
	}
	got.Number = want.Number
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the report is\n\t%v, want\n\t%v", got, want)
	}
	if want := s.document(want.Document); document != want || len(document) < 100 {
		t.Errorf("the document is\n%s\nwant\n%s", document, want)
	}
}

// taskState is the result of tasks/get, and reportOf that of the tool.
type taskState struct {
	TaskID        string                     `json:"taskId"`
	Status        string                     `json:"status"`
	StatusMessage string                     `json:"statusMessage"`
	InputRequests map[string]json.RawMessage `json:"inputRequests"`
	Error         json.RawMessage            `json:"error"`
	Result        struct {
		StructuredContent json.RawMessage `json:"structuredContent"`
		IsError           bool            `json:"isError"`
	} `json:"result"`
}

type reportOf struct {
	Number       string `json:"number"`
	Orders       int    `json:"orders"`
	RevenueCents int    `json:"revenue_cents"`
	Months       []any  `json:"months"`
	Products     []any  `json:"products"`
	Document     string `json:"document"`
}

func (s taskState) report(t *testing.T) (r reportOf) {
	t.Helper()
	if s.Result.StructuredContent == nil || s.Result.IsError {
		t.Fatalf("there is no report: %+v", s)
	}
	if err := json.Unmarshal(s.Result.StructuredContent, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// aServer is a process with the reference server.
type aServer struct {
	t    *testing.T
	cmd  *exec.Cmd
	url  string
	log  []string      // its lines; complete when read is closed
	read chan struct{} // closed when its standard error has ended
}

// startServer starts a process whose tasks are in a file. Leases are short, so that the
// tasks of one that was killed are soon gone on with.
func startServer(t *testing.T, file string) *aServer {
	t.Helper()
	return startProcess(t, "serve", "--http", "127.0.0.1:0", "--task-store", file, "--task-lease", "1s", "--log-level", "debug")
}

// startProcess starts a process that serves over HTTP.
func startProcess(t *testing.T, args ...string) *aServer {
	t.Helper()
	exe, err := exec.LookPath("parley")
	if err != nil {
		t.Fatal(err)
	}
	s := &aServer{t: t, read: make(chan struct{})}
	s.cmd = exec.CommandContext(t.Context(), exe, args...)
	home := t.TempDir()
	s.cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "PARLEY_KEYRING=off", "PARLEY_CREDENTIALS="+home+"/credentials", "XDG_STATE_HOME="+home)
	out, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	found := make(chan string, 1)
	go func() { // ends with the process
		defer close(s.read)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			s.log = append(s.log, lines.Text())
			if _, url, ok := strings.Cut(lines.Text(), "msg=serving url="); ok {
				select {
				case found <- url:
				default: // a gateway has one for each view, too; its own comes first
				}
			}
		}
	}()
	select {
	case s.url = <-found:
	case <-s.read:
		t.Fatalf("the server ended: %v\n%s", s.cmd.Wait(), strings.Join(s.log, "\n"))
	}
	return s
}

// end ends the process.
func (s *aServer) end(signal os.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		s.t.Fatal(err)
	}
	var failed *exec.ExitError
	if err := s.wait(); signal == syscall.SIGTERM && errors.As(err, &failed) {
		s.t.Errorf("told to stop, the server ended with %v:\n%s", err, strings.Join(s.log, "\n"))
	}
}

// wait waits until the process has ended.
func (s *aServer) wait() error {
	<-s.read
	return s.cmd.Wait()
}

// steps are what an ended process did of the report.
func (s *aServer) steps() (steps []string) {
	for _, line := range s.log {
		if strings.Contains(line, "annual report begun") {
			steps = append(steps, "begun")
		}
		if _, step, ok := strings.Cut(line, " step="); ok {
			steps = append(steps, step)
		}
	}
	return steps
}

// callTask calls a tool as a client that can take a task.
func (s *aServer) callTask(tool string, args map[string]any) (id string) {
	s.t.Helper()
	var created taskState
	s.rpc("tools/call", tool, map[string]any{"name": tool, "arguments": args}, &created)
	if created.TaskID == "" {
		s.t.Fatalf("the call became no task: %+v", created)
	}
	return created.TaskID
}

func (s *aServer) get(id string) (state taskState) {
	s.t.Helper()
	s.rpc("tasks/get", id, map[string]any{"taskId": id}, &state)
	return state
}

// until asks for the state of a task until it is what is wanted.
func (s *aServer) until(id, what string, wanted func(taskState) bool) taskState {
	s.t.Helper()
	for {
		state := s.get(id)
		if wanted(state) {
			return state
		}
		if state.Status == "failed" || state.Status == "completed" || state.Status == "cancelled" {
			s.t.Fatalf("waiting until %s: the task is %+v", what, state)
		}
		timer := time.NewTimer(20 * time.Millisecond)
		select {
		case <-timer.C:
		case <-s.t.Context().Done():
			s.t.Fatalf("waiting until %s: %v", what, s.t.Context().Err())
		}
	}
}

// document reads a resource.
func (s *aServer) document(uri string) string {
	s.t.Helper()
	var result struct{ Contents []struct{ Text string } }
	s.rpc("resources/read", uri, map[string]any{"uri": uri}, &result)
	return result.Contents[0].Text
}

// rpc makes a request as a client that can take tasks and answer forms.
func (s *aServer) rpc(method, name string, params map[string]any, result any) {
	s.t.Helper()
	s.rpcAs(map[string]any{"elicitation": map[string]any{}, "extensions": map[string]any{"io.modelcontextprotocol/tasks": map[string]any{}}}, method, name, params, result)
}

func (s *aServer) rpcAs(capabilities map[string]any, method, name string, params map[string]any, result any) {
	s.t.Helper()
	params["_meta"] = map[string]any{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "restart", "version": "1"},
		"io.modelcontextprotocol/clientCapabilities": capabilities,
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for key, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name,
	} {
		r.Header.Set(key, value)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatalf("%s: %v", method, err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	raw = lastData(raw)
	var answer struct{ Result, Error json.RawMessage }
	if err := json.Unmarshal(raw, &answer); err != nil || answer.Error != nil {
		s.t.Fatalf("%s %s: %v in %s", method, name, err, raw)
	}
	if result != nil {
		if err := json.Unmarshal(answer.Result, result); err != nil {
			s.t.Fatal(err)
		}
	}
}

// lastData returns the last message of an event stream, or what is none as it is.
func lastData(raw []byte) []byte {
	if i := bytes.LastIndex(raw, []byte("data: ")); i >= 0 {
		return raw[i+len("data: "):]
	}
	return raw
}
