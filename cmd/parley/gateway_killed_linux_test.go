package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const manySessions = 1000

// killable is a gateway in a process of its own, with servers that do not end by themselves.
type killable struct {
	*aServer
	dir string
}

func startKillable(t *testing.T, dir, addr string) *killable {
	t.Helper()
	file := filepath.Join(dir, "gateway.yaml")
	text := fmt.Sprintf(`version: 1
audit: {file: %[1]q}
pins: {file: %[2]q}
backends:
  wrapped: {command: [fixture, wrapper, %[3]q]}
  stubborn: {command: [fixture, stubborn, %[4]q]}
  slow: {command: [parley, serve, --stdio]}
`, filepath.Join(dir, "audit.jsonl"), filepath.Join(dir, "pins.json"), filepath.Join(dir, "wrapped"), filepath.Join(dir, "stubborn"))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return &killable{startProcess(t, "gateway", file, "--http", addr), dir}
}

// pids returns the processes of the servers, once all are there.
func (k *killable) pids() map[string]int {
	k.t.Helper()
	pids := map[string]int{}
	for _, name := range []string{"wrapped", "wrapped.child", "stubborn"} {
		eventually(k.t, "the server "+name+" runs", func() bool {
			raw, err := os.ReadFile(filepath.Join(k.dir, name))
			if err == nil {
				pids[name], err = strconv.Atoi(string(raw))
			}
			return err == nil
		})
	}
	return pids
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	deadline, ticker := time.NewTimer(20*time.Second), time.NewTicker(10*time.Millisecond)
	defer deadline.Stop()
	defer ticker.Stop()
	for !is() {
		select {
		case <-ticker.C:
		case <-deadline.C:
			t.Fatalf("after a while it is not so that %s", what)
		}
	}
}

// gone reports whether a process has ended. Nobody may be there to bury it.
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := bytes.Cut(stat, []byte(") "))
	return err != nil || bytes.HasPrefix(state, []byte("Z"))
}

// post sends a message in a session, or outside of one.
func (k *killable) post(session, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(k.t.Context(), http.MethodPost, k.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
		r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	}
	return http.DefaultClient.Do(r)
}

// said returns the status of a response, and what it holds.
func said(t *testing.T, r *http.Response, err error) (status int, text string) {
	t.Helper()
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer r.Body.Close()
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	return r.StatusCode, string(raw)
}

const (
	opening = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"many","version":"1"}}}`
	opened  = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	echo    = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"stubborn__echo","arguments":{"text":"hello"}}}`
)

// open opens sessions, and returns their IDs.
func (k *killable) open(n int) []string {
	k.t.Helper()
	ids := make([]string, n)
	var group sync.WaitGroup
	for w := range 8 {
		group.Go(func() {
			for i := w; i < n; i += 8 {
				r, err := k.post("", opening)
				if status, text := said(k.t, r, err); status != http.StatusOK {
					k.t.Errorf("session %d: %d %s", i, status, text)
					return
				}
				ids[i] = r.Header.Get("Mcp-Session-Id")
				r, err = k.post(ids[i], opened)
				said(k.t, r, err)
			}
		})
	}
	group.Wait()
	return ids
}

// When a gateway is killed, nothing of it stays: no process of a server, no half of a line or
// file. The next one, at the same address, has its clients open new sessions.
func TestGatewayIsKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	k := startKillable(t, dir, "127.0.0.1:0")
	ids := k.open(manySessions)
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for w := range 4 { // so that it is killed while it writes
		group.Go(func() {
			for i := w; ctx.Err() == nil; i++ {
				r, err := k.post(ids[i%len(ids)], echo)
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, r.Body) // it may be cut off
				_ = r.Body.Close()
			}
		})
	}
	pids := k.pids()
	r, err := k.post(ids[0], `{"jsonrpc":"2.0","id":4,"method":"tools/list"}`) // what is pinned
	if status, text := said(t, r, err); !strings.Contains(text, "wrapped__echo") || !strings.Contains(text, "stubborn__echo") {
		t.Errorf("the tools are %d %s", status, text)
	}
	eventually(t, "there are pins", func() bool {
		_, err := os.Stat(filepath.Join(dir, "pins.json"))
		return err == nil
	})
	eventually(t, "calls are in the log", func() bool {
		log, err := os.ReadFile(filepath.Join(dir, "audit.jsonl"))
		return err == nil && bytes.Count(log, []byte("\n")) > 50
	})
	k.end(syscall.SIGKILL)
	cancel()
	group.Wait()
	for name, pid := range pids {
		eventually(t, "the process of "+name+" has ended", func() bool { return gone(pid) })
		_ = os.Remove(filepath.Join(dir, name)) // the next one writes its own
	}
	k.files()

	addr := strings.TrimSuffix(strings.TrimPrefix(k.url, "http://"), "/mcp")
	next := startKillable(t, dir, addr)
	next.pids()
	r, err = next.post(ids[0], echo)
	if status, text := said(t, r, err); status != http.StatusNotFound {
		t.Errorf("in a session of the last gateway: %d %s, want 404", status, text)
	}
	again := next.open(10)
	r, err = next.post(again[9], echo)
	if status, text := said(t, r, err); status != http.StatusOK || !strings.Contains(text, "hello") {
		t.Errorf("in a new session: %d %s", status, text)
	}
	next.end(syscall.SIGTERM)
	next.files()
}

// files fails the test if a file that the gateway writes cannot be read.
func (k *killable) files() {
	k.t.Helper()
	log, err := os.ReadFile(filepath.Join(k.dir, "audit.jsonl"))
	if err != nil {
		k.t.Fatal(err)
	}
	for line := range bytes.Lines(log) {
		if !json.Valid(line) || !bytes.HasSuffix(line, []byte("\n")) {
			k.t.Errorf("a line of the audit log is %q", line)
		}
	}
	pins, err := os.ReadFile(filepath.Join(k.dir, "pins.json"))
	if err != nil || !json.Valid(pins) {
		k.t.Errorf("the pins are %q, error %v", pins, err)
	}
}

// A gateway that is told to stop does so in time, however many clients it has; they learn
// that their streams and calls have ended, and its servers end, also those that resist.
func TestGatewayIsToldToStop(t *testing.T) {
	t.Parallel()
	k := startKillable(t, t.TempDir(), "127.0.0.1:0")
	ids := k.open(manySessions)
	pids := k.pids()
	const streams = 50
	ended := make(chan string, streams+1)
	for _, id := range ids[:streams] {
		k.listen(id, ended)
	}
	called := make(chan struct{})
	go func() { // ends with the gateway
		r, err := k.post(ids[0], `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"slow__count_slowly","arguments":{"steps":10000,"delay_ms":1000},"_meta":{"progressToken":1}}}`)
		if err != nil {
			ended <- err.Error()
			return
		}
		defer r.Body.Close()
		first := make([]byte, 1)
		_, _ = io.ReadFull(r.Body, first) // what follows tells
		close(called)
		rest, _ := io.ReadAll(r.Body) // as above
		ended <- string(rest)
	}()
	<-called
	begun := time.Now()
	k.end(syscall.SIGTERM)
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
	told := 0
	for range streams + 1 {
		if text := <-ended; strings.Contains(text, `"id":3,"error"`) && strings.Contains(text, "shutting down") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("%d calls were told that the gateway is shutting down", told)
	}
	for name, pid := range pids {
		eventually(t, "the process of "+name+" has ended", func() bool { return gone(pid) })
	}
}

// listen opens the stream of a session, and says when it has ended.
func (k *killable) listen(id string, ended chan<- string) {
	k.t.Helper()
	r, err := http.NewRequestWithContext(k.t.Context(), http.MethodGet, k.url, nil)
	if err != nil {
		k.t.Fatal(err)
	}
	for key, value := range map[string]string{"Accept": "text/event-stream", "Mcp-Session-Id": id, "Mcp-Protocol-Version": "2025-11-25"} {
		r.Header.Set(key, value)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		k.t.Fatal(err)
	}
	go func() { // ends with the gateway
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body) // it may be cut off
		ended <- string(text)
	}()
}

// However much a server says at once, the gateway takes what a message may have, and little
// besides; a server that goes on is ended, and clients learn why.
func TestGatewayIsFlooded(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "gateway.yaml")
	if err := os.WriteFile(file, []byte("version: 1\nbackends:\n  f: {command: [fixture, flooding]}\n  good: {command: [fixture, full]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	k := &killable{aServer: startProcess(t, "gateway", file, "--http", "127.0.0.1:0")}
	id := k.open(1)[0]
	call := func(tool string) string {
		t.Helper()
		r, err := k.post(id, `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"`+tool+`","arguments":{"text":"hello"}}}`)
		_, text := said(t, r, err)
		return text
	}
	if text := call("f__big"); len(text) < 60<<20 {
		t.Errorf("a large result is %.200s", text)
	}
	if text := call("f__open"); !strings.Contains(text, `the server \"f\" has not answered`) || !strings.Contains(text, "limit") {
		t.Errorf("a line that does not end: %.300s", text)
	}
	if text := call("f__noise"); !strings.Contains(text, "quiet") {
		t.Errorf("after noise: %.300s", text)
	}
	if text := call("good__echo"); !strings.Contains(text, "hello") {
		t.Errorf("the other server: %.300s", text)
	}
	most := k.peak()
	t.Logf("the gateway took %d MiB at most", most)
	if most > 2048 { // the race detector doubles it; without, it is about 400
		t.Errorf("the gateway took %d MiB", most)
	}
	k.end(syscall.SIGTERM)
	size := 0
	for _, line := range k.log {
		size += len(line)
	}
	if size > 4<<20 {
		t.Errorf("%d bytes are logged", size)
	}
}

// peak is how many MiB the process has had at most.
func (k *killable) peak() (mebibytes int) {
	k.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", k.cmd.Process.Pid))
	if err != nil {
		k.t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	if _, err := fmt.Sscan(string(rest), &mebibytes); err != nil {
		k.t.Fatal(err)
	}
	return mebibytes >> 10
}

// startBesides starts a gateway before a server that is a command of its own, one in a
// wrapper, and one that is left alone. Where each writes its process ID is returned.
func startBesides(t *testing.T) (k *killable, pids map[string]string) {
	t.Helper()
	dir := t.TempDir()
	pids = map[string]string{"plain": filepath.Join(dir, "plain"), "wrapped": filepath.Join(dir, "wrapped")}
	text := fmt.Sprintf(`version: 1
backends:
  plain:
    command: [sh, -c, "echo $$ > %[1]s.new && mv %[1]s.new %[1]s && exec parley serve --stdio"]
    override: {count_slowly: {annotations: {readOnlyHint: false, idempotentHint: false}}}
  wrapped:
    command: [sh, -c, "echo $$ > %[2]s.new && mv %[2]s.new %[2]s && parley serve --stdio; true"]
    override: {count_slowly: {annotations: {readOnlyHint: false, idempotentHint: false}}}
  stubborn: {command: [fixture, stubborn, %[3]q]}
`, pids["plain"], pids["wrapped"], filepath.Join(dir, "stubborn"))
	file := filepath.Join(dir, "gateway.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return &killable{startProcess(t, "gateway", file, "--http", "127.0.0.1:0"), dir}, pids
}

// pid waits for the process ID of a server, which is another one than before.
func pid(t *testing.T, file string, before int) (now int) {
	t.Helper()
	eventually(t, "the server of "+filepath.Base(file)+" runs", func() bool {
		raw, err := os.ReadFile(file)
		if err == nil {
			now, err = strconv.Atoi(strings.TrimSpace(string(raw)))
		}
		return err == nil && now != before
	})
	return now
}

// children are the processes that a process has started.
func children(t *testing.T, pid int) (all []int) {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Fatal(err)
	}
	for word := range strings.FieldsSeq(string(raw)) {
		child, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, child)
	}
	return all
}

// count begins a call that takes long, and returns what comes of it.
func (k *killable) count(session, server string) <-chan string {
	k.t.Helper()
	r, err := k.post(session, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"`+server+`__count_slowly","arguments":{"steps":10000,"delay_ms":100},"_meta":{"progressToken":1}}}`)
	if err != nil {
		k.t.Fatal(err)
	}
	first := make([]byte, 1)
	if _, err := io.ReadFull(r.Body, first); err != nil { // progress: the server is at work
		k.t.Fatal(err)
	}
	ended := make(chan string, 1)
	go func() { // ends with the call
		defer r.Body.Close()
		rest, _ := io.ReadAll(r.Body) // it may be cut off
		ended <- string(rest)
	}()
	return ended
}

// When a server is killed in the middle of a call, its caller learns at once that nobody
// knows what has become of it, the next one gets a new server, and no other server notices.
func TestServerIsKilled(t *testing.T) {
	t.Parallel()
	k, files := startBesides(t)
	id := k.open(1)[0]
	answers := func(tool, arguments, want string) {
		t.Helper()
		r, err := k.post(id, `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+arguments+`}}`)
		if status, text := said(t, r, err); status != http.StatusOK || !strings.Contains(text, want) {
			t.Errorf("%s answers %d %s", tool, status, text)
		}
	}
	answers("stubborn__echo", `{"text":"hello"}`, "hello")
	other := pid(t, filepath.Join(k.dir, "stubborn"), 0)
	for _, server := range []string{"plain", "wrapped"} {
		was := pid(t, files[server], 0)
		killed := append(children(t, was), was)
		ended := k.count(id, server)
		if err := syscall.Kill(was, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		select {
		case text := <-ended:
			unknown := strings.Contains(text, `the server \"`+server+`\" has not answered`) && strings.Contains(text, "it is not known whether it has done what it was asked to")
			told := server == "wrapped" && strings.Contains(text, "the server is shutting down") // what was in the wrapper may have had the time to say so
			if !strings.Contains(text, `"id":3,"error"`) || !unknown && !told {
				t.Errorf("the call to %s ends with %s", server, text)
			}
		case <-time.NewTimer(20 * time.Second).C:
			t.Fatalf("the call to %s does not end", server)
		}
		t.Logf("the call to %s has ended after %s", server, time.Since(begun))
		answers("stubborn__echo", `{"text":"hello"}`, "hello")
		answers(server+"__count_slowly", `{"steps":1,"delay_ms":0}`, `"steps":1`)
		if now := pid(t, files[server], was); gone(now) {
			t.Errorf("%s is not there again", server)
		}
		for _, one := range killed {
			eventually(t, "the process of "+server+" has ended", func() bool { return gone(one) })
		}
	}
	if now := pid(t, filepath.Join(k.dir, "stubborn"), 0); now != other || gone(now) {
		t.Errorf("the other server was process %d, and is %d", other, now)
	}
	k.end(syscall.SIGTERM)
}
