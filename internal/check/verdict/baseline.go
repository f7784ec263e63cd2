package verdict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"

	"github.com/parley-mcp/parley/internal/check/requirement"
)

// Entry is a failure that is known and accepted.
type Entry struct {
	// Revision is the one in which the row fails; "" is every revision.
	Revision string           `json:"revision,omitzero"`
	Role     requirement.Role `json:"role"`
	Row      string           `json:"row"`
	// Reason says why the failure is accepted, and perhaps until when.
	Reason string `json:"reason"`
	// Line is where the entry stands in its file, from 1.
	Line int `json:"-"`
}

// Baseline is a list of known failures. They are reported and cost points, but
// do not set the exit code.
type Baseline []Entry

// The bounds of a baseline, far above what anybody writes.
const (
	maxBaseline = 4 << 20 // bytes
	maxDepth    = 16
)

// ReadBaseline reads a baseline: a YAML list of mappings with the members
// revision (left out: every one), role, row and reason. An entry without a
// reason, with a row that there is not, with a member that there is not, or that
// is there twice, is an error that names its line.
func ReadBaseline(r io.Reader) (Baseline, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxBaseline+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxBaseline:
		return nil, fmt.Errorf("the baseline has more than %d bytes", maxBaseline)
	case onlyComments(text):
		return nil, nil
	}
	var root yaml.Node
	if err := yaml.Load(text, &root, yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(maxDepth)))); err != nil {
		return nil, fmt.Errorf("the baseline is not YAML: %w", err)
	}
	list := &root
	if list.Kind == yaml.DocumentNode && len(list.Content) == 1 {
		list = list.Content[0]
	}
	if list.Kind != yaml.SequenceNode {
		return nil, errors.New("the baseline must be a list of entries with revision, role, row and reason")
	}
	return entries(list)
}

// onlyComments reports whether a file has no entries yet.
func onlyComments(text []byte) bool {
	for l := range bytes.SplitSeq(text, []byte("\n")) {
		l = bytes.TrimSpace(l)
		if len(l) > 0 && l[0] != '#' && string(l) != "---" {
			return false
		}
	}
	return true
}

// entries reads all entries, so that one error names all that is to be mended.
func entries(list *yaml.Node) (Baseline, error) {
	var all Baseline
	var errs []error
	for _, n := range list.Content {
		e, err := entry(n)
		if err == nil && slices.ContainsFunc(all, e.same) {
			err = fmt.Errorf("%s is in the baseline twice; keep one entry", e.Row)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("line %d: %w", n.Line, err))
			continue
		}
		all = append(all, e)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return all, nil
}

func (e Entry) same(other Entry) bool {
	return e.Revision == other.Revision && e.Role == other.Role && e.Row == other.Row
}

func entry(n *yaml.Node) (Entry, error) {
	e := Entry{Line: n.Line}
	if n.Kind != yaml.MappingNode {
		return e, errors.New("an entry is a mapping with revision, role, row and reason")
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, n.Content[i+1]
		if value.Kind != yaml.ScalarNode {
			return e, fmt.Errorf("%q must be a text", key)
		}
		text := strings.TrimSpace(value.Value)
		if value.Tag == "!!null" {
			text = ""
		}
		switch key {
		case "revision":
			e.Revision = text
		case "role":
			e.Role = requirement.Role(text)
		case "row":
			e.Row = text
		case "reason":
			e.Reason = text
		default:
			return e, fmt.Errorf("there is no member %q: an entry has revision, role, row and reason", key)
		}
	}
	return e, e.check()
}

// trait is the ID of what a gateway is judged by besides the specification. Only the judge
// of gateways knows which there are.
var trait = regexp.MustCompile(`^gateway\.[a-z-]+$`)

func (e *Entry) isTrait() bool { return e.Role == requirement.Intermediary && trait.MatchString(e.Row) }

func (e *Entry) check() error {
	row := requirement.ByID(e.Row)
	switch {
	case e.Row == "":
		return errors.New(`the entry names no row; add the ID that the report shows, such as "row: 26.server.tools-019"`)
	case row == nil && !e.isTrait():
		return fmt.Errorf("there is no row %q; parley check requirements lists them", e.Row)
	case !slices.Contains([]requirement.Role{requirement.Server, requirement.Client, requirement.Authorization, requirement.Intermediary}, e.Role):
		return fmt.Errorf("%s has the role %q, want server, client, authorization server or intermediary", e.Row, e.Role)
	case e.Revision != "" && row != nil && !row.HoldsIn(e.Revision):
		return fmt.Errorf("%s does not hold in the revision %q, but in %s", e.Row, e.Revision, strings.Join(row.Revisions, ", "))
	case e.Reason == "":
		return fmt.Errorf("%s has no reason; write why this failure is accepted", e.Row)
	}
	return nil
}

// Apply marks the failures of a report that are known, and notes the entries that
// are stale: their row was judged, and failed in no run that they speak of.
// Entries of other roles and of revisions that were not judged are left alone.
func (b Baseline) Apply(r *Report) {
	for i := range b {
		e := &b[i]
		if e.mark(r) {
			r.Stale = append(r.Stale, *e)
		}
	}
}

// mark marks the failures that an entry speaks of, and reports whether it is stale.
func (e *Entry) mark(r *Report) (stale bool) {
	failed, open, seen := false, false, false
	for i := range r.Runs {
		if e.Role != r.roleOf(&r.Runs[i]) || e.Revision != "" && e.Revision != r.Runs[i].Revision {
			continue
		}
		for j := range r.Runs[i].Verdicts {
			v := &r.Runs[i].Verdicts[j]
			if v.Row != e.Row {
				continue
			}
			seen = true
			open = open || v.Outcome == Unverified
			if v.Failed() {
				failed, v.Known = true, e.Reason
			}
		}
	}
	return seen && !failed && !open
}

// WriteBaseline writes the baseline that a report needs: the entries of the one
// that was applied to it, without the stale ones, and the failures that are not
// known yet. These have an empty reason, which has to be filled in: ReadBaseline
// refuses it.
func WriteBaseline(w io.Writer, r *Report, applied Baseline) error {
	var b strings.Builder
	for i := range applied {
		if e := &applied[i]; !slices.ContainsFunc(r.Stale, e.same) {
			e.write(&b)
		}
	}
	for i := range r.Runs {
		for j := range r.Runs[i].Verdicts {
			v := &r.Runs[i].Verdicts[j]
			if v.Outcome == Fail && v.Known == "" && !before(r, i, v.Row) {
				e := Entry{Revision: r.Runs[i].Revision, Role: r.roleOf(&r.Runs[i]), Row: v.Row}
				e.write(&b)
			}
		}
	}
	if b.Len() == 0 {
		b.WriteString("[]\n")
	}
	_, err := io.WriteString(w, "# Failures that are known. Each needs a reason; an entry whose row fails no more is reported as stale.\n"+b.String())
	return err
}

// write writes an entry, with the sentence of its row as a comment.
func (e *Entry) write(b *strings.Builder) {
	b.WriteByte('\n')
	if row := requirement.ByID(e.Row); row != nil {
		fmt.Fprintf(b, "# %s: %s\n", row.Level, strings.Join(strings.Fields(row.Text), " "))
	}
	open := "- "
	if e.Revision != "" {
		fmt.Fprintf(b, "%srevision: %s\n", open, quoted(e.Revision))
		open = "  "
	}
	fmt.Fprintf(b, "%srole: %s\n  row: %s\n  reason: %s\n", open, e.Role, e.Row, quoted(e.Reason))
}

// before reports whether an earlier run of the same revision, over another
// transport, has the same failure.
func before(r *Report, run int, row string) bool {
	return slices.ContainsFunc(r.Runs[:run], func(other Run) bool {
		return other.Revision == r.Runs[run].Revision && other.Role == r.Runs[run].Role && slices.ContainsFunc(other.Verdicts, func(v Verdict) bool { return v.Row == row && v.Outcome == Fail })
	})
}

// quoted writes a text as YAML: a string of JSON is one of YAML.
func quoted(s string) string {
	doc, err := json.Marshal(s)
	if err != nil {
		return `""` // texts always have a form
	}
	return string(doc)
}
