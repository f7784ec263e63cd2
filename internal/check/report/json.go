package report

import (
	"bytes"
	"encoding/json"
	"io"
	"time"
	"unicode/utf8"

	"github.com/parley-mcp/parley/internal/check/verdict"
)

// formatName is the name and version of the JSON format. Members may be added to
// a version; what is there keeps its name and meaning.
const formatName = "parley-check/1"

// The documents add to the types of package verdict what a program would have to
// work out, and write durations in milliseconds.
type (
	document struct {
		Format string `json:"format"`
		verdict.Report
		TookMs int64    `json:"tookMs"`
		Exit   int      `json:"exit"`
		Score  scoreDoc `json:"score"`
		Runs   []runDoc `json:"runs"`
	}
	runDoc struct {
		verdict.Run
		TookMs   int64        `json:"tookMs"`
		Score    scoreDoc     `json:"score"`
		Verdicts []verdictDoc `json:"verdicts"`
	}
	scoreDoc struct {
		verdict.Score
		Verified   int `json:"verified"`
		Applicable int `json:"applicable"`
	}
	verdictDoc struct {
		verdict.Verdict
		URL      string        `json:"url,omitzero"`
		Evidence []evidenceDoc `json:"evidence,omitzero"`
	}
	evidenceDoc struct {
		verdict.Evidence
		AtMs int64 `json:"atMs"`
	}
)

func documentOf(r *verdict.Report) *document {
	d := &document{Format: formatName, Report: *r, TookMs: ms(r.Took), Exit: r.Exit(), Score: scoreDocOf(r.Score), Runs: make([]runDoc, 0, len(r.Runs))}
	d.Started = d.Started.UTC()
	for _, run := range r.Runs {
		rd := runDoc{Run: run, TookMs: ms(run.Took), Score: scoreDocOf(run.Score), Verdicts: make([]verdictDoc, 0, len(run.Verdicts))}
		for _, v := range run.Verdicts {
			vd := verdictDoc{Verdict: v, URL: v.URL()}
			for _, e := range v.Evidence {
				vd.Evidence = append(vd.Evidence, evidenceDoc{Evidence: e, AtMs: ms(e.At)})
			}
			rd.Verdicts = append(rd.Verdicts, vd)
		}
		d.Runs = append(d.Runs, rd)
	}
	return d
}

func scoreDocOf(s verdict.Score) scoreDoc {
	n, of := s.Verified()
	return scoreDoc{Score: s, Verified: n, Applicable: of}
}

func ms(d time.Duration) int64 { return d.Milliseconds() }

func writeJSON(w io.Writer, r *verdict.Report, _ Options) error {
	return writeDocument(w, documentOf(r))
}

// writeDocument writes indented JSON in which everything that is not seen is an
// escape: programs read the same text, and a terminal is safe.
func writeDocument(w io.Writer, doc any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(doc); err != nil {
		return err
	}
	var out bytes.Buffer
	for _, c := range b.String() { // the encoder writes valid UTF-8
		if c != '\n' && c != utf8.RuneError && isHidden(c) {
			out.WriteString(escape(c))
			continue
		}
		out.WriteRune(c)
	}
	_, err := out.WriteTo(w)
	return err
}
