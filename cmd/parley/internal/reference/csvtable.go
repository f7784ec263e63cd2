package reference

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxImportBytes   = 8 << 20
	maxImportRows    = 200_000
	maxImportColumns = 100
)

// csvTable is a CSV document, read and checked.
type csvTable struct {
	columns []csvColumn
	rows    [][]string
}

// csvColumn has the narrowest type that all values of the column fit.
type csvColumn struct {
	name string
	typ  string // INTEGER, REAL or TEXT
}

// parseCSV reads a document whose first line names the columns.
func parseCSV(text string) (*csvTable, error) {
	if len(text) > maxImportBytes {
		return nil, fmt.Errorf("the CSV has %d bytes; the limit is %d, so import it in parts", len(text), maxImportBytes)
	}
	if !utf8.ValidString(text) {
		return nil, errors.New("the CSV is not UTF-8; convert it first")
	}
	reader := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
	header, err := reader.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the CSV is empty; its first line must name the columns")
	}
	if err != nil {
		return nil, fmt.Errorf("the CSV cannot be read: %w", err)
	}
	names, err := columnNames(header)
	if err != nil {
		return nil, err
	}
	rows, err := readRows(reader)
	if err != nil {
		return nil, err
	}
	t := &csvTable{rows: rows}
	for i, name := range names {
		t.columns = append(t.columns, csvColumn{name, typeOf(rows, i)})
	}
	return t, nil
}

func readRows(reader *csv.Reader) ([][]string, error) {
	var rows [][]string
	for {
		row, err := reader.Read()
		switch {
		case errors.Is(err, io.EOF):
			return rows, nil
		case err != nil:
			return nil, fmt.Errorf("the CSV cannot be read: %w", err)
		case len(rows) == maxImportRows:
			return nil, fmt.Errorf("the CSV has more than %d rows; import it in parts", maxImportRows)
		}
		rows = append(rows, row)
	}
}

func columnNames(header []string) ([]string, error) {
	if len(header) > maxImportColumns {
		return nil, fmt.Errorf("the CSV has %d columns; the limit is %d", len(header), maxImportColumns)
	}
	names := make([]string, len(header))
	for i, h := range header {
		name := strings.TrimSpace(h)
		if name == "" || len(name) > 64 || strings.ContainsRune(name, 0) {
			return nil, fmt.Errorf("column %d is named %q; a name has 1 to 64 bytes", i+1, name)
		}
		if slices.ContainsFunc(names[:i], func(other string) bool { return strings.EqualFold(other, name) }) {
			return nil, fmt.Errorf("two columns are named %q; rename one in the first line", name)
		}
		names[i] = name
	}
	return names, nil
}

var (
	integerText = regexp.MustCompile(`^(0|-?[1-9][0-9]{0,17})$`)
	realText    = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?$`)
)

// typeOf keeps what looks like a number but would not come back as it was
// written, such as a phone number with a leading zero, as text.
func typeOf(rows [][]string, i int) string {
	integers, reals, empty := true, true, true
	for _, row := range rows {
		if v := row[i]; v != "" {
			empty = false
			integers = integers && integerText.MatchString(v)
			reals = reals && realText.MatchString(v)
		}
	}
	switch {
	case empty || !reals:
		return "TEXT"
	case integers:
		return "INTEGER"
	}
	return "REAL"
}

// value converts a field for the database. In columns of numbers, an empty
// field is NULL.
func (c csvColumn) value(text string) any {
	if c.typ == "TEXT" {
		return text
	}
	if text == "" {
		return nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && c.typ == "INTEGER" {
		return n
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text // cannot happen after typeOf; the text is right anyway
	}
	return f
}

// quoteName quotes an SQL identifier.
func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
