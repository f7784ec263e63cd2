package schemas

import (
	"cmp"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// tags are the members by which a value says which form of a union it has.
var tags = []string{"type", "resultType", "method", "mode"}

// union explains why a value has none of several forms: by what is wrong with
// the form that it means to have, as far as that can be told.
func union(e *jsonschema.ValidationError) []fault {
	at := e.InstanceLocation
	var forms [][]fault
	for _, c := range e.Causes {
		forms = append(forms, leaves(c))
	}
	// A value of another type, or with another tag, does not mean to have the form.
	meant := without(forms, func(f fault) bool { return f.types != nil && len(f.at) == len(at) })
	if len(meant) == 0 {
		return []fault{merge(forms, func(f fault) bool { return f.types != nil && len(f.at) == len(at) })}
	}
	isTag := func(f fault) bool { return isTag(f, len(at)) }
	tagged := without(meant, isTag)
	if len(tagged) == 0 {
		return []fault{merge(meant, isTag)}
	}
	if f, ok := alternatives(tagged, len(at)); ok {
		return []fault{f}
	}
	return slices.MinFunc(tagged, func(a, b []fault) int {
		return cmp.Or(cmp.Compare(lacking(a, len(at)), lacking(b, len(at))), cmp.Compare(len(a), len(b)))
	})
}

// isTag reports whether a fault is that a tag has another value.
func isTag(f fault, depth int) bool {
	return len(f.at) == depth+1 && slices.Contains(tags, f.at[depth]) && (f.values != nil || f.types != nil)
}

// without returns the forms that have no fault of a kind.
func without(forms [][]fault, is func(fault) bool) [][]fault {
	var rest [][]fault
	for _, form := range forms {
		if !slices.ContainsFunc(form, is) {
			rest = append(rest, form)
		}
	}
	return rest
}

// merge joins the faults of a kind, of which each form has one: the first place
// that has one gets what all of them allow there.
func merge(forms [][]fault, is func(fault) bool) fault {
	var merged fault
	for i, form := range forms {
		f := form[slices.IndexFunc(form, is)]
		if i == 0 {
			merged = fault{at: f.at, keyword: f.keyword, got: f.got}
		}
		if !slices.Equal(f.at, merged.at) {
			continue
		}
		for _, t := range f.types {
			if !slices.Contains(merged.types, t) {
				merged.types = append(merged.types, t)
			}
		}
		for _, v := range f.values {
			if !slices.ContainsFunc(merged.values, func(w any) bool { return show(w) == show(v) }) {
				merged.values = append(merged.values, v)
			}
		}
	}
	if merged.values != nil {
		merged.types = nil
	}
	return merged
}

// alternatives explains what a value lacks for all of several forms: a tag, or one
// member of which each form has its own.
func alternatives(forms [][]fault, depth int) (fault, bool) {
	for _, tag := range tags {
		isMissing := func(f fault) bool { return len(f.at) == depth && slices.Contains(f.missing, tag) }
		if len(without(forms, isMissing)) == 0 {
			return forms[0][slices.IndexFunc(forms[0], isMissing)], true
		}
	}
	joined := fault{at: forms[0][0].at, keyword: forms[0][0].keyword}
	for _, form := range forms {
		if len(form) > 1 || form[0].missing == nil || len(form[0].at) != depth {
			return joined, false
		}
		joined.missing = append(joined.missing, form[0].missing...)
	}
	slices.Sort(joined.missing)
	joined.missing = slices.Compact(joined.missing)
	return joined, true
}

// lacking counts the members that a value lacks for a form.
func lacking(form []fault, depth int) int {
	n := 0
	for _, f := range form {
		if f.missing != nil && len(f.at) == depth {
			n++
		}
	}
	return n
}
