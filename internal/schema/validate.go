package schema

import (
	"encoding/json"
	"regexp/syntax"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Limits on one validation. A step is roughly one subschema applied to one
// value; the depth bounds the recursion, which takes stack.
const (
	maxSteps     = 4_000_000
	maxRecursion = 100_000
)

// Validate checks one JSON document; an empty one counts as {}. Numbers are
// compared exactly and duplicate member names are refused. The error is a
// *ValidationError.
func (s *Schema) Validate(doc []byte) error {
	if len(doc) == 0 {
		doc = []byte("{}")
	}
	if s.quick != nil && jsontext.Value(doc).IsValid() && s.quick.conforms(doc) {
		return nil
	}
	return s.evaluate(doc)
}

// ValidateParsed is Validate for a document that is known to be valid JSON, or
// that is decoded later: it does not find all faults of other documents.
func (s *Schema) ValidateParsed(doc []byte) error {
	if s.quick != nil && s.quick.conforms(doc) {
		return nil
	}
	return s.evaluate(doc)
}

func (s *Schema) evaluate(doc []byte) error {
	c, err := s.full()
	if err != nil {
		return &ValidationError{Problems: []Problem{{Message: err.Error()}}}
	}
	if err := check(doc); err != nil {
		return &ValidationError{Problems: []Problem{{Message: "not valid JSON: " + err.Error()}}}
	}
	e := evaluator{steps: maxSteps}
	var out report
	ok := e.eval(c.root, e.open(doc), nil, &out, nil)
	switch {
	case e.fault != nil:
		return &ValidationError{Problems: []Problem{{Message: "not valid JSON: " + e.fault.Error()}}}
	case e.exhausted:
		return &ValidationError{Problems: []Problem{{Message: "too large or too deeply nested to be checked against this schema"}}}
	case !ok:
		return out.err()
	}
	return nil
}

// evaluator applies compiled subschemas to a document. It walks the
// compiler's output itself instead of calling the library's validator, which
// has no bound on time or stack, reports in random order, and renders numbers
// as floats.
type evaluator struct {
	steps     int
	depth     int
	held      int // members of the objects being read
	exhausted bool
	fault     error // a number that cannot be used
}

// spend takes n steps and reports whether that many were left.
func (e *evaluator) spend(n int) bool {
	if e.steps -= n; e.steps < 0 {
		e.exhausted = true
	}
	return !e.exhausted
}

// eval reports whether v, found at path at, satisfies s. Failures go to out,
// which is nil when only the verdict matters. The members and items of v that
// s evaluated are added to seen unless it is nil.
func (e *evaluator) eval(s *jsonschema.Schema, v any, at *path, out *report, seen *seen) bool {
	if e.depth++; e.depth > maxRecursion {
		e.exhausted = true
	}
	defer func() { e.depth-- }()
	if !e.spend(1) {
		return false
	}
	if s.Bool != nil {
		if !*s.Bool {
			out.add(problem{at: at, text: "not allowed"})
		}
		return *s.Bool
	}
	if onlyRef(s) {
		return e.eval(s.Ref, v, at, out, seen)
	}
	if !e.checkKind(s, v, at, out) {
		return false
	}
	local := seen.fresh(s)
	ok := e.checkContent(s, v, at, out, local)
	if !ok && out == nil {
		return false
	}
	ok = e.combine(s, v, at, out, local) && ok
	if ok {
		ok = e.unevaluated(s, v, at, out, local)
	}
	if ok && seen != nil {
		seen.merge(local)
	}
	return ok && !e.exhausted
}

// onlyRef reports whether a reference hides its siblings, as it does up to
// draft-07. The compiler drops some of those but not all.
func onlyRef(s *jsonschema.Schema) bool { return s.Ref != nil && s.DraftVersion < 2019 }

// checkKind applies the keywords whose failure makes all others pointless.
func (e *evaluator) checkKind(s *jsonschema.Schema, v any, at *path, out *report) bool {
	if s.Types != nil && !s.Types.IsEmpty() {
		if want := s.Types.ToStrings(); !typeMatches(want, v) {
			out.add(problem{at: at, types: want, got: v, show: true})
			return false
		}
	}
	if s.Const != nil && !e.equal(v, *s.Const) {
		out.add(problem{at: at, allowed: []any{*s.Const}, got: v, show: true})
		return false
	}
	if s.Enum != nil && !e.contains(s.Enum.Values, v) {
		out.add(problem{at: at, allowed: s.Enum.Values, got: v, show: true})
		return false
	}
	if s.Format != nil {
		if str, ok := v.(string); ok && !e.spend(len(str)/32) {
			return false
		}
		if !formatHolds(s.Format, v) {
			out.add(problem{at: at, text: "must be a valid " + s.Format.Name, got: v, show: true})
			return false
		}
	}
	return true
}

// formatHolds checks "regex" itself: the compiler would use the engine that
// budgets the patterns of the schema.
func formatHolds(f *jsonschema.Format, v any) bool {
	if f.Name != "regex" {
		return f.Validate(v) == nil
	}
	expr, ok := v.(string)
	if !ok {
		return true
	}
	if len(expr) > maxPatternLen {
		return false
	}
	_, err := syntax.Parse(expr, syntax.Perl)
	return err == nil
}

func (e *evaluator) checkContent(s *jsonschema.Schema, v any, at *path, out *report, seen *seen) bool {
	switch v := v.(type) {
	case *object:
		return e.object(s, v, at, out, seen)
	case *array:
		return e.array(s, v, at, out, seen)
	case string:
		return e.str(s, v, at, out)
	case json.Number:
		return e.number(s, v, at, out)
	}
	return true
}

// combine applies the subschemas that look at the same value.
func (e *evaluator) combine(s *jsonschema.Schema, v any, at *path, out *report, seen *seen) bool {
	ok := s.Ref == nil || e.eval(s.Ref, v, at, out, seen)
	for _, sub := range s.AllOf {
		if !ok && out == nil {
			return false
		}
		ok = e.eval(sub, v, at, out, seen) && ok
	}
	if s.Not != nil && e.eval(s.Not, v, at, nil, nil) {
		out.add(problem{at: at, text: "has a form that is not allowed"})
		ok = false
	}
	if len(s.AnyOf) > 0 {
		ok = e.anyOf(s.AnyOf, v, at, out, seen) && ok
	}
	if len(s.OneOf) > 0 {
		ok = e.oneOf(s.OneOf, v, at, out, seen) && ok
	}
	if s.If == nil {
		return ok
	}
	branch := s.Then
	if !e.eval(s.If, v, at, nil, seen) {
		branch = s.Else
	}
	return (branch == nil || e.eval(branch, v, at, out, seen)) && ok
}

func (e *evaluator) anyOf(subs []*jsonschema.Schema, v any, at *path, out *report, seen *seen) bool {
	matched := false
	for _, sub := range subs {
		if e.eval(sub, v, at, nil, seen) {
			matched = true
			// The other branches only matter for what they evaluate.
			if seen == nil {
				break
			}
		}
	}
	if !matched {
		e.explain(subs, v, at, out)
	}
	return matched
}

func (e *evaluator) oneOf(subs []*jsonschema.Schema, v any, at *path, out *report, seen *seen) bool {
	first := -1
	for i, sub := range subs {
		if !e.eval(sub, v, at, nil, seen) {
			continue
		}
		if first >= 0 {
			out.addf(at, "must match exactly one of the allowed forms, but matches both form %d and form %d", first+1, i+1)
			return false
		}
		first = i
	}
	if first < 0 {
		e.explain(subs, v, at, out)
	}
	return first >= 0
}

// explain runs failed alternatives again to collect what each one requires.
// Doing so only once the verdict is known keeps nested alternatives cheap.
func (e *evaluator) explain(subs []*jsonschema.Schema, v any, at *path, out *report) {
	if out == nil {
		return
	}
	branches := make([]report, len(subs))
	for i, sub := range subs {
		e.eval(sub, v, at, &branches[i], nil)
	}
	out.add(alternatives(at, v, branches))
}
