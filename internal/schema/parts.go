package schema

import "github.com/santhosh-tekuri/jsonschema/v6"

// Compiled returns the schema as the compiler sees it, for who makes values of it
// part by part. It must not be changed.
func (s *Schema) Compiled() (*jsonschema.Schema, error) {
	c, err := s.full()
	if err != nil {
		return nil, err
	}
	return c.root, nil
}

// Accepts reports whether a part of a compiled schema accepts a document, as far
// as that can be told in a number of steps. A step is roughly one subschema that
// is applied to one value.
func Accepts(part *jsonschema.Schema, doc []byte, steps int) bool {
	if check(doc) != nil {
		return false
	}
	e := evaluator{steps: steps}
	return e.eval(part, e.open(doc), nil, nil, nil) && e.fault == nil && !e.exhausted
}
