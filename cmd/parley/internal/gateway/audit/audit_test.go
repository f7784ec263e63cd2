package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/internal/redact"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// disk is a file on a disk that may be full.
type disk struct {
	bytes.Buffer
	full bool
}

func (d *disk) Write(p []byte) (int, error) {
	if d.full {
		return 0, syscall.ENOSPC
	}
	return d.Buffer.Write(p)
}

func (*disk) Close() error { return nil }

func (*disk) follow(time.Duration) error { return nil }

func (d *disk) lines(t *testing.T) []map[string]any {
	t.Helper()
	var list []map[string]any
	for text := range strings.Lines(d.String()) {
		var one map[string]any
		if err := json.Unmarshal([]byte(text), &one); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		list = append(list, one)
	}
	return list
}

func operation() *guard.Operation {
	return &guard.Operation{
		Exchange: &mcp.Exchange{Peer: mcp.Peer{Principal: "alice", SessionID: "s3cr3t-session", Info: mcp.Implementation{Name: "host", Version: "2"}}},
		Method:   mcp.MethodNamed(mcp.MethodCallTool), Backend: "files", Subject: "read", Shown: "files__read",
		Params: json.RawMessage(`{"name":"read","arguments":{"password":"hunter2-hunter2","n":12345678901234567890}}`),
	}
}

func quiet(o Options) Options {
	o.Logger = slog.New(slog.DiscardHandler)
	return o
}

func answering(result any, err error) guard.Next {
	return func(context.Context, *guard.Operation) (any, error) { return result, err }
}

// TestOutcomes sees how each end of an exchange is told.
func TestOutcomes(t *testing.T) {
	for want, next := range map[string]guard.Next{
		"ok":        answering(json.RawMessage(`{"content":[]}`), nil),
		"failed":    answering(json.RawMessage(`{"content":[],"isError":true}`), nil),
		"asked":     answering(nil, &mcp.InputRequired{}),
		"denied":    answering(nil, &mcp.ForbiddenError{Reason: "no"}),
		"cancelled": answering(nil, context.Canceled),
		"error":     answering(nil, jsonrpc.Errorf(-32602, "wrong")),
	} {
		d := new(disk)
		result, err := newLog(d, quiet(Options{})).Serve(t.Context(), operation(), next)
		wantResult, wantErr := next(t.Context(), nil)
		if !errors.Is(err, wantErr) || string(encoded(result)) != string(encoded(wantResult)) {
			t.Errorf("%s: it changes what is answered: %v, %v", want, result, err)
		}
		got := d.lines(t)
		if len(got) != 1 || got[0]["outcome"] != want {
			t.Errorf("%s is told as %v", want, got)
		}
	}
}

// TestLevels sees what each level keeps.
func TestLevels(t *testing.T) {
	for _, test := range []struct {
		level      Level
		has, hasNo []string
	}{
		{Metadata, []string{`"principal":"alice"`, `"method":"tools/call"`, `"subject":"read"`, `"shown":"files__read"`, `"client":"host/2"`}, []string{"hunter2", "params\"", "s3cr3t"}},
		{Redacted, []string{`12345678901234567890`, `"result":{"content":[]}`}, []string{"hunter2", "s3cr3t"}},
		{Full, []string{`{"password":"hunter2-hunter2","n":12345678901234567890}`}, []string{"s3cr3t"}},
	} {
		t.Run(string(test.level), func(t *testing.T) {
			d := new(disk)
			l := newLog(d, quiet(Options{Level: None, Backends: map[string]Level{"files": test.level}, Secrets: redact.New(nil, "hunter2-hunter2")}))
			if _, err := l.Serve(t.Context(), operation(), answering(json.RawMessage(`{"content":[]}`), nil)); err != nil {
				t.Fatal(err)
			}
			for _, text := range test.has {
				if !strings.Contains(d.String(), text) {
					t.Errorf("%s is not in\n%s", text, d)
				}
			}
			for _, text := range test.hasNo {
				if strings.Contains(d.String(), text) {
					t.Errorf("%s is in\n%s", text, d)
				}
			}
		})
	}
}

// TestRedacted sees that what looks like a secret is not kept, wherever it is.
func TestRedacted(t *testing.T) {
	token := "ghp_" + strings.Repeat("a1B2", 9)
	op := operation()
	op.Method, op.Subject, op.Shown = mcp.MethodNamed(mcp.MethodReadResource), "https://u:swordfish@files.example/a", "mcp:files:https://u:swordfish@files.example/a"
	op.Params = json.RawMessage(`{"uri":"https://u:swordfish@files.example/a","_meta":{"x":"of-the-configuration"}}`)
	for level, kept := range map[Level]bool{Metadata: false, Redacted: false, Full: true} {
		d := new(disk)
		l := newLog(d, quiet(Options{Level: level, Secrets: redact.New(nil, "of-the-configuration")}))
		for _, next := range []guard.Next{
			answering(json.RawMessage(`{"contents":[{"text":"{\"key\":\"`+token+`\",\"password\":\"swordfish\"}"}]}`), nil),
			answering(nil, jsonrpc.Errorf(-32000, "it said %s", token)),
		} {
			_, _ = l.Serve(t.Context(), op, next)
		}
		for _, secret := range []string{token, "swordfish", "of-the-configuration"} {
			if got := strings.Contains(d.String(), secret); got != kept {
				t.Errorf("%s keeps %s: %t\n%s", level, secret, got, d)
			}
		}
		if strings.Contains(d.String(), "it said "+token) {
			t.Errorf("%s keeps what is in an error", level)
		}
	}
}

// TestFullDisk sees what becomes of operations that cannot be logged.
func TestFullDisk(t *testing.T) {
	for name, required := range map[string]bool{"goes on": false, "refuses": true} {
		t.Run(name, func(t *testing.T) {
			d := &disk{full: true}
			l := newLog(d, quiet(Options{Required: required}))
			reached := 0
			serve := func() error {
				_, err := l.Serve(t.Context(), operation(), func(context.Context, *guard.Operation) (any, error) {
					reached++
					return nil, nil
				})
				return err
			}
			for range 3 {
				if err := serve(); (err != nil) != required {
					t.Fatalf("error %v", err)
				}
			}
			if want := map[bool]int{false: 3, true: 1}[required]; reached != want {
				t.Errorf("%d operations reached the backend, want %d", reached, want)
			}
			d.full = false
			if err := serve(); err != nil {
				t.Fatalf("with room again: %v", err)
			}
			got := d.lines(t)
			if want := 3.0; got[0]["missing"] != want {
				t.Errorf("the first line is %v, want one that says that %v are missing", got[0], want)
			}
			if last := got[len(got)-1]; last["outcome"] != "ok" {
				t.Errorf("the last line is %v", last)
			}
		})
	}
}

// TestFile sees that the file can be read by its owner only, and that a second log
// goes on where the first has ended.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	for range 2 {
		l, err := New(quiet(Options{Path: path}))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Serve(t.Context(), operation(), answering(nil, nil)); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil || bytes.Count(text, []byte("\n")) != 2 {
		t.Errorf("%v; the file is\n%s", err, text)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v; its mode is %v", err, info.Mode())
	}
	if _, err := New(quiet(Options{Path: filepath.Join(path, "below-a-file")})); err == nil {
		t.Error("a log where there can be none is opened")
	}
}

// What a human has decided is in the line of the operation, and in lines of its own, which
// tell of what is no operation, too.
func TestApproval(t *testing.T) {
	d := new(disk)
	l := newLog(d, quiet(Options{Backends: map[string]Level{"shop": None}}))
	op := operation()
	_, _ = l.Serve(t.Context(), op, func(context.Context, *guard.Operation) (any, error) {
		op.Approval = &guard.Approval{ID: "abc", Decision: "refused", By: "ann", Reason: "no"}
		return mcp.ToolError("denied"), nil
	})
	l.Approved(Approved{Backend: "files", Subject: "read", Approval: guard.Approval{ID: "def", Decision: "revoked", By: "ann"}})
	l.Approved(Approved{Backend: "shop", Approval: guard.Approval{ID: "ghi", Decision: "given"}})
	lines := d.lines(t)
	if len(lines) != 2 {
		t.Fatalf("lines: %v", lines)
	}
	for i, want := range []struct{ outcome, approval string }{
		{"denied", `{"by":"ann","decision":"refused","id":"abc","reason":"no"}`},
		{"approval", `{"by":"ann","decision":"revoked","id":"def"}`},
	} {
		if got, _ := json.Marshal(lines[i]["approval"]); lines[i]["outcome"] != want.outcome || string(got) != want.approval {
			t.Errorf("line %d: %v", i, lines[i])
		}
	}
}

// TestRemarks sees that what guards behind the log have to say is kept.
func TestRemarks(t *testing.T) {
	d := new(disk)
	_, err := newLog(d, quiet(Options{})).Serve(t.Context(), operation(), func(ctx context.Context, _ *guard.Operation) (any, error) {
		guard.Remark(ctx, "scan: a secret")
		return json.RawMessage(`{}`), nil
	})
	if got := d.lines(t); err != nil || len(got) != 1 || !reflect.DeepEqual(got[0]["remarks"], []any{"scan: a secret"}) {
		t.Errorf("%v, %v", got, err)
	}
	guard.Remark(t.Context(), "nobody wants to know")
}

// TestLong sees that what a client makes up does not fill the log, wherever it stands, and
// that the line says how long it was.
func TestLong(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	token := "ghp_" + strings.Repeat("a1B2", 9)
	uri := "file:///" + strings.Repeat("x", maxName-20) + " " + token + long // the bound is in the token
	x := &mcp.Exchange{Method: mcp.MethodReadResource, Params: json.RawMessage(`{"uri":"` + uri + `"}`), Peer: mcp.Peer{Info: mcp.Implementation{Name: long, Version: long}}, Trace: mcp.Trace{Parent: long}}
	failed := &mcp.ForbiddenError{Reason: "resources/read of " + uri + " is denied"}
	for _, level := range []Level{Metadata, Full} {
		d := new(disk)
		l := newLog(d, quiet(Options{Level: level}))
		op := &guard.Operation{Exchange: x, Method: mcp.MethodNamed(x.Method), Backend: "files", Subject: uri, Shown: "mcp:files:" + uri, Params: json.RawMessage("{}")}
		_, _ = l.Serve(t.Context(), op, answering(nil, failed))
		if err := l.Record(&guard.Event{Exchange: x, View: long, Err: failed}); err != nil {
			t.Fatal(err)
		}
		l.Approved(Approved{Client: long, Subject: long})
		for i, line := range d.lines(t) {
			raw, err := json.Marshal(line)
			if err != nil || len(raw) > 20<<10 {
				t.Errorf("%s: line %d has %d bytes, error %v", level, i, len(raw), err)
			}
			if level == Metadata && strings.Contains(string(raw), "ghp_") {
				t.Errorf("line %d has a part of a secret: %s", i, raw)
			}
			for _, name := range []string{"subject", "shown", "error", "client", "traceparent", "view"} {
				if text, ok := line[name].(string); ok && !strings.Contains(text, " bytes)") {
					t.Errorf("%s: %s of line %d does not say how long it was: …%s", level, name, i, text[max(0, len(text)-100):])
				}
			}
		}
	}
}
