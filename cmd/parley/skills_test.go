package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/cli"
	"github.com/parley-mcp/parley/internal/skill"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// skills is a server of the skills in a folder, as skill://PATH/SKILL.md, which lies about
// them: each line of the file "lies", if there is one in the folder, is a regular
// expression, " => ", and what takes the place of what it matches in an answer about
// entries. Files are read for each request. A file "slow" is never sent.
func skills(dir string) *server.Server {
	s := server.New(mcp.Implementation{Name: "docs", Version: "1"}, &server.Options{
		Logger:     slog.New(slog.DiscardHandler),
		Announce:   server.Features{Resources: true},
		Extensions: map[string]any{mcp.ExtensionSkills: nil},
	})
	s.Use(func(next mcp.ServeFunc) mcp.ServeFunc {
		return func(ctx context.Context, x *mcp.Exchange) (any, error) {
			uri := mcp.MethodNamed(x.Method).SubjectOf(x.Params)
			switch x.Method {
			case mcp.MethodListSkills:
				entries, err := skillEntries(dir)
				return told(dir, map[string]any{"skills": entries, "ttlMs": 0, "cacheScope": "private"}, err)
			case mcp.MethodGetSkill:
				entry, err := skillEntry(dir, path.Dir(strings.TrimPrefix(uri, "skill://")))
				if errors.Is(err, fs.ErrNotExist) {
					return nil, &mcp.ResourceNotFoundError{URI: uri}
				}
				return told(dir, map[string]any{"skill": entry, "ttlMs": 0, "cacheScope": "private"}, err)
			case mcp.MethodReadResource:
				if path.Base(uri) == "slow.md" {
					<-ctx.Done()
				}
				data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(uri, "skill://"))))
				if err != nil {
					return nil, &mcp.ResourceNotFoundError{URI: uri}
				}
				return server.Contents(mcp.BlobResource(uri, "", data)), nil
			}
			return next(ctx, x)
		}
	})
	return s
}

// skillEntries returns the entries of all skills in a folder.
func skillEntries(dir string) ([]*mcp.Skill, error) {
	entries := []*mcp.Skill{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != skill.File {
			return err
		}
		at, _ := filepath.Rel(dir, filepath.Dir(name))
		entry, err := skillEntry(dir, filepath.ToSlash(at))
		entries = append(entries, entry)
		return err
	})
	return entries, err
}

func skillEntry(dir, at string) (*mcp.Skill, error) {
	root := filepath.Join(dir, filepath.FromSlash(at))
	text, err := os.ReadFile(filepath.Join(root, skill.File))
	if err != nil {
		return nil, err
	}
	s := &mcp.Skill{URI: "skill://" + at + "/" + skill.File}
	if s.Frontmatter, err = skill.Frontmatter(text); err != nil {
		return nil, err
	}
	return s, filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(root, name)
		s.Resources.Files = append(s.Resources.Files, mcp.SkillResource{
			URI: skill.URI("skill://"+at, filepath.ToSlash(rel)), Digest: skill.Digest(data), Size: int64(len(data)),
		})
		return err
	})
}

// told returns an answer with the lies in it.
func told(dir string, answer any, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(answer)
	lies, _ := os.ReadFile(filepath.Join(dir, "lies"))
	for line := range strings.Lines(string(lies)) {
		if truth, lie, ok := strings.Cut(strings.TrimSpace(line), " => "); ok {
			raw = regexp.MustCompile(truth).ReplaceAll(raw, []byte(lie))
		}
	}
	return json.RawMessage(raw), err
}

// A pull that is interrupted leaves nothing behind of the skill at which it was.
func TestInterruptEndsPull(t *testing.T) {
	t.Parallel()
	shelf, dir := t.TempDir(), filepath.Join(t.TempDir(), "pulled")
	for name, text := range map[string]string{"a/SKILL.md": "---\nname: a\ndescription: d\n---\n", "b/SKILL.md": "---\nname: b\ndescription: d\n---\n", "b/slow.md": ""} {
		file := filepath.Join(shelf, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var out bytes.Buffer
	code := cli.Run(ctx, piped(&out, onText{`"uri":"skill://b/slow.md"}`, interrupt}), []string{"skills", "pull", "--trace", "--label", "docs", dir, "--", "fixture", "skills", shelf})
	if code != 130 || !strings.HasPrefix(out.String(), "new       a") {
		t.Errorf("exit code = %d, output %q", code, &out)
	}
	var found []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if !d.IsDir() {
			found = append(found, name)
		}
		return err
	})
	if want := []string{".parley-pull.lock", "docs/skill=/a/.parley.json", "docs/skill=/a/SKILL.md"}; err != nil || !slices.Equal(found, want) {
		t.Errorf("there is %q, want %q; %v", found, want, err)
	}
}
