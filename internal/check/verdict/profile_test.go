package verdict

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parley-mcp/parley/internal/check/requirement"
)

func TestFreeze(t *testing.T) {
	dir := t.TempDir()
	first, err := Freeze(dir, "2026-07-28", requirement.Authorization, []string{"b", "a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	// printf 'a\nb\n' | sha256sum
	if want := "911169ddaaf146aff539f58c26c489af3b892dff0fe283c1c264c65ae5aa59a2"; first.Name() != "2026-07-28@1" || first.Digest != want {
		t.Errorf("the first profile is %s with %s, want 2026-07-28@1 with %s", first.Name(), first.Digest, want)
	}
	file := filepath.Join(dir, "profiles", "authorization-server", "2026-07-28@1.txt")
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if same, err := Freeze(dir, "2026-07-28", requirement.Authorization, []string{"a", "b"}); err != nil || same.Number != 1 {
		t.Errorf("the same rows make %v, %v, want the profile that is there", same, err)
	}
	if second, err := Freeze(dir, "2026-07-28", requirement.Authorization, []string{"a", "b", "c"}); err != nil || second.Number != 2 {
		t.Errorf("other rows make %v, %v, want number 2", second, err)
	}
	if after, err := os.ReadFile(file); err != nil || string(after) != string(before) {
		t.Errorf("the first profile was changed: %v", err)
	}
	all, err := readProfiles(os.DirFS(dir))
	if err != nil || newest(all, "2026-07-28", requirement.Authorization).Number != 2 {
		t.Errorf("the profiles are %v, %v, want number 2 as the newest", all, err)
	}
}

func TestProfileThatWasChanged(t *testing.T) {
	good := digestMark + digestOf([]string{"a", "b"}) + "\na\nb\n"
	for name, tc := range map[string]struct{ file, text, want string }{
		"a row was added": {"2026-07-28@1.txt", good + "c\n", "a frozen profile was changed"},
		"no digest":       {"2026-07-28@1.txt", "a\nb\n", "the first line"},
		"no number":       {"2026-07-28.txt", good, "a number from 1"},
		"number 0":        {"2026-07-28@0.txt", good, "a number from 1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readProfiles(fstest.MapFS{"profiles/server/" + tc.file: {Data: []byte(tc.text)}})
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), tc.file) {
				t.Errorf("the error is %v, want one that names the file and says %q", err, tc.want)
			}
		})
	}
}

// A row that is not in the profile is shown, and one that has no verdict counts.
func TestRowsOutsideOfTheProfile(t *testing.T) {
	var must []string
	for r := range requirement.All() {
		if r.Must() && r.HoldsIn("2026-07-28") {
			must = append(must, r.ID)
		}
	}
	p := &Profile{Revision: "2026-07-28", Number: 1, Rows: slices.Sorted(slices.Values(must[:2])), Digest: "d"}
	r := Run{Revision: "2026-07-28", Verdicts: []Verdict{
		{Row: must[0], Level: "MUST", Outcome: Pass},
		{Row: must[2], Level: "MUST", Outcome: Fail},
	}}
	r.grade(p)
	if r.Score.Must != (Count{Passed: 1, Unverified: 1}) || r.Score.Points != 50 {
		t.Errorf("the score is %+v, want one that passed and one that was not verified", r.Score)
	}
	if len(r.Verdicts) != 3 || !r.Verdicts[1].Unscored || r.Verdicts[0].Unscored {
		t.Errorf("the verdicts are %+v, want the second without points, and a third for the row that is missing", r.Verdicts)
	}
	if r.Profile != "2026-07-28@1" || r.Digest != "d" {
		t.Errorf("the profile is %s with %s", r.Profile, r.Digest)
	}
	r.grade(p)
	if len(r.Verdicts) != 3 {
		t.Errorf("grading again makes %d verdicts, want 3", len(r.Verdicts))
	}
}
