package schema

import (
	"fmt"
	"slices"
	"strings"
)

// maxForms is how many failed alternatives a message spells out.
const maxForms = 4

// alternatives combines the failures of all branches of an anyOf or oneOf into
// one problem.
func alternatives(at *path, v any, branches []report) problem {
	if p, ok := mergeTypes(at, v, branches); ok {
		return p
	}
	if p, ok := mergeValues(at, v, branches); ok {
		return p
	}
	// Branches for another type say nothing about the value at hand.
	fitting := slices.DeleteFunc(slices.Clone(branches), func(r report) bool {
		return len(r.problems) == 1 && r.problems[0].types != nil && r.problems[0].at == at
	})
	if len(fitting) == 1 && len(fitting[0].problems) == 1 {
		return fitting[0].problems[0]
	}
	if len(fitting) == 0 {
		fitting = branches
	}
	var forms []string
	for i, r := range fitting {
		if i == maxForms {
			forms = append(forms, fmt.Sprintf("and %d more", len(fitting)-i))
			break
		}
		forms = append(forms, fmt.Sprintf("(%d) %s", i+1, formText(at, r)))
	}
	return problem{at: at, text: "matches none of the allowed forms: " + strings.Join(forms, "; ")}
}

// formText is what one alternative complains about first.
func formText(at *path, r report) string {
	if len(r.problems) == 0 {
		return "not allowed"
	}
	p := r.problems[0]
	if p.at == at {
		return p.message()
	}
	return quoteUpTo(maxSpelt, p.at.String()) + " " + p.message()
}

// mergeTypes joins branches that each only require another type.
func mergeTypes(at *path, v any, branches []report) (problem, bool) {
	p := problem{at: at, got: v, show: true}
	for _, r := range branches {
		if len(r.problems) != 1 || r.problems[0].types == nil || r.problems[0].at != at {
			return p, false
		}
		for _, t := range r.problems[0].types {
			if !slices.Contains(p.types, t) {
				p.types = append(p.types, t)
			}
		}
	}
	return p, len(branches) > 0
}

// mergeValues joins branches that each only require other values, which is how
// choices with titles are written.
func mergeValues(at *path, v any, branches []report) (problem, bool) {
	p := problem{at: at, got: v, show: true}
	for _, r := range branches {
		if len(r.problems) != 1 || r.problems[0].allowed == nil || r.problems[0].at != at {
			return p, false
		}
		p.allowed = append(p.allowed, r.problems[0].allowed...)
	}
	return p, len(branches) > 0
}
