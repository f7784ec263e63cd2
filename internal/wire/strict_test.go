package wire_test

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/parley-mcp/parley/internal/wire"
)

// What a type does not have is an error that names it, and so is what stands behind the value.
func TestReadStrict(t *testing.T) {
	type inner struct {
		B int `json:"b"`
	}
	type outer struct {
		A     string           `json:"a"`
		Inner inner            `json:"inner"`
		Map   map[string]inner `json:"map"`
	}
	for doc, unknown := range map[string]string{
		`{"a":"x","inner":{"b":1}}`: "",
		`{"c":1}`:                   "c",
		`{"A":"x"}`:                 "A",
		`{"inner":{"a":"x"}}`:       "a",
		`{"map":{"any":{"c":1}}}`:   "c",
		`{"map":{"any":{"b":1}}}`:   "",
	} {
		var v outer
		err := wire.ReadStrict(strings.NewReader(doc), &v)
		var bad *wire.UnknownMemberError
		if unknown == "" && err != nil || unknown != "" && (!errors.As(err, &bad) || bad.Name != unknown) {
			t.Errorf("%s: %v", doc, err)
		}
	}
	for _, doc := range []string{`{} {}`, `{}x`, ``, `{"a":1}`, `{"a":"x","a":"y"}`} {
		if err := wire.ReadStrict(strings.NewReader(doc), new(outer)); err == nil {
			t.Errorf("%q is taken", doc)
		}
	}
	broken := errors.New("the reader is broken")
	if err := wire.ReadStrict(iotest.ErrReader(broken), new(outer)); !errors.Is(err, broken) {
		t.Errorf("the error of the reader is %v", err)
	}
}
