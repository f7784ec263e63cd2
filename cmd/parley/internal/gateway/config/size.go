package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// size is a number of bytes, such as 64KiB.
type size struct {
	into              *int64
	def, lowest, most int64
}

// units are those of sizes, the largest first. A size without a unit could be meant in
// any, so only bytes have none.
var units = []struct {
	name  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

func (v size) preset()          { *v.into = v.def }
func (v size) fallback() string { return shortSize(v.def) }
func (v size) bounds() string {
	return fmt.Sprintf("From %s to %s", shortSize(v.lowest), shortSize(v.most))
}

func (v size) expects() string {
	return fmt.Sprintf("a size from %s to %s, such as 64KiB", shortSize(v.lowest), shortSize(v.most))
}

func (v size) schema() schema {
	s := schema{"type": "string", "pattern": `^[0-9]+(B|KiB|MiB|GiB)$`}
	if v.lowest == 0 {
		return schema{"anyOf": []schema{s, {"const": 0}}}
	}
	return s
}

func (v size) read(r *reader, n *yaml.Node, at where) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" && n.Value != "0" {
		r.wrong(v, n, at)
		return
	}
	bytes, ok := parseSize(n.Value)
	if !ok || bytes < v.lowest || bytes > v.most {
		r.fault(n, at, "%.40q does not fit; it must be %s", n.Value, v.expects())
		return
	}
	*v.into = bytes
}

func parseSize(text string) (bytes int64, ok bool) {
	if text == "0" {
		return 0, true
	}
	for _, u := range units {
		if digits, has := strings.CutSuffix(text, u.name); has {
			count, err := strconv.ParseUint(digits, 10, 63)
			return int64(count) * u.bytes, err == nil && int64(count) <= math.MaxInt64/u.bytes
		}
	}
	return 0, false
}

// shortSize writes a size with the largest unit in which it is whole.
func shortSize(bytes int64) string {
	if bytes == 0 {
		return "0"
	}
	for _, u := range units {
		if bytes%u.bytes == 0 {
			return strconv.FormatInt(bytes/u.bytes, 10) + u.name
		}
	}
	return ""
}
