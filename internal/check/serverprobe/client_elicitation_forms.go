package serverprobe

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

var formProbes = []Probe{
	{
		Info: probe.Info{
			ID: "elicitation/form-has-schema", Rows: []string{"26.client.elicitation-015", "2511.client.elicitation-014", "2506.client.elicitation-006"},
			Does:    "Looks at the requestedSchema of each form.",
			Accepts: "An object.",
		},
		Watch: watchQuestions(question.isForm, func(w *probe.Watch, q question) {
			if _, ok := q.Params["requestedSchema"].(map[string]any); !ok {
				w.Fault(q.Message, q.at("requestedSchema"), "the form has no requestedSchema that is an object")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "elicitation/form-flat", Rows: []string{"26.client.elicitation-016", "2511.client.elicitation-015"},
			Does:    "Looks at the type of each form and of each of its fields.",
			Accepts: "An object of strings, numbers, integers and booleans; from 2025-11-25 on also lists of choices.",
			Mend:    "Take nested objects and lists apart into fields of their own.",
		},
		Watch: watchForms(func(x *X, w *probe.Watch, q question, schema map[string]any) {
			if schema["type"] != "object" {
				w.Fault(q.Message, q.at("requestedSchema/type"), "the form is not of type object")
			}
			kinds := []any{"string", "number", "integer", "boolean"}
			if x.Facts.ElicitURL { // lists came with it
				kinds = append(kinds, "array")
			}
			eachField(q, schema, func(at string, _ string, field map[string]any) {
				if !slices.Contains(kinds, field["type"]) {
					w.Fault(q.Message, at, "the field is of type %s, not of a primitive one", peer.Encode(field["type"]))
				}
			})
		}),
	},
	{
		Info: probe.Info{
			ID: "elicitation/form-formats", Rows: []string{"26.client.elicitation-017", "2511.client.elicitation-016"},
			Does:    "Looks at the format of each string of each form.",
			Accepts: "email, uri, date, date-time, or none.",
		},
		Watch: watchForms(func(_ *X, w *probe.Watch, q question, schema map[string]any) {
			eachField(q, schema, func(at string, _ string, field map[string]any) {
				format, given := field["format"]
				if given && field["type"] == "string" && !slices.Contains([]any{"email", "uri", "date", "date-time"}, format) {
					w.Fault(q.Message, at+"/format", "there is no format %s of a form", peer.Encode(format))
				}
			})
		}),
	},
	{
		Info: probe.Info{
			ID: "elicitation/form-choices", Rows: []string{"26.client.elicitation-018", "2511.client.elicitation-017", "2506.client.elicitation-007"},
			Does:    "Looks at how fields of forms offer choices.",
			Accepts: "enum, or from 2025-11-25 on oneOf with const and title, and lists whose items have enum or anyOf with const and title.",
		},
		Watch: watchForms(func(x *X, w *probe.Watch, q question, schema map[string]any) {
			eachField(q, schema, func(at string, _ string, field map[string]any) {
				if why := badChoice(field, x.Facts.ElicitURL); why != "" {
					w.Fault(q.Message, at, "%s", why)
				}
			})
		}),
	},
	{
		Info: probe.Info{
			ID: "elicitation/form-no-secrets", Rows: []string{
				"26.client.elicitation-001", "26.client.elicitation-002", "26.client.elicitation-058",
				"2511.client.elicitation-001", "2511.client.elicitation-002", "2511.client.elicitation-068", "2506.client.elicitation-001",
			},
			Does:    "Looks for fields of forms that are named like passwords, keys, tokens or card numbers.",
			Accepts: "Forms without such fields.",
			Mend:    "Send the user to a page of yours (mode url), where the client does not see the secret.",
		},
		Watch: watchForms(func(_ *X, w *probe.Watch, q question, schema map[string]any) {
			eachField(q, schema, func(at string, name string, field map[string]any) {
				if field["type"] != "boolean" && (isSecret(name) || field["format"] == "password") {
					w.Fault(q.Message, at, "the form asks for %q", name)
				}
			})
		}),
	},
	{
		Info: probe.Info{
			ID: "elicitation/form-no-links", Rows: []string{"26.client.elicitation-046", "2511.client.elicitation-057"},
			Does:    "Looks for links in the message of each form, and in the titles and descriptions of its fields.",
			Accepts: "No URL in the message, and no Markdown or HTML link anywhere.",
			Mend:    "Send the user to the page with mode url.",
		},
		Watch: watchForms(func(_ *X, w *probe.Watch, q question, schema map[string]any) {
			if text, _ := q.Params["message"].(string); anyURL.MatchString(text) {
				w.Fault(q.Message, q.at("message"), "the message of the form holds a link")
			}
			eachField(q, schema, func(at string, _ string, field map[string]any) {
				for _, name := range []string{"title", "description"} {
					if text, _ := field[name].(string); markup.MatchString(text) {
						w.Fault(q.Message, at+"/"+name, "the %s of the field holds a link", name)
					}
				}
			})
		}),
	},
}

var (
	anyURL = regexp.MustCompile(`(?i)https?://\w`)
	markup = regexp.MustCompile(`(?i)\]\(https?://|<a\s[^>]*href`)
)

// watchForms judges the schemas of forms.
func watchForms(check func(*X, *probe.Watch, question, map[string]any)) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		w.Nothing(probe.Unverified("no tool that may be called asks for a form"))
		for _, q := range x.questions() {
			schema, ok := q.Params["requestedSchema"].(map[string]any)
			if q.isForm() && ok {
				w.Saw(q.Message)
				check(x, w, q, schema)
			}
		}
	}
}

// eachField calls each for the fields of a form that are objects.
func eachField(q question, schema map[string]any, each func(at, name string, field map[string]any)) {
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		field, _ := properties[name].(map[string]any) // nil is of no type
		each(q.at("requestedSchema/properties/"+pointer(name)), name, field)
	}
}

// badChoice says what is wrong with the choices of a field, or "".
//
// Spec: 2026-07-28 client/elicitation#requested-schema (4).
func badChoice(field map[string]any, titled bool) string {
	_, some := field["oneOf"]
	choices, listed := field["enum"]
	switch {
	case field["type"] == "string" && listed && !areStrings(choices):
		return "the choices of enum are not strings"
	case field["type"] == "string" && some && !titled:
		return "this revision has no choices by oneOf"
	case field["type"] == "string" && some && !areTitled(field["oneOf"]):
		return "the choices of oneOf are not objects with const and title"
	case field["type"] == "array" && titled:
		items, _ := field["items"].(map[string]any)
		if !areStrings(items["enum"]) && !areTitled(items["anyOf"]) {
			return "the items of the list are not choices by enum or anyOf"
		}
	}
	return ""
}

func areStrings(v any) bool {
	list, _ := v.([]any)
	return len(list) > 0 && !slices.ContainsFunc(list, func(v any) bool { _, ok := v.(string); return !ok })
}

func areTitled(v any) bool {
	list, _ := v.([]any)
	return len(list) > 0 && !slices.ContainsFunc(list, func(v any) bool {
		choice, _ := v.(map[string]any)
		_, value := choice["const"].(string)
		_, title := choice["title"].(string)
		return !value || !title
	})
}

// isSecret reports whether a name is that of something that grants access or
// authorizes payments.
func isSecret(name string) bool {
	plain := strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "", ".", "").Replace(name))
	for _, secret := range []string{
		"password", "passwd", "passphrase", "apikey", "accesstoken", "refreshtoken", "authtoken", "bearertoken", "secretkey", "privatekey",
		"clientsecret", "apisecret", "creditcard", "creditcardnumber", "cardnumber", "cvv", "cvc",
	} {
		if strings.HasSuffix(plain, secret) {
			return true
		}
	}
	return plain == "secret" || plain == "token"
}
