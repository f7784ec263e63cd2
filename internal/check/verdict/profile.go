package verdict

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/parley-mcp/parley/internal/check/requirement"
)

// Profile is the list of rows that have points in one revision and role. It is
// frozen: rows that are found later are judged and shown, but an old score stays
// comparable with a new one. A new list is a new profile, with the next number.
type Profile struct {
	Revision string
	Role     requirement.Role
	Number   int // from 1
	// Rows are the IDs, sorted.
	Rows []string
	// Digest is the SHA-256 of the rows, each followed by a line feed, in
	// hexadecimal.
	Digest string
}

// unfrozen stands for the number where there is no profile: all rows have points.
const unfrozen = "draft"

// Name is the revision and the number, such as 2026-07-28@1.
func (p *Profile) Name() string { return p.Revision + "@" + strconv.Itoa(p.Number) }

// Has reports whether a row belongs to the profile.
func (p *Profile) Has(row string) bool {
	_, ok := slices.BinarySearch(p.Rows, row)
	return ok
}

// missing makes the verdicts of the rows that have none.
func (p *Profile) missing(verdicts []Verdict) []Verdict {
	have := map[string]bool{}
	for i := range verdicts {
		have[verdicts[i].Row] = true
	}
	var all []Verdict
	for _, id := range p.Rows {
		row := requirement.ByID(id)
		if have[id] || row == nil {
			continue // a test says which rows are gone
		}
		all = append(all, Verdict{
			Row: id, Level: row.Level, Text: row.Text, Citation: row.Citation(),
			Outcome: Unverified, Why: "the check did not come to it",
		})
	}
	return all
}

//go:embed profiles
var embedded embed.FS

// profilesDir is where profiles are kept, in the program and in this folder.
const profilesDir = "profiles"

var profiles = sync.OnceValue(func() []*Profile {
	all, err := readProfiles(embedded)
	if err != nil {
		panic("verdict: " + err.Error()) // a test reads them
	}
	return all
})

// ProfileOf returns the newest profile of a revision and role, or nil if there
// is none.
func ProfileOf(revision string, role requirement.Role) *Profile {
	return newest(profiles(), revision, role)
}

func newest(all []*Profile, revision string, role requirement.Role) *Profile {
	var best *Profile
	for _, p := range all {
		if p.Revision == revision && p.Role == role && (best == nil || p.Number > best.Number) {
			best = p
		}
	}
	return best
}

// readProfiles reads all profiles below a folder, and holds each to its digest.
func readProfiles(files fs.FS) ([]*Profile, error) {
	names, err := fs.Glob(files, profilesDir+"/*/*.txt")
	if err != nil {
		return nil, err
	}
	all := make([]*Profile, 0, len(names))
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		p, err := parseProfile(name, string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, p)
	}
	return all, nil
}

const digestMark = "sha256 "

// parseProfile reads one profile: the digest, then one row on each line.
func parseProfile(name, text string) (*Profile, error) {
	revision, number, _ := strings.Cut(strings.TrimSuffix(path.Base(name), ".txt"), "@")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		return nil, errors.New("the name of a profile is a revision, @, and a number from 1")
	}
	first, rest, _ := strings.Cut(text, "\n")
	digest, ok := strings.CutPrefix(first, digestMark)
	if !ok {
		return nil, fmt.Errorf("the first line must be %q and the digest", digestMark)
	}
	p := &Profile{Revision: revision, Role: roleIn(path.Base(path.Dir(name))), Number: n, Rows: strings.Fields(rest), Digest: digest}
	if got := digestOf(p.Rows); got != digest {
		return nil, fmt.Errorf("the rows have the digest %s, not %s: a frozen profile was changed; put it back, and make the next one", got, digest)
	}
	return p, nil
}

// digestOf is the SHA-256 of rows, each on a line of its own.
func digestOf(rows []string) string {
	sum := sha256.Sum256([]byte(strings.Join(rows, "\n") + "\n"))
	return hex.EncodeToString(sum[:])
}

// folderOf and roleIn are inverse: roles have blanks in their names, and folders
// have none.
func folderOf(role requirement.Role) string {
	return strings.ReplaceAll(string(role), " ", "-")
}

func roleIn(folder string) requirement.Role {
	return requirement.Role(strings.ReplaceAll(folder, "-", " "))
}

func sortedSet(rows []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(rows)))
}

// Freeze writes a profile with the rows into the folder of profiles below dir: the
// first of its revision and role, or the next one. It returns the profile, and
// never touches one that is there.
func Freeze(dir, revision string, role requirement.Role, rows []string) (*Profile, error) {
	all, err := readProfiles(os.DirFS(dir))
	if err != nil {
		return nil, err
	}
	p := &Profile{Revision: revision, Role: role, Number: 1, Rows: sortedSet(rows)}
	p.Digest = digestOf(p.Rows)
	if last := newest(all, revision, role); last != nil {
		if last.Digest == p.Digest {
			return last, nil
		}
		p.Number = last.Number + 1
	}
	name := filepath.Join(dir, profilesDir, folderOf(role), p.Name()+".txt")
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the name is made from a row of our own
	if err != nil {
		return nil, err
	}
	_, err = f.WriteString(digestMark + p.Digest + "\n" + strings.Join(p.Rows, "\n") + "\n")
	return p, errors.Join(err, f.Close())
}
