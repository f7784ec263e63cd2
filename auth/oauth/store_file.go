package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// fileStore is a folder with a file for each key.
type fileStore struct{ dir string }

// NewFileStore returns a Store in a folder, with a file for each document, that
// several processes may use at the same time. The folder is created if
// necessary, accessible to its owner only (0700), as are the files (0600).
// Files and folders that others can read are refused. The documents are not
// encrypted.
func NewFileStore(dir string) (Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("token store: %w", err)
	}
	s := &fileStore{dir}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("token store: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("token store: %s is not a folder", dir)
	}
	return s, checkOwn(dir, info)
}

// maxDocument is larger than any token.
const maxDocument = 1 << 20

// path returns the file of a key. Keys hold URLs, which cannot be file names.
func (s *fileStore) path(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:16])+".json")
}

// Load implements Store.
func (s *fileStore) Load(_ context.Context, key string) ([]byte, error) {
	path := s.path(key)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxDocument {
		return nil, fmt.Errorf("token store: %s is not a document of it", path)
	}
	if err := checkOwn(path, info); err != nil {
		return nil, err
	}
	value, err := os.ReadFile(path) //nolint:gosec // its name is a hash
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // another process has just logged out
	}
	return value, err
}

// Update implements Store.
func (s *fileStore) Update(ctx context.Context, key string, change func(context.Context, []byte) ([]byte, error)) error {
	unlock, err := lockFile(ctx, s.path(key)+".lock")
	if err != nil {
		return fmt.Errorf("token store: %w", err)
	}
	defer unlock()
	old, err := s.Load(ctx, key)
	if err != nil {
		return err
	}
	value, err := change(ctx, old)
	if err != nil {
		return err
	}
	if value == nil {
		if err := os.Remove(s.path(key)); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return s.write(s.path(key), value)
}

// write replaces a file atomically: readers get the old one or the new one.
func (s *fileStore) write(path string, value []byte) error {
	f, err := os.CreateTemp(s.dir, "new-*") // it is 0600
	if err != nil {
		return err
	}
	_, err = f.Write(value)
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // it is useless now
	}
	return err
}

// lockFile waits until it has the lock of a file. The file is never removed,
// because one that is removed can be locked twice.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // its name is a hash
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		locked, err := tryLock(f)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if locked {
			return func() { _ = f.Close() }, nil // which unlocks it
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), f.Close())
		}
	}
}
