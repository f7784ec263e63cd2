package tsv_test

import (
	"reflect"
	"testing"

	"github.com/parley-mcp/parley/internal/tsv"
)

func TestRead(t *testing.T) {
	rows, err := tsv.Read("a.tsv", "x\ty\n1\t2\n3\t\n\n", 2)
	if err != nil || !reflect.DeepEqual(rows, [][]string{{"1", "2"}, {"3", ""}}) {
		t.Errorf("%q, %v", rows, err)
	}
	if _, err := tsv.Read("a.tsv", "x\ty\n1\n", 2); err == nil || err.Error() != "a.tsv: line 2 has 1 cells instead of 2" {
		t.Error(err)
	}
}
