package report_test

import (
	"strings"
	"testing"

	"github.com/parley-mcp/parley/bench/internal/report"
	"github.com/parley-mcp/parley/bench/internal/stats"
)

func TestTable(t *testing.T) {
	table := report.Table{Head: []string{"what", "µs"}}
	table.Add("a call", "1.50")
	table.Add("x", "1,000")
	want := "" +
		"| what   |    µs |\n" +
		"| ------ | ----: |\n" +
		"| a call |  1.50 |\n" +
		"| x      | 1,000 |\n"
	if got := table.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestNotes(t *testing.T) {
	var n report.Notes
	if n.String() != "" {
		t.Error("no notes are not nothing")
	}
	first, second, again := n.Mark("it has none"), n.Mark("it is slow"), n.Mark("it has none")
	if first != again || first == second {
		t.Errorf("marks %q, %q, %q: the same text must have the same one", first, second, again)
	}
	if want := "<sup>1</sup> it has none. <sup>2</sup> it is slow."; n.String() != want {
		t.Errorf("notes = %q, want %q", n.String(), want)
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0.00", 1.256: "1.26", 12.34: "12.3", 123.4: "123", 1234.5: "1,234", 1234567: "1,234,567"} {
		if got := report.Number(v); got != want {
			t.Errorf("Number(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestSpread(t *testing.T) {
	if got, want := report.Spread(stats.Spread{Median: 1.07, Min: 1, Max: 12}), "1.07 (1.00–12.0)"; got != want {
		t.Errorf("Spread = %q, want %q", got, want)
	}
}

func TestReplace(t *testing.T) {
	page := "# Title\n\n<!-- begin results -->\nold\n<!-- end results -->\n\nprose\n"
	got, err := report.Replace([]byte(page), "results", "new\n\n")
	want := "# Title\n\n<!-- begin results -->\n\nnew\n\n<!-- end results -->\n\nprose\n"
	if err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if again, _ := report.Replace(got, "results", "new"); string(again) != want {
		t.Errorf("a second time gives %q", again)
	}
	if _, err := report.Replace([]byte(strings.ReplaceAll(page, "end", "fin")), "results", "x"); err == nil {
		t.Error("a page without markers is no error")
	}
	if _, err := report.Replace([]byte(page), "others", "x"); err == nil {
		t.Error("markers of another name are taken")
	}
}
