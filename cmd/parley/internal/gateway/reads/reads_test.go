package reads_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/reads"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// backend answers with what it is told to, and counts how often it was asked.
type backend struct {
	asked  atomic.Int64
	answer string
	err    error
	takes  time.Duration
}

func (b *backend) fetch(context.Context) (any, error) {
	n := b.asked.Add(1)
	if b.takes > 0 {
		<-time.NewTimer(b.takes).C
	}
	return json.RawMessage(strings.ReplaceAll(b.answer, "N", fmt.Sprint(n))), b.err
}

func (b *backend) read(t *testing.T, c *reads.Cache, key string) string {
	t.Helper()
	result, err := c.Read(t.Context(), reads.Asked{Backend: "b", Key: key, URI: "x://y"}, b.fetch)
	if err != nil {
		t.Fatal(err)
	}
	raw, ok := result.(json.RawMessage)
	if !ok {
		t.Fatalf("the result is of type %T", result)
	}
	return string(raw)
}

func TestHints(t *testing.T) {
	for _, test := range []struct {
		name, answer string
		mine, others string // the second answer, 3 s later, to the same reader and to another one
	}{
		{"for everybody", `{"n":N,"ttlMs":5000,"cacheScope":"public"}`, `{"n":1,"ttlMs":2000,"cacheScope":"public"}`, `{"n":1,"ttlMs":2000,"cacheScope":"public"}`},
		{"for one", `{"n":N,"ttlMs":5000,"cacheScope":"private"}`, `{"n":1,"ttlMs":2000,"cacheScope":"private"}`, `{"n":2,"ttlMs":5000,"cacheScope":"private"}`},
		{"for nobody knows whom", `{"n":N,"ttlMs":5000}`, `{"n":1,"ttlMs":2000}`, `{"n":2,"ttlMs":5000}`},
		{"stale at once", `{"n":N,"ttlMs":0}`, `{"n":2,"ttlMs":0}`, `{"n":3,"ttlMs":0}`},
		{"stale soon", `{"n":N,"ttlMs":3000}`, `{"n":2,"ttlMs":3000}`, `{"n":3,"ttlMs":3000}`},
		{"no time", `{"n":N}`, `{"n":2}`, `{"n":3}`},
		{"a broken time", `{"n":N,"ttlMs":"5000"}`, `{"n":2,"ttlMs":"5000"}`, `{"n":3,"ttlMs":"5000"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, b := reads.New(1<<20), &backend{answer: test.answer}
				if got, want := b.read(t, c, "me"), strings.ReplaceAll(test.answer, "N", "1"); got != want {
					t.Errorf("first %s, want %s", got, want)
				}
				<-time.NewTimer(3 * time.Second).C
				if got := b.read(t, c, "me"); got != test.mine {
					t.Errorf("again %s, want %s", got, test.mine)
				}
				if got := b.read(t, c, "you"); got != test.others {
					t.Errorf("another reader %s, want %s", got, test.others)
				}
			})
		})
	}
}

// A change makes everybody read anew, and what was on its way when it came is not kept.
func TestChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, b := reads.New(1<<20), &backend{answer: `{"n":N,"ttlMs":500000}`}
		b.read(t, c, "me")
		c.Changed("b", "x://z")
		c.Changed("a", "")
		if got := b.read(t, c, "me"); !strings.Contains(got, `"n":1,`) {
			t.Errorf("another change: %s", got)
		}
		c.Changed("b", "x://y")
		if got := b.read(t, c, "me"); !strings.Contains(got, `"n":2,`) {
			t.Errorf("changed: %s", got)
		}
		c.Changed("b", "")
		b.takes = time.Second
		go func() { // ends with the read
			<-time.NewTimer(500 * time.Millisecond).C
			c.Changed("b", "")
		}()
		b.read(t, c, "me")
		if got := b.read(t, c, "me"); !strings.Contains(got, `"n":4,`) {
			t.Errorf("changed on the way: %s", got)
		}
	})
}

// What many ask for at once is fetched once, unless it cannot be kept.
func TestAtOnce(t *testing.T) {
	for answer, want := range map[string]int64{`{"ttlMs":5000}`: 1, `{"ttlMs":0}`: 100} {
		synctest.Test(t, func(t *testing.T) {
			c, b := reads.New(1<<20), &backend{answer: answer, takes: time.Second}
			for range 100 {
				go func() { b.read(t, c, "me") }()
			}
			<-time.NewTimer(5 * time.Second).C
			if got := b.asked.Load(); got != want {
				t.Errorf("%s: asked %d times, want %d", answer, got, want)
			}
		})
	}
}

// Who does not want to wait any more does not, and a failure is nobody else's.
func TestGivingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, b := reads.New(1<<20), &backend{answer: `{"ttlMs":5000}`, takes: time.Second, err: errors.New("broken")}
		asked := reads.Asked{Backend: "b", URI: "x://y"}
		ended := make(chan error, 2)
		go func() { // ends with the read
			_, err := c.Read(t.Context(), asked, b.fetch)
			ended <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := c.Read(ctx, asked, b.fetch); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("giving up: %v", err)
		}
		whole := &backend{answer: `{"ttlMs":5000}`}
		if _, err := c.Read(t.Context(), asked, whole.fetch); err != nil || whole.asked.Load() != 1 {
			t.Errorf("after the failure of another: %v", err)
		}
		if err := <-ended; !errors.Is(err, b.err) {
			t.Errorf("the failure is %v", err)
		}
	})
}

// The cache never has more than it may.
func TestBounds(t *testing.T) {
	const most = 100_000
	c := reads.New(most)
	long := strings.Repeat("x", most/10)
	for i := range 1000 {
		_, err := c.Read(t.Context(), reads.Asked{Backend: "b", URI: fmt.Sprint(i)}, func(context.Context) (any, error) {
			return json.RawMessage(`{"ttlMs":5000,"text":"` + long + `"}`), nil
		})
		if err != nil || c.Size() > most {
			t.Fatalf("%d bytes, error %v", c.Size(), err)
		}
	}
	asked := 0
	for _, size := range []int{1000, most / 4} {
		for range 2 {
			_, err := c.Read(t.Context(), reads.Asked{Backend: "b", URI: fmt.Sprint("of ", size)}, func(context.Context) (any, error) {
				asked++
				return json.RawMessage(`{"ttlMs":5000,"text":"` + strings.Repeat("x", size) + `"}`), nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if asked != 3 {
		t.Errorf("asked %d times, want once for the small one and twice for the large one", asked)
	}
	if c.Resize(0); c.Size() != 0 {
		t.Errorf("%d bytes without room", c.Size())
	}
}
