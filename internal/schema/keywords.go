package schema

import "strings"

// keyword is what this package knows about a keyword of JSON Schema before the
// compiler has seen it. The meaning of a keyword is implemented where it is
// applied: quick.go for the simple ones, validate.go for all. It is the same in
// every dialect that plain and quick handle.
type keyword struct {
	value form
	// intricate keywords are left to the compiler: whether a schema with one
	// compiles does not depend on its value alone.
	intricate bool
	// silent keywords say nothing about which documents are valid.
	silent bool
}

// form is the form that the value of a keyword must have.
type form int

const (
	intricateForm form = iota // left to the compiler
	anyForm                   // a value that the schema quotes
	listForm                  // a list of such values
	choiceForm                // such a list, not empty
	textForm
	flagForm
	numberForm
	positiveForm // a number above zero
	countForm    // of things: zero or a natural number
	patternForm
	typesForm // the name of a type, or several
	namesForm // a list of distinct strings
	schemaForm
	schemasForm // a list of schemas, not empty
	namedForm   // schemas by name
)

// keywords are those of all dialects, as in their meta-schemas. A name that is
// not here is not a keyword, unless it begins with "$".
var keywords = map[string]keyword{
	// Names, and places for what is used elsewhere.
	"$schema":          {intricate: true, silent: true}, // but at the root: see plain.root
	"$id":              {intricate: true, silent: true},
	"id":               {intricate: true},
	"$anchor":          {intricate: true},
	"$dynamicAnchor":   {intricate: true},
	"$recursiveAnchor": {intricate: true},
	"$vocabulary":      {intricate: true},
	"$comment":         {value: textForm, silent: true},
	"$defs":            {value: namedForm, intricate: true},
	"definitions":      {value: namedForm, intricate: true},

	// Applicators.
	"$ref":                  {intricate: true},
	"$dynamicRef":           {intricate: true},
	"$recursiveRef":         {intricate: true},
	"allOf":                 {value: schemasForm},
	"anyOf":                 {value: schemasForm},
	"oneOf":                 {value: schemasForm},
	"not":                   {value: schemaForm, intricate: true},
	"if":                    {value: schemaForm, intricate: true},
	"then":                  {value: schemaForm, intricate: true},
	"else":                  {value: schemaForm, intricate: true},
	"dependentSchemas":      {value: namedForm, intricate: true},
	"dependencies":          {value: namedForm, intricate: true},
	"properties":            {value: namedForm},
	"patternProperties":     {value: namedForm, intricate: true},
	"additionalProperties":  {value: schemaForm},
	"propertyNames":         {value: schemaForm, intricate: true},
	"unevaluatedProperties": {value: schemaForm, intricate: true},
	"items":                 {value: schemaForm},
	"prefixItems":           {value: schemasForm, intricate: true},
	"additionalItems":       {value: schemaForm, intricate: true},
	"contains":              {value: schemaForm, intricate: true},
	"unevaluatedItems":      {value: schemaForm, intricate: true},

	// Assertions.
	"type":              {value: typesForm},
	"enum":              {value: choiceForm},
	"const":             {value: anyForm},
	"minimum":           {value: numberForm},
	"maximum":           {value: numberForm},
	"exclusiveMinimum":  {value: numberForm},
	"exclusiveMaximum":  {value: numberForm},
	"multipleOf":        {value: positiveForm},
	"minLength":         {value: countForm},
	"maxLength":         {value: countForm},
	"pattern":           {value: patternForm},
	"format":            {value: textForm},
	"minItems":          {value: countForm},
	"maxItems":          {value: countForm},
	"uniqueItems":       {value: flagForm},
	"minContains":       {value: countForm, intricate: true},
	"maxContains":       {value: countForm, intricate: true},
	"minProperties":     {value: countForm},
	"maxProperties":     {value: countForm},
	"required":          {value: namesForm},
	"dependentRequired": {intricate: true},

	// Annotations.
	"title":            {value: textForm, silent: true},
	"description":      {value: textForm, silent: true},
	"default":          {value: anyForm, silent: true},
	"examples":         {value: listForm, silent: true},
	"deprecated":       {value: flagForm, silent: true},
	"readOnly":         {value: flagForm, silent: true},
	"writeOnly":        {value: flagForm, silent: true},
	"contentEncoding":  {value: textForm, silent: true},
	"contentMediaType": {value: textForm, silent: true},
	"contentSchema":    {value: schemaForm, intricate: true},
}

// keywordOf returns what is known about a name in a schema.
func keywordOf(name string) keyword {
	if k, ok := keywords[name]; ok {
		return k
	}
	if strings.HasPrefix(name, "$") {
		return keyword{intricate: true}
	}
	return keyword{value: anyForm, silent: true}
}

// isData reports whether the value of a keyword is data, or contains data,
// which the schema quotes: nothing in there is a keyword.
func isData(name string) bool {
	f := keywords[name].value
	return f == anyForm || f == listForm || f == choiceForm
}

// Holds reports whether the value of a keyword is a schema or a list of schemas, and
// whether it has schemas by name.
func Holds(name string) (schemas, named bool) {
	f := keywords[name].value
	return f == schemaForm || f == schemasForm, f == namedForm
}
