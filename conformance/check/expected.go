package main

import (
	"fmt"
	"slices"
)

// excuse says why some scenarios fail.
type excuse struct {
	Role      string   `json:"role"`
	Reason    string   `json:"reason"`
	Scenarios []string `json:"scenarios"`
}

// expected are the scenarios that test what this module does not have.
type expected []excuse

func readExpected(path string) (expected, error) {
	var e expected
	if err := readJSON(path, &e); err != nil {
		return nil, err
	}
	for _, x := range e {
		if x.Reason == "" || !slices.Contains(roles, x.Role) {
			return nil, fmt.Errorf("%s: an entry without a role or a reason", path)
		}
	}
	return e, nil
}

// has reports whether a scenario is expected to fail.
func (e expected) has(role, scenario string) bool {
	return slices.ContainsFunc(e, func(x excuse) bool { return x.Role == role && slices.Contains(x.Scenarios, scenario) })
}
