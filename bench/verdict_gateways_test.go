package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/bench/payload"
)

// fakePassed returns results with one row, in which these gateways have these
// processor times and median latencies.
func fakePassed(cpu, p50 [4]float64) *passed {
	w := &workload{name: gatewayPrefix + "small call", era: payload.Session, budget: cpuOfProxy}
	r := &passed{calls: []*row{{workload: w}}}
	for i, name := range []string{"direct", "reverseproxy", "gateway", "fastmcp"} {
		at := slices.IndexFunc(gateways, func(g *gateway) bool { return g.name == name })
		r.all = append(r.all, &installed{gateway: gateways[at]})
		r.calls[0].cells = append(r.calls[0].cells, &cell{cpu: []float64{cpu[i]}, p50: []float64{p50[i]}})
	}
	return r
}

func TestTargetsOfGateways(t *testing.T) {
	for _, tt := range []struct {
		name     string
		cpu, p50 [4]float64
		want     []bool
	}{
		{"all reached", [4]float64{0, 10, 20, 30}, [4]float64{100, 120, 150, 200}, []bool{true, true, true}},
		{"too much", [4]float64{0, 10, 21, 30}, [4]float64{100, 120, 150, 200}, []bool{false, true, true}},
		{"too late", [4]float64{0, 10, 20, 30}, [4]float64{100, 120, 151, 200}, []bool{true, false, true}},
		{"behind", [4]float64{0, 10, 20, 19}, [4]float64{100, 120, 150, 200}, []bool{true, true, false}},
		{"what has nothing to do is not ahead", [4]float64{0, 10, 20, 0}, [4]float64{100, 120, 150, 0}, []bool{true, true, true}},
	} {
		var got []bool
		for _, x := range fakePassed(tt.cpu, tt.p50).targets(2) {
			got = append(got, x.reached)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: reached %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestTargetOfManyServers(t *testing.T) {
	r := fakePassed([4]float64{0, 10, 20, 30}, [4]float64{100, 120, 150, 200})
	for ms, want := range map[float64]bool{49: true, 51: false} {
		r.many = []*manyCell{{}, {}, {cell: cell{p50: []float64{ms * 1000}}}, {}}
		all := r.targets(2)
		if got := all[len(all)-2]; got.reached != want || !strings.Contains(got.what, "500 servers") {
			t.Errorf("%g ms: %+v, want reached: %v", ms, got, want)
		}
	}
}

func TestATargetThatCannotBeMeasuredIsMissed(t *testing.T) {
	r := fakePassed([4]float64{0, 10, 20, 30}, [4]float64{100, 120, 150, 200})
	*r.calls[0].cells[2] = cell{lacks: "it ended"}
	if got := r.targets(2)[0]; got.reached || got.got != "it ended" {
		t.Errorf("the target is %+v, want one that is missed, with the reason", got)
	}
}

func TestALatencyThatTheBareProxyMissesIsExplained(t *testing.T) {
	for _, tt := range []struct {
		name string
		p50  [4]float64
		want bool
	}{
		{"both miss it", [4]float64{100, 300, 400, 500}, true},
		{"the proxy reaches it", [4]float64{100, 140, 400, 500}, false},
		{"nothing is missed", [4]float64{100, 300, 140, 500}, false},
	} {
		r := fakePassed([4]float64{0, 10, 20, 30}, tt.p50)
		if why := r.whyLate(2); strings.Contains(why, "3.00 to 3.00 × no gateway") != tt.want || (why != "") != tt.want {
			t.Errorf("%s: %q, want an explanation: %v", tt.name, why, tt.want)
		}
	}
	r := fakePassed([4]float64{0, 10, 20, 30}, [4]float64{100, 300, 400, 500})
	if got := r.targets(2)[1].got; got != "4.00 × no gateway; 1.33 × ReverseProxy" {
		t.Errorf("measured is %q", got)
	}
}

func TestTablesOfGateways(t *testing.T) {
	r := fakePassed([4]float64{0, 10, 20, 30}, [4]float64{100, 120, 150, 200})
	r.rounds = 1
	*r.calls[0].cells[3] = cell{lacks: "it ended"}
	r.skipped = []string{"Some was not measured: it needs a newer Go."}
	text := r.markdown()
	for _, want := range []string{
		"### Gateways: small call", "| parley gateway, Go ", "2.00 (2.00–2.00)", "1.50 (1.50–1.50)", "fastmcp 4.1.2: it ended.",
		"Some was not measured: it needs a newer Go.\n", "### Gateways: targets", " yes |", "load average",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
}
