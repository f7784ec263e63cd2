package config

import (
	"math"
	"regexp"
	"strconv"
	"time"

	"go.yaml.in/yaml/v4"
)

// maxTime bounds times that may be long.
const maxTime = 7 * 24 * time.Hour

var frequencyForm = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)/(s|m|h|d)$`)

// frequency is how often something happens, such as 600/m; it is kept by the second.
type frequency struct{ into *float64 }

func (v frequency) preset()          { *v.into = 0 }
func (v frequency) fallback() string { return "" }
func (v frequency) expects() string {
	return "how often in a second, minute, hour or day, such as 10/s or 600/m"
}

func (v frequency) schema() schema {
	return schema{"type": "string", "pattern": frequencyForm.String()}
}

func (v frequency) read(r *reader, n *yaml.Node, at where) {
	seconds := map[string]float64{"s": 1, "m": 60, "h": 3600, "d": 86400}
	m := frequencyForm.FindStringSubmatch(n.Value)
	if n.Kind != yaml.ScalarNode || m == nil {
		r.wrong(v, n, at)
		return
	}
	count, err := strconv.ParseFloat(m[1], 64)
	if err != nil || count == 0 || math.IsInf(count, 0) {
		r.wrong(v, n, at)
		return
	}
	*v.into = count / seconds[m[2]]
}

// checked is a value whose parts must fit together.
type checked struct {
	value

	check func() error
}

func (v checked) inner() (keys []key, stands string) { return innerOf(v.value) }

func (v checked) read(r *reader, n *yaml.Node, at where) {
	before := len(r.mistakes)
	v.value.read(r, n, at)
	if len(r.mistakes) > before {
		return
	}
	if err := v.check(); err != nil {
		r.fault(n, at, "%w", err)
	}
}
