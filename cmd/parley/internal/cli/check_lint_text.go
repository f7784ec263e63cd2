package cli

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parley-mcp/parley/internal/check/lint"
	"github.com/parley-mcp/parley/internal/wire"
)

// Widths of a report on a terminal.
const (
	lintWidth = 100
	fewPlaces = 6
)

// lintReport shows a report to a person: what was looked at, then the findings by rule,
// the worst first, then how many there are.
func (a *app) lintReport(r *lint.Report, l *lintFlags) {
	for i := range r.Servers {
		s := &r.Servers[i]
		a.out.printf("%s  %s\n", a.out.bold(label(s.Title(), 200)), s.String())
		if costs := s.Costs[:min(len(s.Costs), 3)]; len(s.Costs) > 3 {
			var most []string
			for _, c := range costs {
				most = append(most, fmt.Sprintf("%s %d", label(c.Name, 60), c.Tokens))
			}
			a.out.printf("%s\n", a.out.dim("  most of it: "+strings.Join(most, ", ")))
		}
	}
	for _, severity := range []lint.Severity{lint.Error, lint.Warning, lint.Note} {
		for _, rule := range lint.Rules() {
			a.lintRule(r, rule, severity, l.verbose)
		}
	}
	a.lintAccepted(r)
	verdict := a.out.green(r.Verdict())
	if !r.OK() {
		verdict = a.out.red(r.Verdict())
	}
	a.out.printf("\n%s\n", verdict)
	if r.Omitted > 0 {
		a.out.printf("%s\n", a.out.dim(fmt.Sprintf("%d more findings were left out", r.Omitted)))
	}
}

// lintRule shows the findings of a rule; those that say the same stand together.
func (a *app) lintRule(r *lint.Report, rule *lint.Rule, severity lint.Severity, verbose bool) {
	var found []lint.Finding
	for _, f := range r.Findings {
		if f.Rule == rule.ID && f.Severity == severity && f.Accepted == "" {
			found = append(found, f)
		}
	}
	if found == nil {
		return
	}
	level := a.out.dim("note   ")
	switch severity {
	case lint.Error:
		level = a.out.red("error  ")
	case lint.Warning:
		level = a.out.bold("warning")
	case lint.Note:
	}
	a.out.printf("\n%s %s\n", level, a.out.bold(rule.ID))
	a.lintLines("  ", rule.Finds, false)
	a.lintPlaces(r, rule, found, verbose)
	a.lintLines("  → ", rule.Mend, true)
	if verbose {
		a.lintLines("  source: ", sourceOf(rule), true)
	}
}

// lintPlaces shows where a rule found something.
func (a *app) lintPlaces(r *lint.Report, rule *lint.Rule, found []lint.Finding, verbose bool) {
	var texts []string
	names := map[string][]string{}
	for _, f := range found {
		text := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(f.Text, strings.TrimSuffix(rule.Finds, ".")), ": "), "; ")
		name := or(label(f.Name, 80), string(f.Kind))
		if len(r.Servers) > 1 && f.Server != "" && f.Kind != lint.Server {
			name = label(f.Server, 40) + "/" + name
		}
		if verbose {
			name += " at " + or(label(f.Pointer, 200), "/") + when(f.Line > 0, fmt.Sprintf(" (line %d)", f.Line)) + when(f.More > 0, fmt.Sprintf(" and %d more", f.More))
		}
		if names[text] == nil {
			texts = append(texts, text)
		}
		names[text] = append(names[text], name)
	}
	shown := texts
	if !verbose && len(texts) > fewPlaces+1 {
		shown = texts[:fewPlaces]
	}
	for _, text := range shown {
		at := names[text]
		if !verbose && len(at) > fewPlaces+1 {
			at = append(slices.Clone(at[:fewPlaces]), fmt.Sprintf("%d more", len(at)-fewPlaces))
		}
		a.lintLines("  • ", strings.Join(at, ", ")+when(text != "", ": "+text), false)
	}
	if rest := len(texts) - len(shown); rest > 0 {
		a.out.printf("    %s\n", a.out.dim(fmt.Sprintf("and %d more; --verbose shows all", rest)))
	}
}

// lintAccepted shows what counts no more.
func (a *app) lintAccepted(r *lint.Report) {
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Accepted != "" {
			a.lintLines("accepted ", f.Rule+", "+or(label(f.Name, 80), string(f.Kind))+": "+oneLine(f.Accepted, 300), true)
		}
	}
}

// lintLines prints a text in lines of a width, the first after a mark.
func (a *app) lintLines(mark, text string, faint bool) {
	line, width := mark, utf8.RuneCountInString(mark)
	blank := strings.Repeat(" ", width)
	flush := func() {
		if faint {
			a.out.printf("%s\n", a.out.dim(line))
		} else {
			a.out.printf("%s\n", line)
		}
	}
	used := width
	for w := range strings.FieldsSeq(harmless(text)) {
		n := utf8.RuneCountInString(w)
		if used > width && used+1+n > lintWidth {
			flush()
			line, used = blank, width
		}
		if used > width {
			line += " "
			used++
		}
		line += w
		used += n
	}
	flush()
}

// sourceOf says who wants a rule, and how sure that is.
func sourceOf(r *lint.Rule) string {
	text := r.Source
	if r.Date != "" {
		text += " (" + r.Date + when(r.Certainty != "", ", "+r.Certainty) + ")"
	}
	return text
}

// lintRules lists the rules.
func (a *app) lintRules(l *lintFlags) error {
	if l.output == "json" {
		raw, err := wire.Marshal(map[string]any{"rules": lint.Rules()})
		a.out.json(raw)
		return err
	}
	if l.output != "text" {
		return usagef("--rules prints text or json, not %s", l.output)
	}
	for i, r := range lint.Rules() {
		a.out.printf("%s%s  %s%s\n", when(i > 0, "\n"), a.out.bold(r.ID), string(r.Severity), when(r.Effect != "", ", "+r.Effect+" in the mode "+r.Vendor+"/"+r.Mode))
		a.lintLines("  ", r.Finds, false)
		a.lintLines("  → ", r.Mend, true)
		a.lintLines("  source: ", sourceOf(r), true)
	}
	return nil
}
