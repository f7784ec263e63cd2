package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/bench/internal/load"
	"github.com/parley-mcp/parley/bench/internal/stats"
	"github.com/parley-mcp/parley/bench/payload"
)

// fake returns the results of three subjects with one row, which has these
// processor times.
func fake(w *workload, floor, parley, gosdk []float64) *results {
	r := &results{}
	for _, name := range []string{"floor", "parley", "gosdk"} {
		r.subjects = append(r.subjects, &subject{peer: &peer{name: name, label: "the " + name}})
	}
	r.rows = []*row{{workload: w, cells: []*cell{{cpu: floor}, {cpu: parley}, {cpu: gosdk}}}}
	return r
}

func TestVerdict(t *testing.T) {
	small := &workload{name: "small call", era: payload.Stateless, budget: 1.25}
	large := &workload{name: "large call", era: payload.Session}
	for _, tt := range []struct {
		name string
		r    *results
		want []string
	}{
		{"within all", fake(small, []float64{10, 20}, []float64{11, 22}, []float64{200, 400}), []string{"Nothing."}},
		{"over the budget", fake(small, []float64{10}, []float64{15}, []float64{300}), []string{
			"small call: 1.50 × the floor, and the budget is 1.25 ×.",
		}},
		{"not enough ahead", fake(small, []float64{10}, []float64{10}, []float64{110}), []string{
			"small call: 11.0 × less than the official Go SDK, and 12 × is wanted.",
		}},
		{"behind", fake(large, []float64{10}, []float64{30}, []float64{20}), []string{"large call: 1.50 × what the gosdk takes."}},
		{"a round of luck does not count", fake(large, []float64{1, 1, 1}, []float64{10, 30, 10}, []float64{20, 20, 20}), []string{"Nothing."}},
	} {
		var b strings.Builder
		tt.r.verdict(&b)
		_, list, _ := strings.Cut(b.String(), "medians.\n\n")
		if want := "- " + strings.Join(tt.want, "\n- ") + "\n"; list != want {
			t.Errorf("%s: the verdict is\n%swant\n%s", tt.name, list, want)
		}
	}
}

func TestVerdictOfMemory(t *testing.T) {
	r := fake(&workload{name: "x"}, nil, nil, nil)
	r.rows = nil
	r.listeners = []*held{{each: 100}, {each: 140, fanOut: stats.Of([]float64{2})}, {each: 120, fanOut: stats.Of([]float64{1})}}
	want := []string{
		"memory of an open listen stream: 1.17 × that of the gosdk.",
		"processor time until then: 2.00 × that of the gosdk.",
		"memory of an open listen stream: 1.40 × the floor, and the budget is 1.3 ×.",
	}
	if got := r.heldVerdict(1); !slices.Equal(got, want) {
		t.Errorf("the verdict is %q, want %q", got, want)
	}
}

func TestVerdictOfStarting(t *testing.T) {
	r := fake(&workload{name: "x"}, nil, nil, nil)
	r.startups = []*startup{{tools: 4, cells: []*startCell{{}, {millis: []float64{3}, memory: 5}, {millis: []float64{2}, memory: 5}}}}
	r.subjects[1].size, r.subjects[2].size = 3, 4
	want := []string{"time to the first answer, 4 tools: 1.50 × that of the gosdk."}
	if got := r.startVerdict(1); !slices.Equal(got, want) {
		t.Errorf("the verdict is %q, want %q", got, want)
	}
}

func TestVerdictOfOtherColumns(t *testing.T) {
	r := fake(&workload{name: "x"}, nil, nil, nil)
	r.rows = nil
	for _, peaks := range [][2]int64{{10, 5}, {10, 20}, {30, 10}, {10, 10}} {
		r.rows = append(r.rows, &row{cells: []*cell{{}, {peak: peaks[0]}, {peak: peaks[1]}}})
	}
	want := []string{"peak memory: above that of the gosdk in 2 of 4 rows, at most 3.00 ×."}
	if got := r.otherColumns(1); !slices.Equal(got, want) {
		t.Errorf("the verdict is %q, want %q", got, want)
	}
}

func TestCellsOfATable(t *testing.T) {
	floor, c := &cell{cpu: []float64{10, 20, 10}}, &cell{cpu: []float64{20, 30, 30}, p50: []float64{5}, p99: []float64{9}, rate: []float64{1234}}
	for want, got := range map[string]string{
		"10.0":                 ratio(floor, floor, true),
		"2.00 (1.50–3.00)":     ratio(c, floor, false),
		"5.00 / 9.00, 1,234/s": latency(c, floor, false),
	} {
		if got != want {
			t.Errorf("the cell is %q, want %q", got, want)
		}
	}
}

func TestWhatIsMissingIsSaid(t *testing.T) {
	r := fake(&workload{name: "x"}, []float64{1}, []float64{2}, nil)
	r.rows[0].cells[2].lacks = "it has none"
	second := &row{workload: &workload{name: "y"}, cells: []*cell{{cpu: []float64{1}}, {cpu: []float64{2}}, {cpu: []float64{3}}}}
	var b strings.Builder
	r.section(&b, "Title", "About.", append(r.rows, second), ratio)
	for _, want := range []string{"### Title", "– <sup>1</sup>", "<sup>1</sup> the gosdk: it has none."} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("there is no %q in\n%s", want, &b)
		}
	}
	b.Reset()
	r.section(&b, "Title", "About.", r.rows, ratio)
	if strings.Contains(b.String(), "gosdk") {
		t.Errorf("a column without anything is shown:\n%s", &b)
	}
}

func TestCellAdd(t *testing.T) {
	var c cell
	c.add(loadRun(4, 2, 1, 2, 3, 4), 8000, 7)
	want := cell{cpu: []float64{2}, rate: []float64{2}, p50: []float64{0.002}, p99: []float64{0.004}, peak: 7}
	if !slices.Equal(c.cpu, want.cpu) || !slices.Equal(c.rate, want.rate) || !slices.Equal(c.p50, want.p50) || !slices.Equal(c.p99, want.p99) || c.peak != want.peak {
		t.Errorf("the cell is %+v, want %+v", c, want)
	}
}

func TestNamesOfWorkloadsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range workloads() {
		if seen[w.name] {
			t.Errorf("%q is there twice", w.name)
		}
		seen[w.name] = true
	}
}

func loadRun(ops int, seconds float64, nanos ...time.Duration) load.Run {
	return load.Run{Ops: ops, Elapsed: time.Duration(seconds * float64(time.Second)), Latencies: nanos}
}
