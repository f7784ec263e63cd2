package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/parley-mcp/parley/internal/check/report"
	"github.com/parley-mcp/parley/internal/check/verdict"
)

var update = flag.Bool("update", false, "write the golden files")

func render(t *testing.T, format string, r *verdict.Report, o report.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Write(&b, format, r, o); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return b.String()
}

// extensions of the golden files.
var extensions = map[string]string{"text": ".txt", "json": ".json", "junit": ".xml", "sarif": ".sarif", "markdown": ".md", "html": ".html", "badge": ".svg"}

func TestGolden(t *testing.T) {
	for name, r := range map[string]*verdict.Report{"whole": sample(), "partial": partial()} {
		for _, format := range report.Formats() {
			t.Run(name+"/"+format, func(t *testing.T) {
				got := render(t, format, r, report.Options{})
				file := filepath.Join("testdata", name+extensions[format])
				if *update {
					if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if got != string(want) {
					t.Errorf("it is not %s; look at the difference after go test ./internal/check/report -update", file)
				}
			})
		}
	}
}

func TestPartialIsMarkedInEachFormat(t *testing.T) {
	for _, format := range report.Formats() {
		if got := render(t, format, partial(), report.Options{}); !strings.Contains(strings.ToLower(got), "partial") {
			t.Errorf("%s does not say that the report is partial", format)
		}
		if got := render(t, format, sample(), report.Options{}); strings.Contains(got, "Partial report") {
			t.Errorf("%s says that a whole report is partial", format)
		}
	}
}

func TestNobodySaysCompliant(t *testing.T) {
	for _, format := range report.Formats() {
		got := strings.ToLower(render(t, format, sample(), report.Options{}))
		if strings.Contains(got, "complian") {
			t.Errorf("%s says that something is compliant", format)
		}
		if !strings.Contains(got, "verified") {
			t.Errorf("%s does not say how much was verified", format)
		}
	}
}

func TestRowsWithoutPointsAreMarked(t *testing.T) {
	r := sample()
	r.Runs[0].Verdicts[1].Unscored = true
	for _, format := range []string{"text", "junit", "sarif", "markdown", "html"} {
		if got := strings.Join(strings.Fields(render(t, format, r, report.Options{})), " "); !strings.Contains(got, "it costs no points") {
			t.Errorf("%s does not say that a failure costs no points", format)
		}
	}
}

// The last line of the terminal must not say more than what was seen.
func TestLastLine(t *testing.T) {
	known := sample()
	for i := range known.Runs {
		for j := range known.Runs[i].Verdicts {
			if v := &known.Runs[i].Verdicts[j]; v.Failed() {
				v.Known = "yes"
			}
		}
	}
	passed := sample()
	passed.Runs = []verdict.Run{{Revision: "2026-07-28", Verdicts: []verdict.Verdict{of("26.server.tools-001", verdict.Pass)}}}
	early := grade(passed)
	cut := *early
	cut.Partial = "interrupted"
	empty := &verdict.Report{}
	empty.Grade()
	for want, r := range map[string]*verdict.Report{
		"2 MUSTs failed; 35.6 of 100, 7 of 9 rows verified.":                                 sample(),
		"No MUST failed but what is known; 35.6 of 100, 7 of 9 rows verified.":               known,
		"No MUST was seen to fail; 100 of 100, 1 of 1 rows verified.":                        early,
		"No MUST was seen to fail; 100 of 100, 1 of 1 rows verified. The report is partial.": &cut,
		"Nothing was verified.": empty,
	} {
		got := strings.TrimSpace(render(t, "text", r, report.Options{Width: 200}))
		if last := got[strings.LastIndex(got, "\n")+1:]; last != want {
			t.Errorf("the last line is %q, want %q", last, want)
		}
	}
}

func TestUnknownFormat(t *testing.T) {
	err := report.Write(io.Discard, "pdf", sample(), report.Options{})
	if err == nil || !strings.Contains(err.Error(), "html") {
		t.Errorf("the error is %v, want one that lists the formats", err)
	}
}

// The schemas are that of this package, and that of SARIF 2.1.0 without its words.
func TestSchemas(t *testing.T) {
	for format, file := range map[string]string{"json": "report.schema.json", "sarif": "testdata/sarif-2.1.0.schema.json"} {
		schema, err := jsonschema.NewCompiler().Compile(file)
		if err != nil {
			t.Fatal(err)
		}
		empty := &verdict.Report{}
		empty.Grade()
		for name, r := range map[string]*verdict.Report{"whole": sample(), "partial": partial(), "empty": empty, "hostile": hostile("\x00\xff\u202e</script>")} {
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(render(t, format, r, report.Options{})))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(doc); err != nil {
				t.Errorf("%s of the %s report: %v", format, name, err)
			}
		}
	}
}

func TestJUnitCounts(t *testing.T) {
	var suites struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Skipped  int `xml:"skipped,attr"`
		Cases    []struct {
			Failure *struct{} `xml:"failure"`
			Skipped *struct{} `xml:"skipped"`
			Error   *struct{} `xml:"error"`
		} `xml:"testsuite>testcase"`
	}
	if err := xml.Unmarshal([]byte(render(t, "junit", sample(), report.Options{})), &suites); err != nil {
		t.Fatal(err)
	}
	failures, skipped := 0, 0
	for _, c := range suites.Cases {
		if c.Failure != nil {
			failures++
		}
		if c.Skipped != nil {
			skipped++
		}
	}
	if suites.Tests != 10 || len(suites.Cases) != 10 || failures != suites.Failures || failures != 2 || skipped != suites.Skipped || skipped != 4 {
		t.Errorf("%d tests, %d failures, %d skipped of %d, %d, %d cases, want 10, 2 and 4", suites.Tests, suites.Failures, suites.Skipped, len(suites.Cases), failures, skipped)
	}
}

// What a peer says must not become part of the report's own form.
func TestHostileText(t *testing.T) {
	attack := "\x1b[2J\x1b]0;x\x07\u202eevil\u2066\u200b\u009b31m\xff</script></pre><script>alert(1)</script><img src=x onerror=alert(1)> ``` \n```\n| a | @someone #12 https://evil.example ]]> [x](javascript:alert(1)) \U000e0041"
	for _, format := range report.Formats() {
		got := render(t, format, hostile(attack), report.Options{Colour: false})
		for _, bad := range []string{"\x1b", "\u202e", "\u2066", "\u200b", "\u009b", "\x07", "\U000e0041"} {
			if strings.Contains(got, bad) {
				t.Errorf("%s contains %q of the peer", format, bad)
			}
		}
		switch format {
		case "html", "junit", "badge":
			for _, bad := range []string{"<img", "<script>alert", "</pre><script"} {
				if strings.Contains(got, bad) {
					t.Errorf("%s contains %q of the peer", format, bad)
				}
			}
		case "markdown":
			markdownIsSafe(t, got)
		}
		if format == "junit" || format == "badge" {
			wellFormed(t, format, got)
		}
	}
}

// markdownIsSafe looks at what is outside of code.
func markdownIsSafe(t *testing.T, text string) {
	t.Helper()
	fence := ""
	for line := range strings.SplitSeq(text, "\n") {
		ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence == "" && len(ticks) >= 3 && ticks == line:
			fence = ticks
			continue
		case fence != "" && line == fence:
			fence = ""
			continue
		case fence != "":
			continue
		}
		line = regexp.MustCompile("(`+) .* `+").ReplaceAllString(line, "")
		for _, bad := range []string{"<img", "<script", "@someone", "#12", "[x](javascript:", "https://evil"} {
			if strings.Contains(line, bad) {
				t.Errorf("a line of the Markdown has %q of the peer:\n%s", bad, line)
			}
		}
	}
	if fence != "" {
		t.Errorf("a block of code does not end")
	}
}

func wellFormed(t *testing.T, format, text string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%s is not well-formed: %v", format, err)
		}
	}
}

// The JSON has what came, although it is written as escapes.
func TestJSONIsExact(t *testing.T) {
	text := "\x1b[2J \u202e \U000e0041 </script> \u200b"
	var doc struct {
		Runs []struct{ Verdicts []struct{ Why string } }
	}
	if err := json.Unmarshal([]byte(render(t, "json", hostile(text), report.Options{})), &doc); err != nil {
		t.Fatal(err)
	}
	if got := doc.Runs[0].Verdicts[0].Why; got != text {
		t.Errorf("the text is %q, want %q", got, text)
	}
}

func TestHugeEvidenceIsCut(t *testing.T) {
	r := hostile(strings.Repeat("ä", 1<<20))
	for _, format := range report.Formats() {
		if format == "json" {
			continue // has everything it is given
		}
		got := render(t, format, r, report.Options{})
		most := 200_000
		if format == "markdown" {
			most = 65_000
		}
		if len(got) > most {
			t.Errorf("%s has %d bytes, want at most %d", format, len(got), most)
		}
	}
}

func TestTextKeepsItsWidth(t *testing.T) {
	for _, width := range []int{60, 80, 120} {
		for line := range strings.SplitSeq(render(t, "text", sample(), report.Options{Width: width}), "\n") {
			if n := len([]rune(line)); n > width && strings.Contains(line, " ") && !strings.Contains(line, "https://") && !strings.Contains(line, "Transport") && !strings.Contains(line, " of ") {
				t.Errorf("a line of %d columns, want at most %d: %s", n, width, line)
			}
		}
	}
	if got := render(t, "text", sample(), report.Options{Colour: true}); !strings.Contains(got, "\x1b[31m") {
		t.Error("there is no colour although it is allowed")
	}
}
