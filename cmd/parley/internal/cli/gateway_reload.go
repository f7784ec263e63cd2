package cli

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	if err := files.Add(filepath.Dir(r.file)); err != nil {
		_ = files.Close() // nothing was watched
		return nil, err
	}
	r.lookAt(files)
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

// lookAt watches the files of the configuration by their folders: many programs replace
// files instead of writing them.
func (r *runningGateway) lookAt(files *fsnotify.Watcher) {
	for _, path := range r.config.Files() {
		if err := files.Add(filepath.Dir(path)); err != nil {
			r.logger.Warn("changes of a file may go unnoticed", "file", path, "error", err)
		}
	}
}

// follow reads the file again whenever something may have changed.
func (r *runningGateway) follow(ctx context.Context, files *fsnotify.Watcher, hangups <-chan struct{}) {
	settled := time.NewTimer(settling)
	settled.Stop()
	of := r.config.Files()
	seen := digestOf(of)
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-files.Events:
			if !ok {
				return
			}
			if concerns(e.Name, of) {
				settled.Reset(settling)
			}
			continue
		case err := <-files.Errors:
			r.logger.Warn("changes of the configuration may go unnoticed", "error", err)
			continue
		case do := <-r.orders:
			do(ctx)
			seen = digestOf(of)
			of = r.followed(files, settled, of)
			continue
		case <-hangups:
			seen = digestOf(of)
		case <-settled.C:
			now := digestOf(of)
			if _, err := os.Stat(r.file); err != nil || now == seen {
				continue // it is about to be replaced, or is as it was
			}
			seen = now
		}
		_, _ = r.reload(ctx) // it says what is wrong
		of = r.followed(files, settled, of)
	}
}

// followed watches the files of the configuration if they are others now, and returns them.
func (r *runningGateway) followed(files *fsnotify.Watcher, settled *time.Timer, of []string) []string {
	now := r.config.Files()
	if !slices.Equal(now, of) {
		r.lookAt(files)
		settled.Reset(settling) // for what has changed before it was looked at
	}
	return now
}

// order has the goroutine that reads the configuration do something, and waits for it.
func (r *runningGateway) order(ctx context.Context, f func(context.Context) error) error {
	done := make(chan error, 1)
	select {
	case r.orders <- func(ctx context.Context) { done <- f(ctx) }:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// concerns reports whether a change in a folder may be one of some files. Kubernetes
// replaces the link ..data that the files are reached through.
func concerns(name string, files []string) bool {
	return filepath.Base(name) == "..data" || slices.ContainsFunc(files, func(f string) bool { return filepath.Clean(f) == filepath.Clean(name) })
}

// digest identifies the content of files.
type digest [sha256.Size]byte

// digestOf digests files. That one cannot be read is content, too.
func digestOf(paths []string) (d digest) {
	hash := sha256.New()
	for _, path := range paths {
		content, err := os.ReadFile(path) //nolint:gosec // the user named it
		fmt.Fprintf(hash, "%q %t %d\n", path, err == nil, len(content))
		_, _ = hash.Write(content) // never fails
	}
	hash.Sum(d[:0])
	return d
}

// reload makes the gateway serve what the file says now. If that is wrong, everything
// stays as it was.
func (r *runningGateway) reload(ctx context.Context) (changes config.Changes, err error) {
	if log := r.posts.audit; log != nil {
		log.Follow() // whoever has moved its file tells the gateway like this
	}
	c, err := config.Read(r.file, r.a.environment(ctx))
	if err == nil {
		if changes = config.Difference(r.config, c); !changes.IsEmpty() {
			err = r.load(ctx, c)
		}
	}
	r.shown.failed(err, r.hidden.Now())
	if err != nil {
		r.logger.Error("the configuration is wrong, and the one from before stays", "file", r.file, "error", err)
		return changes, err
	}
	r.logger.Info("the configuration was read again", "file", r.file, "changes", changes.String())
	if len(changes.Front) > 0 {
		r.logger.Warn("some changes take effect when the gateway is started again", "keys", changes.Front)
	}
	if !changes.IsEmpty() {
		r.look(ctx, looking)
	}
	r.watchers.tell("overview")
	return changes, nil
}
