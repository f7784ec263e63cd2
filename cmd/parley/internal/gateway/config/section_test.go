package config

import (
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/internal/yamljson"
)

// quota is a section as others add them: a type whose keys say what there can be.
type quota struct {
	most  int64
	rules []quotaRule
}

type quotaRule struct {
	who   string
	calls int
}

func (q *quota) keys() []key {
	return []key{
		{name: "size", value: size{&q.most, 1 << 20, 0, 1 << 30}, doc: "How large a result may be."},
		{name: "rules", value: list[quotaRule]{&q.rules, func(into *quotaRule) value { return object{into} }, 1}, doc: "Who may do how much."},
	}
}

func (r *quotaRule) keys() []key {
	return []key{
		{name: "who", required: true, value: word{&r.who, notEmpty}, doc: "Whom the rule is for."},
		{name: "calls", value: number{&r.calls, 5, 1, 100}, doc: "How many calls."},
	}
}

// A section is read, and described, as its keys say.
func TestSection(t *testing.T) {
	for source, want := range map[string]string{
		"{}":           "",
		"{size: 0}":    "",
		"{size: 3KiB}": "",
		"{rules: [{who: a, calls: 7}, {who: b}]}": "",
		"{size: 3}":                     `size: this is a number; it must be a size from 0 to 1GiB, such as 64KiB`,
		"{size: 3KB}":                   `size: "3KB" does not fit; it must be a size from 0 to 1GiB, such as 64KiB`,
		"{size: 2GiB}":                  `size: "2GiB" does not fit`,
		"{size: -1B}":                   `size: "-1B" does not fit`,
		"{size: 9999999999999GiB}":      `size: "9999999999999GiB" does not fit`,
		"{size: 99999999999999999999B}": `size: "99999999999999999999B" does not fit`,
		"{rules: []}":                   `rules: the list is empty`,
		"{rules: [{calls: 0}, {hwo: b, who: b}]}": `rules[0]: the key who is missing`,
	} {
		n, err := yamljson.Parse([]byte(source))
		if err != nil {
			t.Fatal(err)
		}
		r := newReader("g.yaml", []byte(source), outside("", nil))
		q := quota{}
		r.value(object{&q}, n, "")
		switch {
		case want == "" && len(r.mistakes) > 0:
			t.Errorf("%s: %v", source, r.mistakes)
		case want != "" && !strings.Contains(r.mistakes.Error(), want):
			t.Errorf("%s: %v; want %s", source, r.mistakes, want)
		}
	}
	q := quota{}
	r := newReader("g.yaml", nil, outside("", nil))
	n, err := yamljson.Parse([]byte("{size: 2MiB, rules: [{who: a, calls: 7}, {who: b}]}"))
	if err != nil {
		t.Fatal(err)
	}
	r.value(object{&q}, n, "")
	if q.most != 2<<20 || len(q.rules) != 2 || q.rules[0] != (quotaRule{"a", 7}) || q.rules[1] != (quotaRule{"b", 5}) {
		t.Errorf("%+v", q)
	}
	raw, err := wire.Marshal(object{&q}.schema())
	if err != nil {
		t.Fatal(err)
	}
	if raw, err = wire.Canonical(raw); err != nil || !strings.Contains(string(raw), `"size":{"anyOf":[{"pattern":"^[0-9]+(B|KiB|MiB|GiB)$","type":"string"},{"const":0}],"default":"1MiB","description":"How large a result may be."}`) {
		t.Errorf("%s, %v", raw, err)
	}
}
