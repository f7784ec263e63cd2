// Package handles remembers, from one run of the program to the next, which tasks it
// has started on which servers. Each is a file of its own, so that programs that run
// at the same time do not get into each other's way.
package handles

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// Server says how the server of a task was named. It has no secrets besides those that
// a URL or a command line may hold.
type Server struct {
	URL     string   `json:"url,omitzero"`
	Command []string `json:"command,omitzero"`
	Dir     string   `json:"dir,omitzero"`    // in which the command was started
	Entry   string   `json:"entry,omitzero"`  // the name in a configuration file
	Config  string   `json:"config,omitzero"` // that file
	// Revision is the one in which the task was started.
	Revision string `json:"revision,omitzero"`
}

// Same reports whether two servers were named alike; the revision does not count.
func (s *Server) Same(other *Server) bool {
	return s.URL == other.URL && s.Dir == other.Dir && s.Entry == other.Entry && s.Config == other.Config && slices.Equal(s.Command, other.Command)
}

// Handle is a task that was started.
type Handle struct {
	ID     string         `json:"taskId"`
	Tool   string         `json:"tool"`
	Status mcp.TaskStatus `json:"status,omitzero"` // seen last
	Begun  time.Time      `json:"begun"`
	// Expires is until when the server keeps the task; zero means that it did not say.
	Expires time.Time `json:"expires,omitzero"`
	Server  Server    `json:"server"`
}

// kept is how long a handle is kept that does not expire.
const kept = 30 * 24 * time.Hour

func (h *Handle) over(now time.Time) bool {
	if h.Expires.IsZero() {
		return now.Sub(h.Begun) > kept
	}
	return now.After(h.Expires)
}

// Folder is where handles are kept. It is made when it is needed, readable only for the
// user; "" keeps nothing.
type Folder string

func (f Folder) file(h *Handle) string {
	name, _ := json.Marshal([]any{h.ID, h.Server.URL, h.Server.Command, h.Server.Dir, h.Server.Entry, h.Server.Config}) // texts always encode
	sum := sha256.Sum256(name)
	return filepath.Join(string(f), hex.EncodeToString(sum[:16])+".json")
}

// Put keeps a handle, in place of an earlier one of the same task.
func (f Folder) Put(h *Handle) error {
	if f == "" {
		return errors.New("there is no folder for the user's state")
	}
	raw, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(string(f), "*.new") // only its user can read it
	if err != nil {
		return err
	}
	_, err = file.Write(append(raw, '\n'))
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), f.file(h))
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}

// Remove forgets a handle.
func (f Folder) Remove(h *Handle) error {
	if err := os.Remove(f.file(h)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// All returns the handles, the newest first, and deletes those that are over. Files
// that are none are left out.
func (f Folder) All(now time.Time) ([]*Handle, error) {
	if f == "" {
		return nil, nil
	}
	files, err := os.ReadDir(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []*Handle
	for _, file := range files {
		path := filepath.Join(string(f), file.Name())
		if strings.HasSuffix(path, ".new") {
			if info, err := file.Info(); err == nil && now.Sub(info.ModTime()) > time.Hour {
				_ = os.Remove(path) // somebody was interrupted
			}
			continue
		}
		h := read(path)
		switch {
		case h == nil:
		case h.over(now):
			_ = os.Remove(path)
		default:
			all = append(all, h)
		}
	}
	slices.SortStableFunc(all, func(a, b *Handle) int { return b.Begun.Compare(a.Begun) })
	return all, nil
}

func read(path string) *Handle {
	raw, err := os.ReadFile(path) //nolint:gosec // in the user's own state folder
	h := new(Handle)
	if err != nil || json.Unmarshal(raw, h) != nil || h.ID == "" {
		return nil
	}
	return h
}

// NotFoundError says that no handle, or more than one, begins with a text.
type NotFoundError struct {
	Prefix string
	Among  []*Handle // those that do
}

// Error lists the handles that are meant, perhaps.
func (e *NotFoundError) Error() string {
	if len(e.Among) == 0 {
		return fmt.Sprintf("no task that was started from here begins with %q", e.Prefix)
	}
	var ids []string
	for _, h := range e.Among {
		ids = append(ids, h.ID)
	}
	return fmt.Sprintf("several tasks begin with %q: %s", e.Prefix, strings.Join(ids, ", "))
}

// Find returns the handle with an ID or, if there is none, the only one whose ID begins
// with the text. The error is a *NotFoundError. A nil server stands for any.
func Find(all []*Handle, prefix string, server *Server) (*Handle, error) {
	var exact, begin []*Handle
	for _, h := range all {
		switch {
		case server != nil && !server.Same(&h.Server):
		case h.ID == prefix:
			exact = append(exact, h)
		case strings.HasPrefix(h.ID, prefix):
			begin = append(begin, h)
		}
	}
	found := exact
	if len(found) == 0 {
		found = begin
	}
	if len(found) != 1 || prefix == "" {
		return nil, &NotFoundError{prefix, found}
	}
	return found[0], nil
}
