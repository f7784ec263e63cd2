package schema_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/schema"
)

// Every slip of a tag names the tag that was meant, by the type of the field where
// several begin alike.
func TestMisspeltTags(t *testing.T) {
	for tag, want := range map[string]struct{ fits, nearest string }{
		"descrption":   {"string", "description"},
		"descriptino":  {"string", "description"},
		"desc":         {"string", "description"},
		"Description":  {"string", "description"},
		"titel":        {"string", "title"},
		"Title":        {"string", "title"},
		"minlen":       {"string", "minLength"},
		"minLen":       {"string", "minLength"},
		"min_length":   {"string", "minLength"},
		"min-length":   {"string", "minLength"},
		"minlength":    {"string", "minLength"},
		"maxlengh":     {"string", "maxLength"},
		"min":          {"integer", "minimum"},
		"max":          {"string", "maxLength"},
		"minItem":      {"array", "minItems"},
		"minimun":      {"number", "minimum"},
		"exclusiveMin": {"number", "exclusiveMinimum"},
		"multipleof":   {"integer", "multipleOf"},
		"patern":       {"string", "pattern"},
		"formt":        {"string", "format"},
		"enums":        {"string", "enum"},
		"enun":         {"string", "enum"},
		"enumtitles":   {"string", "enumTitles"},
		"defalt":       {"string", "default"},
		"Default":      {"string", "default"},
		"Header":       {"string", "header"},
		"jsn":          {"string", "json"},
		"headers":      {"string", "header"},
		"unique":       {"array", "uniqueItems"},
		",minLength":   {"string", "minLength"}, // after a comma instead of a space
		"JSON":         {"string", "json"},
		"jsonSchema":   {"string", "jsonschema"},
	} {
		err := schema.CheckTags(reflect.StructTag(tag+`:"1"`), want.fits)
		if err == nil || !strings.Contains(err.Error(), `no tag "`+tag+`"; the nearest is "`+want.nearest+`"`) {
			t.Errorf("%s: %v, want that the nearest is %s", tag, err, want.nearest)
		}
		beside := reflect.StructTag(tag + `:"1" ` + want.nearest + `:"1"`)
		if err := schema.CheckTags(beside, want.fits); err != nil {
			t.Errorf("%s is refused beside %s: %v", tag, want.nearest, err)
		}
	}
}

// The tags of other packages are none of our business.
func TestForeignTags(t *testing.T) {
	for tag := range strings.FieldsSeq(`yaml db validate bson xml toml mapstructure form uri url query path param cookie binding
		gorm bun pg sql ent protobuf protobuf_key patchStrategy patchMergeKey firestore datastore dynamodbav spanner bigquery
		env envDefault envconfig hcl cty avro parquet csv redis msgpack codec cbor asn1 graphql schema ini properties
		example examples doc help short long choice required faker fake copier structs mapper swaggertype swaggerignore
		readOnly readonly writeOnly deprecated hidden nullable minProperties maxProperties jsonapi diff hash mod sanitize
		ch koanf flag arg name type cmd group placeholder sep table column index primaryKey ttl x a`) {
		if err := schema.CheckTags(reflect.StructTag(tag+`:"1"`), "string"); err != nil {
			t.Errorf("%s: %v", tag, err)
		}
	}
	for _, tag := range []reflect.StructTag{
		"", " ", `json:"a" description:"b" minLength:"1"`, `free text`, `json:"a"  db:"b" `, `json:"a",yaml:"b"`, `json:"with \"quotes\" minlen:1"`,
	} {
		if err := schema.CheckTags(tag, "string"); err != nil {
			t.Errorf("%s: %v", tag, err)
		}
	}
}

// What reflect does not read is lost as well.
func TestMalformedTags(t *testing.T) {
	for _, tag := range []reflect.StructTag{`json:"a" minLength: "3"`, `minLength:3`, `description:'x'`} {
		if err := schema.CheckTags(tag, "string"); err == nil || !strings.Contains(err.Error(), "malformed") {
			t.Errorf("%s: %v, want that it is malformed", tag, err)
		}
	}
}

// An error names the type, the field and the tag.
func TestMisspeltTagInType(t *testing.T) {
	type inner struct {
		Query string `json:"query" descrption:"what to look for"`
	}
	type outer struct {
		Inner []inner `json:"inner" bson:"inner"`
	}
	_, err := schema.Infer(reflect.TypeFor[outer]())
	want := `field "Query" of schema_test.inner: there is no tag "descrption"; the nearest is "description"`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

// What other packages say with a tag of theirs, and what json and formats are called, is not
// lost silently either.
func TestTagsThatSayItElsewhere(t *testing.T) {
	type optional struct {
		A string `optional:"true"`
	}
	type described struct {
		A string `jsonschema_description:"an a"`
	}
	type omitted struct {
		A string `json:"a,omitmpty"` //nolint:staticcheck // this is what is refused
	}
	type mail struct {
		A string `format:"emial"`
	}
	for want, typ := range map[string]reflect.Type{
		"a field is optional if": reflect.TypeFor[optional](), `the tag is "description"`: reflect.TypeFor[described](),
		`the nearest is "omitempty"`: reflect.TypeFor[omitted](), `the nearest is "email"`: reflect.TypeFor[mail](),
	} {
		if raw, err := schema.Infer(typ); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v; want %q", typ, raw, err, want)
		}
	}
	type own struct {
		A string `json:"a,case:ignore" format:"com.example.code"`
	}
	if _, err := schema.Infer(reflect.TypeFor[own]()); err != nil {
		t.Errorf("what is anybody's own: %v", err)
	}
}
