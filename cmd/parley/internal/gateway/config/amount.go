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

var (
	frequencyForm = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)/(s|m|h|d)$`)
	sizeForm      = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)(KiB|MiB|GiB)$`)
)

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

// size is a number of bytes, such as 4MiB.
type size struct{ into *int }

func (v size) preset()          { *v.into = 0 }
func (v size) fallback() string { return "" }
func (v size) expects() string  { return "a size from 1KiB to 1024GiB, such as 4MiB" }
func (v size) schema() schema   { return schema{"type": "string", "pattern": sizeForm.String()} }

func (v size) read(r *reader, n *yaml.Node, at where) {
	shift := map[string]float64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
	m := sizeForm.FindStringSubmatch(n.Value)
	if n.Kind != yaml.ScalarNode || m == nil {
		r.wrong(v, n, at)
		return
	}
	count, err := strconv.ParseFloat(m[1], 64)
	bytes := count * shift[m[2]]
	if err != nil || bytes < 1<<10 || bytes > 1<<40 {
		r.wrong(v, n, at)
		return
	}
	*v.into = int(bytes)
}
