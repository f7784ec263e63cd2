package lint

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/check/sarif"
)

// Names and descriptions that would be more than text in a report.
const nasty = `{"tools":[{"name":"<img src=x>|` + "`" + `[a](b)","title":"\u202e","description":"![x](https://example.com/x.png)","inputSchema":5}]}`

// A page shows what definitions say, and does nothing of it.
func TestMarkdownIsHarmless(t *testing.T) {
	r := lintText(t, nasty, &Options{Accepted: []Acceptance{{"content/image", "", "a | <b>reason</b>"}}})
	md := r.Markdown()
	for _, bad := range []string{"<img", "<b>", "](", "\u202e", "![", "https://"} {
		if strings.Contains(md, bad) {
			t.Errorf("the page has %q:\n%s", bad, md)
		}
	}
	for line := range strings.SplitSeq(md, "\n") {
		if strings.HasPrefix(line, "| ") && strings.Count(line, "|") != 6 {
			t.Errorf("a row has other cells: %s", line)
		}
	}
	if !strings.Contains(md, "accepted: a &#124; &#60;b&#62;reason") && !strings.Contains(md, "accepted&#58; a &#124; &#60;b&#62;reason") {
		t.Errorf("the reason is missing:\n%s", md)
	}
}

// Each result of SARIF has a rule, a file, and a suppression if it is accepted.
func TestSARIF(t *testing.T) {
	servers, err := Read([]byte(nasty), "my file.json")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := Run(servers, &Options{Accepted: []Acceptance{{"content/image", "", "it is old"}}}).SARIF("1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	var log sarif.Log
	if err := json.Unmarshal(raw, &log); err != nil {
		t.Fatal(err)
	}
	rules := map[string]bool{}
	for _, r := range log.Runs[0].Tool.Driver.Rules {
		rules[r.ID] = true
	}
	accepted := 0
	for _, r := range log.Runs[0].Results {
		if !rules[r.RuleID] || r.Locations[0].Physical.Artifact.URI != "my%20file.json" || r.Fingerprints["definition/v1"] == "" {
			t.Errorf("the result is %+v", r)
		}
		accepted += len(r.Suppressions)
	}
	if accepted != 1 || log.Runs[0].Tool.Driver.Version != "1.2.3" {
		t.Errorf("%d results are suppressed, of the version %q", accepted, log.Runs[0].Tool.Driver.Version)
	}
}
