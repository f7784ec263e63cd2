package cli

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/similar"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/internal/yamljson"
)

// readCases reads a file of cases. An error says where its reason stands.
func readCases(path string) ([]policyCase, error) {
	source, err := os.ReadFile(path) //nolint:gosec // the user names it
	if err != nil {
		return nil, err
	}
	top, err := yamljson.Parse(source)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	case top == nil:
		return nil, fmt.Errorf("%s: there are no cases", path)
	case top.Kind != yaml.SequenceNode:
		return nil, faultIn(path, top, errors.New("this is not a list of cases"))
	}
	cases := make([]policyCase, len(top.Content))
	for i, n := range top.Content {
		if err := readCase(path, n, &cases[i]); err != nil {
			return nil, err
		}
	}
	return cases, nil
}

// readCase reads one case.
func readCase(path string, n *yaml.Node, into *policyCase) error {
	for n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		return faultIn(path, n, errors.New("this is not a case, which has keys such as "+strings.Join(caseKeys, ", ")))
	}
	expect := n
	for i := 0; i+1 < len(n.Content); i += 2 {
		switch key := n.Content[i]; {
		case !slices.Contains(caseKeys, key.Value):
			return faultIn(path, key, noSuchKey(key.Value))
		case key.Value == "expect":
			expect = n.Content[i+1]
		}
	}
	raw, err := yamljson.Render(n, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := wire.Unmarshal(raw, into); err != nil {
		return faultIn(path, n, err)
	}
	if !slices.Contains(verbs, into.Expect) {
		return faultIn(path, expect, fmt.Errorf("the case expects %q; it must be one of %s", into.Expect, strings.Join(verbs, ", ")))
	}
	return nil
}

// caseKeys are what can be said of a case.
var caseKeys = func() (names []string) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[policyCase]()) {
		names = append(names, field.Tag.Get("json"))
	}
	return names
}()

func noSuchKey(name string) error {
	return fmt.Errorf("there is no such key as %.80q; the nearest are %s", name, strings.Join(similar.Names(name, caseKeys)[:2], " and "))
}

// faultIn says where in a file something is wrong.
func faultIn(path string, n *yaml.Node, err error) error {
	return &target.Error{File: path, Line: n.Line, Column: n.Column, Err: err}
}
