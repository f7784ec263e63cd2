package skill

import (
	"errors"
	"fmt"

	"github.com/parley-mcp/parley/mcp"
)

// CheckEntry checks the entry for a skill: its URI, that its name is the last
// segment of its path, and that its files are listed in full and within the limits,
// each once and below its directory. It does not check what only the rules of Agent
// Skills demand, as Check does. An error that is ErrTooLarge says that the skill may
// be good, but is larger than hosts have to accept.
//
// Spec: ext-skills/stable skills#skill-entries.
func CheckEntry(s *mcp.Skill) error {
	root, err := Root(s.URI)
	if err != nil {
		return err
	}
	name, _, err := Texts(s.Frontmatter)
	if err != nil {
		return fmt.Errorf("the frontmatter of %s: %w", s.URI, err)
	}
	if Name(root) != name {
		return fmt.Errorf("%s: the directory must have the skill's name, which is %.80q", s.URI, name)
	}
	if s.Resources.Dynamic {
		return nil
	}
	if !s.Resources.Valid() {
		return fmt.Errorf("%s: the resources are neither a list of files nor \"dynamic\"", s.URI)
	}
	if err := checkFiles(s.URI, root, s.Resources.Files); err != nil {
		return fmt.Errorf("%s: %w", s.URI, err)
	}
	return nil
}

// ErrTooLarge says that a skill exceeds the limits within which every host accepts
// it.
var ErrTooLarge = errors.New("larger than hosts have to accept")

// Spec: ext-skills/stable skills#resources.
func checkFiles(uri, root string, files []mcp.SkillResource) error {
	seen, itself := map[string]bool{}, false
	var total int64
	for _, f := range files {
		name, err := Path(root, f.URI)
		if err != nil {
			return err
		}
		if err := CheckDigest(f.Digest); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if f.Size < 0 {
			return fmt.Errorf("%s: the size is %d", name, f.Size)
		}
		if seen[name] {
			return fmt.Errorf("%s is listed twice", name)
		}
		seen[name] = true
		itself = itself || f.URI == uri
		total += min(f.Size, MaxBytes+1) // so that sums of lies do not overflow
	}
	if !itself {
		return fmt.Errorf("%s is not among the files", File)
	}
	return CheckLimits(len(files), total)
}

// CheckLimits checks the number of a skill's files and the bytes that they have
// together. The error is ErrTooLarge.
//
// Spec: ext-skills/stable skills#limits.
func CheckLimits(files int, bytes int64) error {
	switch {
	case files > MaxFiles:
		return fmt.Errorf("%d files, and a skill may have %d: %w", files, MaxFiles, ErrTooLarge)
	case bytes > MaxBytes:
		return fmt.Errorf("the files have more than %d bytes together: %w", MaxBytes, ErrTooLarge)
	}
	return nil
}
