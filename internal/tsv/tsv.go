// Package tsv reads the tables that programs carry with them: lines of cells that tabs
// separate, below a line of titles.
package tsv

import (
	"fmt"
	"strings"
)

// Read returns the rows of a table below its titles. Each line must have width cells;
// name stands in the error of one that has not.
func Read(name, text string, width int) ([][]string, error) {
	var rows [][]string
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		cells := strings.Split(line, "\t")
		if len(cells) != width {
			return nil, fmt.Errorf("%s: line %d has %d cells instead of %d", name, i+1, len(cells), width)
		}
		if i > 0 {
			rows = append(rows, cells)
		}
	}
	return rows, nil
}
