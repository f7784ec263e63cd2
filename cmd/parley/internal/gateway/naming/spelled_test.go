package naming_test

import (
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
)

func TestSpelled(t *testing.T) {
	const schema = `{"type":"object","properties":{"path":{"type":"string"},"ID":{},"id":{},"deep":{"properties":{"to":{}}},
		"many":{"type":"array","items":{"properties":{"to":{}}}},"any":true,"größe":{}}}`
	for _, fine := range []string{
		`{}`, ``, `[]`, `{"path":"/a","ID":1,"id":2}`, `{"other":1,"Other":2}`, `{"deep":{"to":1,"x":{"TO":1}}}`, `{"many":[{"to":1},[],"x"]}`,
		`{"any":{"PATH":1}}`, `{"many":{}}`, `{"größe":1}`,
	} {
		if err := naming.Spelled([]byte(schema), []byte(fine)); err != nil {
			t.Errorf("%s: %v", fine, err)
		}
	}
	for _, odd := range []string{
		`{"PATH":"/a"}`, `{"path":"/ok","Path":"/etc"}`, `{"\u0050ath":1}`, `{"Id":1}`, `{"deep":{"To":1}}`, `{"many":[{"to":1},{"TO":2}]}`, `{"GRÖSSE":1,"GRÖẞE":1}`,
	} {
		if naming.Spelled([]byte(schema), []byte(odd)) == nil {
			t.Errorf("%s is taken", odd)
		}
	}
	if err := naming.Spelled(nil, []byte(`{"A":1}`)); err != nil {
		t.Errorf("without a schema: %v", err)
	}
}
