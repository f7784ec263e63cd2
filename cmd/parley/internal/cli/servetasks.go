package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/pflag"

	"github.com/parley-mcp/parley/cmd/parley/internal/store"
	"github.com/parley-mcp/parley/internal/webserver"
	"github.com/parley-mcp/parley/server"
)

// taskFlags are the flags of serve that have to do with tasks.
type taskFlags struct {
	store string
	lease time.Duration
}

func (f *taskFlags) register(set *pflag.FlagSet) {
	set.StringVar(&f.store, "task-store", "", "keep tasks in `FILE`, from which they go on after a restart; without it, in memory")
	set.DurationVar(&f.lease, "task-lease", 0, "how long the task of a server that died waits for another one with the same file; 30s by default, at least 1s")
}

func (f *taskFlags) check() error {
	switch {
	case f.lease != 0 && f.lease < time.Second:
		return usagef("--task-lease is %s; it is at least 1s, and much longer than a write to the disk takes", f.lease)
	case f.lease != 0 && f.store == "":
		return usagef("--task-lease needs --task-store: without a file, tasks end with the server")
	}
	return nil
}

// open returns where tasks are kept, and a function that closes that.
func (f *taskFlags) open(ctx context.Context, oneUser bool) (server.TaskOptions, func() error, error) {
	o := server.TaskOptions{Lease: f.lease, ListUnowned: oneUser}
	if f.store == "" {
		return o, func() error { return nil }, nil
	}
	s, err := store.Open(ctx, f.store)
	if err != nil {
		return o, nil, usagef("%v", err)
	}
	o.Store = s
	return o, s.Close, nil
}

// endTasks stops the tasks that run, and leaves them to the next server.
func endTasks(ctx context.Context, srv *server.Server) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), webserver.CloseTimeout)
	defer cancel()
	if err := srv.Close(ctx); err != nil {
		return errors.New("some tasks did not stop within " + webserver.CloseTimeout.String())
	}
	return nil
}
