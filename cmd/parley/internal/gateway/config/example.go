package config

import (
	"cmp"
	"strings"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
)

// Example is a file in the gateway's own format, in which every key is explained.
type Example struct {
	Text []byte
	// Left says which servers of the other file were left out, and why.
	Left []error
	// Secrets are the keys whose values stand in the file as they are, and may be secret.
	Secrets []string
}

// NewExample writes a file with a server to try it with or, if the path of another
// program's file is given, with its servers.
func NewExample(from string, env target.Environment) (*Example, error) {
	e := new(Example)
	p := &printer{}
	p.comment("What stands behind a gateway. Lines without # are in effect. The others explain what there is: to use a key, remove the first # of its line, and of the keys that it belongs to.", "")
	backends := func() { p.line(sample) }
	if from != "" {
		drafts, err := e.drafts(from, env)
		if err != nil {
			return nil, err
		}
		backends = func() {
			for i := range drafts {
				p.draft(&drafts[i])
			}
			if len(drafts) == 0 {
				p.line("  {}")
			}
		}
	}
	for _, k := range new(Config).keys() {
		p.line("")
		switch k.name {
		case "version":
			p.doc(&k, "")
			p.line("version: 1")
		case "backends":
			p.doc(&k, "")
			p.line("backends:")
			backends()
			p.line("")
			p.line("  # What can be said of a backend:")
			p.line("  # NAME:")
			p.keys(new(Backend).keys(), "  #   ")
		default:
			p.key(&k, "# ")
		}
	}
	e.Text = []byte(p.String())
	return e, nil
}

// sample is a server that is at hand.
const sample = `  reference:
    command: [parley, serve, --stdio]`

// printer writes YAML for people.
type printer struct{ strings.Builder }

func (p *printer) line(text string) {
	_, _ = p.WriteString(strings.TrimRight(text, " ") + "\n") // never fails
}

// width is where the lines of comments end.
const width = 100

// comment writes text as comments.
func (p *printer) comment(text, indent string) {
	line := indent + "#"
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > width {
			p.line(line)
			line = indent + "#"
		}
		line += " " + word
	}
	p.line(line)
}

// doc writes what a key means.
func (p *printer) doc(k *key, indent string) {
	p.comment(k.says(), indent)
}

// says is what a key means and can have.
func (k *key) says() string {
	text := k.doc
	if b, ok := k.value.(bounded); ok {
		text += " " + b.bounds() + "."
	}
	if f := k.value.fallback(); f != "" && !k.required {
		text += " The default is " + f + "."
	}
	return text
}

// keys writes keys that are not in effect.
func (p *printer) keys(keys []key, indent string) {
	for i := range keys {
		p.key(&keys[i], indent)
	}
}

// key writes a key that is not in effect.
func (p *printer) key(k *key, indent string) {
	p.doc(k, indent)
	inner, stands := innerOf(k.value)
	switch {
	case k.example != "" || inner == nil:
		p.line(indent + k.name + ": " + k.sample())
		return
	case stands != "":
		p.line(indent + k.name + ":")
		p.line(indent + "  " + stands + ":")
		p.keys(inner, indent+"    ")
	default:
		p.line(indent + k.name + ":")
		p.keys(inner, indent+"  ")
	}
}

// innerOf returns the keys of what a value has, and what stands for names that are up to
// whoever writes the file.
func innerOf(v value) (keys []key, stands string) {
	if n, ok := v.(nesting); ok {
		return n.inner()
	}
	return nil, ""
}

// sample is a value that a key can have.
func (k *key) sample() string { return cmp.Or(k.example, k.value.fallback()) }
