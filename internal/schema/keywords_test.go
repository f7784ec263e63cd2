package schema

import (
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The table has the keywords of the meta-schemas of all dialects, and no other.
func TestKeywordsAreThoseOfTheDialects(t *testing.T) {
	defined := map[string]string{}
	for _, dialect := range dialects {
		scheme := "http://"
		if dialect == dialects[0] || dialect == dialects[1] {
			scheme = "https://"
		}
		meta, err := jsonschema.NewCompiler().Compile(scheme + dialect)
		if err != nil {
			t.Fatal(err)
		}
		vocabularies := append([]*jsonschema.Schema{meta}, meta.AllOf...)
		for _, v := range vocabularies {
			if v.Ref != nil {
				v = v.Ref
			}
			for name := range v.Properties {
				defined[name] = dialect
			}
		}
	}
	if len(defined) < 50 {
		t.Fatalf("the meta-schemas define only %d keywords", len(defined))
	}
	for name, dialect := range defined {
		if _, ok := keywords[name]; !ok {
			t.Errorf("%q of %s is not in the table", name, dialect)
		}
	}
	for name := range keywords {
		if defined[name] == "" {
			t.Errorf("%q is a keyword of no dialect", name)
		}
	}
}
