package cli

import (
	"context"
	"crypto/sha256"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
)

// settling is how long a file must not change before it is read: editors and tools write
// in several steps.
const settling = 200 * time.Millisecond

// watch reads the file again when it changes, and when the program is told to by a
// hangup, until stop is called or ctx ends.
func (r *runningGateway) watch(ctx context.Context) (stop func(), err error) {
	files, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	// The folder, and not the file: many programs replace files instead of writing them.
	if err := files.Add(filepath.Dir(r.file)); err != nil {
		_ = files.Close() // nothing was watched
		return nil, err
	}
	hangups := make(chan struct{}, 1)
	release := r.a.hangups(func() {
		select {
		case hangups <- struct{}{}:
		default: // it is known already
		}
	})
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() { r.follow(ctx, files, hangups) }) // ends with stop
	return func() {
		cancel()
		release()
		_ = files.Close() // it has nothing to say
		work.Wait()
	}, nil
}

// follow reads the file again whenever something may have changed.
func (r *runningGateway) follow(ctx context.Context, files *fsnotify.Watcher, hangups <-chan struct{}) {
	settled := time.NewTimer(settling)
	settled.Stop()
	seen := digestOf(r.file)
	for {
		select {
		case <-ctx.Done():
			return
		case _, ok := <-files.Events:
			if !ok {
				return
			}
			settled.Reset(settling)
		case err := <-files.Errors:
			r.logger.Warn("changes of the configuration may go unnoticed", "error", err)
		case <-hangups:
			seen = digestOf(r.file)
			r.reload(ctx)
		case <-settled.C:
			if now := digestOf(r.file); now != seen && now != (digest{}) {
				seen = now
				r.reload(ctx)
			}
		}
	}
}

// digest identifies the content of a file; zero is a file that cannot be read.
type digest [sha256.Size]byte

func digestOf(path string) digest {
	content, err := os.ReadFile(path) //nolint:gosec // the user named it
	if err != nil {
		return digest{}
	}
	return sha256.Sum256(content)
}

// reload makes the gateway serve what the file says now. If that is wrong, everything
// stays as it was.
func (r *runningGateway) reload(ctx context.Context) {
	old := r.config
	c, err := config.Read(r.file, r.a.environment(ctx))
	if err == nil {
		err = r.load(ctx, c)
	}
	if err != nil {
		r.logger.Error("the configuration is wrong, and the one from before stays", "file", r.file, "error", err)
		return
	}
	r.logger.Info("the configuration was read again", "file", r.file, "backends", len(c.Backends))
	if !reflect.DeepEqual(old.Listen, c.Listen) || !reflect.DeepEqual(old.Auth, c.Auth) || viewNames(old) != viewNames(c) {
		r.logger.Warn("what the file says of addresses, authorization, or the names of views takes effect when the gateway is started again")
	}
	r.look(ctx, looking)
}

// viewNames names the views of a configuration.
func viewNames(c *config.Config) (names string) {
	for _, v := range c.Views {
		names += v.Name + " "
	}
	return names
}
