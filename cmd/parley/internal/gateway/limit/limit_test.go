package limit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

func call(principal, backend, tool string) *guard.Operation {
	return &guard.Operation{
		Exchange: &mcp.Exchange{Peer: mcp.Peer{Principal: principal, Source: "127.0.0.1"}},
		Method:   mcp.MethodNamed(mcp.MethodCallTool), Backend: backend, Subject: tool, Shown: backend + "__" + tool,
	}
}

func at(ctx context.Context, l *Limits, op *guard.Operation) error {
	_, err := l.Serve(ctx, op, func(context.Context, *guard.Operation) (any, error) { return nil, nil })
	return err
}

// TestRate sees that a rate is held for each value of the dimensions, and that there is
// room again later.
func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New([]Rule{{By: []Dimension{ByPrincipal}, Backend: "shop", Subject: "pay*", Rate: 1, Burst: 2}})
		for i := range 2 {
			if err := at(t.Context(), l, call("alice", "shop", "pay")); err != nil {
				t.Fatalf("call %d: %v", i, err)
			}
		}
		err := at(t.Context(), l, call("alice", "shop", "pay-later"))
		if err == nil || !strings.Contains(err.Error(), "operations of this principal: there are too many; try again in 1s") {
			t.Errorf("the third: %v", err)
		}
		for _, other := range []*guard.Operation{call("bob", "shop", "pay"), call("alice", "shop", "list"), call("alice", "files", "pay")} {
			if err := at(t.Context(), l, other); err != nil {
				t.Errorf("%+v is none of it: %v", other, err)
			}
		}
		<-time.NewTimer(time.Second).C
		if err := at(t.Context(), l, call("alice", "shop", "pay")); err != nil {
			t.Errorf("a second later: %v", err)
		}
	})
}

// TestAdmit sees that what is about no backend counts where a rule names its method, and only
// there.
func TestAdmit(t *testing.T) {
	list := mcp.MethodNamed(mcp.MethodListTools)
	from := func(principal string) *mcp.Exchange { return &mcp.Exchange{Peer: mcp.Peer{Principal: principal}} }
	for name, test := range map[string]struct {
		rule   Rule
		covers bool
	}{
		"its name":      {Rule{Method: mcp.MethodListTools}, true},
		"all lists":     {Rule{Method: "*/list"}, true},
		"all methods":   {Rule{Method: "*"}, true},
		"operations":    {Rule{}, false},
		"another one":   {Rule{Method: mcp.MethodCallTool}, false},
		"of a backend":  {Rule{Method: "*", Backend: "*"}, false},
		"about subject": {Rule{Method: "*", Subject: "*"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			test.rule.By, test.rule.Rate, test.rule.Burst = []Dimension{ByPrincipal}, 0.001, 1
			busy := test.rule
			busy.Rate, busy.Burst, busy.Concurrent = 0, 0, 1
			l := New([]Rule{busy, test.rule})
			end, err := l.Admit(from("alice"), list)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := l.Admit(from("alice"), list); (err != nil) != test.covers || err != nil && !strings.Contains(err.Error(), "1 are served already") {
				t.Errorf("a second one at the same time: %v", err)
			}
			end()
			for range 2 { // what is refused for its rate is not served
				if _, err := l.Admit(from("alice"), list); (err != nil) != test.covers || err != nil && !strings.Contains(err.Error(), "there are too many") {
					t.Errorf("a second one later: %v", err)
				}
			}
			if _, err := l.Admit(from("bob"), list); err != nil {
				t.Errorf("another principal: %v", err)
			}
		})
	}
}

// TestConcurrent sees that what has ended makes room, also when it has failed.
func TestConcurrent(t *testing.T) {
	l := New([]Rule{{Concurrent: 1}})
	failed := errors.New("failed")
	for range 2 {
		_, err := l.Serve(t.Context(), call("alice", "shop", "pay"), func(context.Context, *guard.Operation) (any, error) {
			if err := at(t.Context(), l, call("bob", "shop", "pay")); err == nil || !strings.Contains(err.Error(), "1 are served already") {
				t.Errorf("a second one at the same time: %v", err)
			}
			return nil, failed
		})
		if !errors.Is(err, failed) {
			t.Errorf("error %v", err)
		}
	}
}

// TestTime sees that the strictest rule bounds the time, and what is said then.
func TestTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New([]Rule{{Time: time.Hour}, {Time: time.Minute}})
		_, err := l.Serve(t.Context(), call("alice", "shop", "pay"), func(ctx context.Context, _ *guard.Operation) (any, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		})
		if err == nil || !strings.Contains(err.Error(), "longer than 1m0s") {
			t.Errorf("error %v", err)
		}
	})
}

// TestResult sees what becomes of results that are too large.
func TestResult(t *testing.T) {
	long := strings.Repeat("ä\n", 500)
	text := func(s string) string {
		raw, err := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": s}}, "isError": false})
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	for _, test := range []struct {
		name, result string
		cut          bool
		want         string // begins with; "" is an error
	}{
		{"small", text("a"), false, text("a")},
		{"refused", text(long), false, ""},
		{"cut", text(long), true, `{"content":[{"text":"ä\nä\n`},
		{"an image cannot be cut", `{"content":[{"type":"image","data":"` + long + `"}]}`, true, `{"content":[{"type":"text","text":"The gateway has cut`},
		{"nor can structured content", `{"structuredContent":{},"content":[{"type":"text","text":"` + strings.Repeat("a", 1000) + `"}]}`, true, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := New([]Rule{{ResultBytes: 600, Cut: test.cut}})
			got, err := l.Serve(t.Context(), call("alice", "shop", "list"), func(context.Context, *guard.Operation) (any, error) {
				return json.RawMessage(strings.ReplaceAll(test.result, "\n", "")), nil
			})
			if test.want == "" {
				if err == nil || !strings.Contains(err.Error(), "600 at most") {
					t.Errorf("%v, error %v", got, err)
				}
				return
			}
			raw, _ := got.(json.RawMessage)
			if err != nil || !json.Valid(raw) || len(raw) > 600 {
				t.Fatalf("%d bytes, error %v: %s", len(raw), err, raw)
			}
			if want := strings.ReplaceAll(test.want, "\n", ""); !strings.HasPrefix(string(raw), want) {
				t.Errorf("%s, want %s…", raw, want)
			}
		})
	}
}

// TestAccounts sees that strangers do not fill the memory.
func TestAccounts(t *testing.T) {
	l := New([]Rule{{By: []Dimension{ByPrincipal}, Rate: 0.001, Burst: 2, Concurrent: 2}})
	for i := range maxAccounts + 100 {
		if err := at(t.Context(), l, call(fmt.Sprint(i), "shop", "pay")); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(l.rules[0].accounts); n > maxAccounts {
		t.Errorf("there are %d accounts, and may be %d", n, maxAccounts)
	}
}

// TestLongSubjects sees that an account takes no more memory for what a client makes up, and
// still is that of one subject.
func TestLongSubjects(t *testing.T) {
	l := New([]Rule{{By: []Dimension{ByPrincipal, BySubject}, Rate: 0.001, Burst: 1}})
	long := strings.Repeat("x", 1<<20)
	for i, fails := range []bool{false, false, true} {
		if err := at(t.Context(), l, call("alice", "shop", long+fmt.Sprint(min(i, 1)))); (err != nil) != fails {
			t.Errorf("operation %d: %v", i, err)
		}
	}
	for of := range l.rules[0].accounts {
		if size := unsafe.Sizeof(of); reflect.TypeFor[key]().Kind() != reflect.Array || size > 64 {
			t.Errorf("the key of an account is a %T of %d bytes", of, size)
		}
	}
}

// TestRenew sees that what was counted for a rule stays when others are changed, and what
// runs still counts.
func TestRenew(t *testing.T) {
	rated, busy := Rule{By: []Dimension{ByPrincipal}, Rate: 0.001, Burst: 1}, Rule{Subject: "pay", Concurrent: 1}
	for name, test := range map[string]struct {
		rules       []Rule
		rated, busy bool
	}{
		"the same":         {[]Rule{rated, busy}, true, true},
		"in another order": {[]Rule{busy, rated}, true, true},
		"with another one": {[]Rule{{Rate: 1000}, rated, busy}, true, true},
		"one is changed":   {[]Rule{{By: rated.By, Rate: 0.002, Burst: 1}, busy}, false, true},
		"only the other":   {[]Rule{rated}, true, false},
		"none":             {nil, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			old := New([]Rule{rated, busy})
			_, err := old.Serve(t.Context(), call("alice", "shop", "pay"), func(context.Context, *guard.Operation) (any, error) {
				l := Renew(old, test.rules)
				if err := at(t.Context(), l, call("alice", "shop", "list")); (err != nil) != test.rated {
					t.Errorf("a second one of a principal: %v", err)
				}
				if err := at(t.Context(), l, call("bob", "shop", "pay")); (err != nil) != test.busy {
					t.Errorf("a second one at the same time: %v", err)
				}
				return nil, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := at(t.Context(), Renew(old, test.rules), call("carol", "shop", "pay")); err != nil {
				t.Errorf("once the first has ended: %v", err)
			}
		})
	}
}

// TestErrors sees that an error is no way around the size of results.
func TestErrors(t *testing.T) {
	l := New([]Rule{{ResultBytes: 600, Cut: true}})
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"small":        {&jsonrpc.Error{Code: -32000, Message: "no", Data: json.RawMessage(`{"a":1}`)}, "no"},
		"long data":    {&jsonrpc.Error{Code: -32000, Message: "no", Data: json.RawMessage(`"` + strings.Repeat("a", 600) + `"`)}, "the error of shop__pay has 604 bytes, and the gateway passes on 600 at most"},
		"long message": {&jsonrpc.Error{Code: -32000, Message: strings.Repeat("a", 601)}, "the error of shop__pay has 601 bytes"},
		"its own":      {&mcp.ForbiddenError{Reason: strings.Repeat("a", 601)}, "aaa"},
	} {
		_, err := l.Serve(t.Context(), call("alice", "shop", "pay"), func(context.Context, *guard.Operation) (any, error) { return nil, test.err })
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
}
