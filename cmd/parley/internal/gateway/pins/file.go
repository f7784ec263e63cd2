package pins

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"github.com/parley-mcp/parley/internal/wire"
)

// Key names a definition.
type Key struct {
	Backend string `json:"backend"`
	Kind    string `json:"kind"`
	Name    string `json:"name"`
}

// String is BACKEND/KIND/NAME.
func (k Key) String() string { return k.Backend + "/" + k.Kind + "/" + k.Name }

func (k Key) compare(other Key) int {
	return cmp.Or(cmp.Compare(k.Backend, other.Backend), cmp.Compare(k.Kind, other.Kind), cmp.Compare(k.Name, other.Name))
}

// Version is a definition as it was at a time.
type Version struct {
	// Digest identifies it: the SHA-256 of its canonical form.
	Digest     string          `json:"digest"`
	Since      time.Time       `json:"since"`
	Definition json.RawMessage `json:"definition"`
}

// Pin is what is known of a definition.
type Pin struct {
	Key
	// Approved is the version that was approved last; nil if none was approved yet.
	Approved *Version `json:"approved,omitzero"`
	// Also are versions that were approved before, the latest first, and may still be used:
	// a server can show each of its users a version of their own.
	Also []Version `json:"also,omitzero"`
	// Pending is another version, which the backend has shown and nobody has approved; nil
	// if there is none.
	Pending *Version `json:"pending,omitzero"`
}

// maxAlso bounds Also. Beyond it, what was approved first has to be approved again.
const maxAlso = 100

// trusts reports whether a version was approved.
func (p *Pin) trusts(digest string) bool {
	return p.Approved != nil && p.Approved.Digest == digest ||
		slices.ContainsFunc(p.Also, func(v Version) bool { return v.Digest == digest })
}

// approve approves the pending version, besides those that were approved before.
func (p *Pin) approve() {
	if p.Approved != nil {
		p.Also = slices.Insert(slices.Clone(p.Also), 0, *p.Approved)
		p.Also = p.Also[:min(len(p.Also), maxAlso)]
	}
	p.Approved, p.Pending = p.Pending, nil
}

// document is the form of the file.
type document struct {
	Version int   `json:"version"`
	Pins    []Pin `json:"pins"`
}

const fileVersion = 1

// File is a file of pins. Several processes may use it: each change takes the newest
// state of it.
type File struct{ path string }

// Open returns a file of pins, which is created with the first of them.
func Open(path string) *File { return &File{path} }

// Read returns all pins, in order.
func (f *File) Read() ([]Pin, error) {
	text, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var doc document
	if err := wire.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("%s is no file of pins: %w", f.path, err)
	}
	if doc.Version != fileVersion {
		return nil, fmt.Errorf("%s has version %d of the format; this program knows version %d", f.path, doc.Version, fileVersion)
	}
	for i := range doc.Pins {
		if err := doc.Pins[i].check(); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", f.path, doc.Pins[i].Key, err)
		}
	}
	return doc.Pins, nil
}

// check refuses a pin that somebody has edited: what is shown must be what is approved.
func (p *Pin) check() error {
	versions := []*Version{p.Approved, p.Pending}
	for i := range p.Also {
		versions = append(versions, &p.Also[i])
	}
	for _, v := range versions {
		if v == nil {
			continue
		}
		if digest, err := Digest(v.Definition); err != nil || digest != v.Digest {
			return errors.New("the digest is not that of the definition beside it")
		}
	}
	return nil
}

// change changes the pins in the file, and returns what is there then. Another process
// waits meanwhile.
func (f *File) change(how func(map[Key]*Pin)) ([]Pin, error) {
	lock := flock.New(f.path+".lock", flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return nil, err
	}
	defer lock.Unlock() //nolint:errcheck // it is closed in any case
	list, err := f.Read()
	if err != nil {
		return nil, err
	}
	pins := make(map[Key]*Pin, len(list))
	for i := range list {
		pins[list[i].Key] = &list[i]
	}
	how(pins)
	list = make([]Pin, 0, len(pins))
	for _, p := range pins {
		list = append(list, *p)
	}
	slices.SortFunc(list, func(a, b Pin) int { return a.compare(b.Key) })
	return list, f.write(list)
}

// write replaces the file as a whole.
func (f *File) write(list []Pin) error {
	text, err := json.MarshalIndent(document{fileVersion, list}, "", "  ")
	if err != nil {
		return err
	}
	out, err := os.CreateTemp(filepath.Dir(f.path), filepath.Base(f.path)+".new-*")
	if err != nil {
		return err
	}
	_, err = out.Write(append(text, '\n'))
	if err = errors.Join(err, out.Sync(), out.Close()); err == nil {
		err = os.Rename(out.Name(), f.path)
	}
	if err != nil {
		_ = os.Remove(out.Name()) // it is of no use
	}
	return err
}

// Approve approves the pending versions of the pins that wanted says yes to, and returns
// the pins that were changed. What was approved before may still be used; Forget ends that.
func (f *File) Approve(wanted func(Key) bool) ([]Pin, error) {
	var approved []Pin
	_, err := f.change(func(pins map[Key]*Pin) {
		for key, p := range pins {
			if p.Pending != nil && wanted(key) {
				p.approve()
				approved = append(approved, *p)
			}
		}
	})
	slices.SortFunc(approved, func(a, b Pin) int { return a.compare(b.Key) })
	return approved, err
}

// ErrOther is why a version of a pin is not approved, or its approval not withdrawn: it is
// not the one that is there.
var ErrOther = errors.New("this is not the version that is there now; look at the difference again")

// ApproveVersion approves the pending version of one pin, if it is the one with this
// digest: what somebody has looked at. It returns what was approved before, which may be
// nil.
func (f *File) ApproveVersion(key Key, digest string) (before *Version, err error) {
	found := false
	_, err = f.change(func(pins map[Key]*Pin) {
		p := pins[key]
		if found = p != nil && p.Pending != nil && p.Pending.Digest == digest; found {
			before = p.Approved
			p.approve()
		}
	})
	if err == nil && !found {
		err = ErrOther
	}
	return before, err
}

// Withdraw takes all approvals of one pin back, if what was approved last has this digest: it
// waits for approval again, or what has come since does.
func (f *File) Withdraw(key Key, digest string) error {
	found := false
	_, err := f.change(func(pins map[Key]*Pin) {
		p := pins[key]
		if found = p != nil && p.Approved != nil && p.Approved.Digest == digest; !found {
			return
		}
		if p.Pending == nil {
			p.Pending = p.Approved
		}
		p.Approved, p.Also = nil, nil
	})
	if err == nil && !found {
		err = ErrOther
	}
	return err
}

// Forget removes the pins that wanted says yes to: the next sight of them is the first.
func (f *File) Forget(wanted func(Key) bool) (forgotten int, err error) {
	_, err = f.change(func(pins map[Key]*Pin) {
		for key := range pins {
			if wanted(key) {
				delete(pins, key)
				forgotten++
			}
		}
	})
	return forgotten, err
}
