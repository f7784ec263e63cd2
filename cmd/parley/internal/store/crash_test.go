package store_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"testing"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/store"
	"github.com/parley-mcp/parley/server/taskstore"
)

// childEnv names, in a child process, the file to write to.
const childEnv = "PARLEY_TEST_TASK_STORE"

// writes is what the child does, in this order.
var writes = []func(ctx context.Context, s taskstore.Store) error{
	func(ctx context.Context, s taskstore.Store) error {
		_, err := s.Create(ctx, taskstore.Record{ID: "t", Owner: "alice", Created: start, Lease: start, Data: []byte("created")}, taskstore.Quota{PerOwner: 5, Total: 5})
		return err
	},
	appending("question", "answer"),
	appending("charge?", ""), // an intent
	appending("charge", "receipt"),
	saving("waiting", false),
	saving("working", true),
	func(ctx context.Context, s taskstore.Store) error {
		_, err := s.Create(ctx, taskstore.Record{ID: "u", Owner: "alice", Created: start}, taskstore.Quota{PerOwner: 5, Total: 5})
		return err
	},
	saving("completed", false),
	func(ctx context.Context, s taskstore.Store) error { return s.Delete(ctx, "u") },
	func(ctx context.Context, s taskstore.Store) error { return s.Delete(ctx, "t") },
}

func appending(key, value string) func(context.Context, taskstore.Store) error {
	return func(ctx context.Context, s taskstore.Store) error { return s.Append(ctx, "t", key, []byte(value)) }
}

func saving(data string, leased bool) func(context.Context, taskstore.Store) error {
	return func(ctx context.Context, s taskstore.Store) error {
		r, err := s.Load(ctx, "t")
		if err != nil {
			return err
		}
		r.Data, r.Lease = []byte(data), time.Time{}
		if leased {
			r.Lease = start
		}
		_, err = s.Save(ctx, r)
		return err
	}
}

// child is the process that is killed. It does one write for each byte that it reads,
// and writes a byte when that has returned.
func child() {
	file := os.Getenv(childEnv)
	if file == "" {
		return
	}
	ctx := context.Background()
	s, err := store.Open(ctx, file)
	in := bufio.NewReader(os.Stdin)
	for _, write := range writes {
		if err == nil {
			_, err = in.ReadByte()
		}
		if err == nil {
			err = write(ctx, s)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Print(".")
	}
	_, _ = in.ReadByte() // until it is killed
}

// content is all that can be read of a file.
type content struct {
	Tasks     []taskstore.Record
	Journal   map[string][]byte
	Abandoned []string
}

func read(t *testing.T, s taskstore.Store) content {
	t.Helper()
	var c content
	var err error
	if c.Tasks, _, err = s.List(t.Context(), "alice", "", 10); err != nil {
		t.Fatal(err)
	}
	if c.Journal, err = s.Journal(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	if c.Abandoned, err = s.Abandoned(t.Context(), start.Add(time.Hour), 10); err != nil {
		t.Fatal(err)
	}
	return c
}

// states are what a file holds after each number of writes.
func states(t *testing.T) []content {
	t.Helper()
	s := open(t, fresh(t))
	all := []content{read(t, s)}
	for _, write := range writes {
		if err := write(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		all = append(all, read(t, s))
	}
	return all
}

// A process that is killed between any two writes leaves what had been written. One
// that is killed while it writes leaves that, with or without the last write.
func TestKilled(t *testing.T) {
	want := states(t)
	for n := range len(writes) + 1 {
		for _, begun := range []int{0, 1} { // writes that it has begun and not ended
			if n+begun > len(writes) {
				continue
			}
			t.Run(fmt.Sprintf("%d done %d begun", n, begun), func(t *testing.T) {
				file := fresh(t)
				killAfter(t, file, n, begun)
				s := open(t, file)
				got := read(t, s)
				if !reflect.DeepEqual(got, want[n]) && (begun == 0 || !reflect.DeepEqual(got, want[n+1])) {
					t.Errorf("after %d writes there is\n\t%+v, want\n\t%+v", n, got, want[n])
				}
				create(t, s, "later", nil)
			})
		}
	}
}

// killAfter starts a child and kills it when it has done n writes and been told to
// begin some more.
func killAfter(t *testing.T, file string, n, begun int) {
	t.Helper()
	exe, err := os.Executable()
	check(t, err)
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), childEnv+"="+file)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	check(t, err)
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	for range n {
		_, err := in.Write([]byte("."))
		check(t, err)
		if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
			t.Errorf("the child ended early: %v", err)
		}
	}
	for range begun {
		_, err := in.Write([]byte("."))
		check(t, err)
	}
	check(t, cmd.Process.Kill())
	var killed *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &killed) {
		t.Errorf("the child ended with %v, want that it was killed", err)
	}
}
