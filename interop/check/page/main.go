// Command page makes docs/check-peers.md from the reports that interop/check/run.sh
// left: what parley check says of other people's servers and clients.
package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/parley-mcp/parley/internal/check/verdict"
)

func main() {
	peers := flag.String("peers", "interop/check/peers.tsv", "the list of peers")
	verified := flag.String("verified", "interop/check/verified.tsv", "what was verified by hand")
	reports := flag.String("reports", ".tmp/check-peers", "the folder of the reports")
	flag.Parse()
	out := bufio.NewWriter(os.Stdout) //nolint:forbidigo // the page is what it prints
	err := run(out, *peers, *verified, *reports)
	if err = errors.Join(err, out.Flush()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(out io.Writer, peersFile, verifiedFile, reports string) error {
	rows, err := table(peersFile, 8)
	if err != nil {
		return err
	}
	remarks, err := table(verifiedFile, 4)
	if err != nil {
		return err
	}
	var all []*subject
	for _, row := range rows {
		all, err = add(all, row, reports)
		if err != nil {
			return err
		}
	}
	p := &page{out: out, subjects: all, remarks: map[[3]string]string{}}
	for _, r := range remarks {
		p.remarks[[3]string{r[0], r[1], r[2]}] = r[3]
	}
	return p.write()
}

// table reads a file of tab-separated values; lines that begin with # are comments.
func table(file string, columns int) ([][]string, error) {
	f, err := os.Open(file) //nolint:gosec // the caller names it
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	r := csv.NewReader(f)
	r.Comma, r.Comment, r.LazyQuotes, r.FieldsPerRecord = '\t', '#', true, columns
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return rows, nil
}

// subject is a peer in one role, over all its transports.
type subject struct {
	name, version, language, role string
	runs                          []verdict.Run
	notes                         []string // transports without a report, and why a report is partial
}

// add puts the report of a row of peers.tsv to its subject.
func add(all []*subject, row []string, reports string) ([]*subject, error) {
	name, version, language, role, transport := row[0], row[1], row[2], row[4], row[5]
	i := slices.IndexFunc(all, func(s *subject) bool { return s.name == name && s.role == role })
	if i < 0 {
		i = len(all)
		all = append(all, &subject{name: name, version: version, language: language, role: role})
	}
	s := all[i]
	text, err := os.ReadFile(filepath.Join(reports, name+"."+role+"."+transport+".json")) //nolint:gosec // names are our own
	switch {
	case errors.Is(err, fs.ErrNotExist) && role == "client" && transport == "sse" && len(s.runs) > 0:
		return all, nil // it is judged over HTTP+SSE where the revision has nothing else
	case errors.Is(err, fs.ErrNotExist):
		s.notes = append(s.notes, "no report over "+transport)
		return all, nil
	case err != nil:
		return nil, err
	}
	var r verdict.Report
	if len(text) == 0 {
		s.notes = append(s.notes, "could not be judged over "+transport)
		return all, nil
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("the report of %s over %s: %w", name, transport, err)
	}
	if r.Partial != "" {
		s.notes = append(s.notes, transport+": "+r.Partial)
	}
	s.runs = append(s.runs, r.Runs...)
	return all, nil
}
