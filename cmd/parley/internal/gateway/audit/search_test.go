package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var began = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// written writes a log in three files, with lines a minute apart, and returns its path.
func written(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	n := 0
	for _, name := range []string{"audit-2026-11-01T12-10-00.000-size.jsonl", "audit-2026-11-01T12-20-00.000-time.jsonl", "audit.jsonl"} {
		var text strings.Builder
		for range 10 {
			backend, outcome := "files", "ok"
			if n%3 == 0 {
				backend = "shop"
			}
			if n%5 == 0 {
				outcome = "denied"
			}
			fmt.Fprintf(&text, `{"time":%q,"outcome":%q,"ms":1,"principal":"https://i.example user u%d","backend":%q,"method":"tools/call","subject":"Tool %d"}`+"\n",
				began.Add(time.Duration(n)*time.Minute).Format(time.RFC3339Nano), outcome, n%2, backend, n)
			n++
		}
		if name == "audit.jsonl" {
			text.WriteString("no line at all\n" + `{"time":"2026-11-01T12:40:00Z","outcome":"console","ms":0,"principal":"ada","console":{"by":"ada","action":"pins.approve"}}` + "\n")
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, other := range []string{"audit-old.jsonl", "audit.jsonl.bak", "other.jsonl"} {
		if err := os.WriteFile(filepath.Join(dir, other), []byte(`{"time":"2026-11-01T12:00:00Z","subject":"another file"}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "audit.jsonl")
}

func subjects(found *Found) (list []string) {
	for _, raw := range found.Lines {
		var e line
		if err := json.Unmarshal(raw, &e); err != nil {
			panic(err)
		}
		list = append(list, strings.TrimPrefix(e.Subject, "Tool "))
	}
	return list
}

// A search finds what is asked for in all files of the log, the newest first.
func TestSearch(t *testing.T) {
	path := written(t)
	for _, test := range []struct {
		name string
		q    Query
		want string
	}{
		{"all", Query{Limit: 3}, " 29 28"},
		{"a backend", Query{Backend: "shop"}, "27 24 21 18 15 12 9 6 3 0"},
		{"an outcome", Query{Outcome: "denied"}, "25 20 15 10 5 0"},
		{"a backend and an outcome", Query{Backend: "shop", Outcome: "denied"}, "15 0"},
		{"a principal", Query{Principal: "USER U1", Backend: "shop"}, "27 21 15 9 3"},
		{"a time", Query{After: began.Add(8 * time.Minute), Before: began.Add(12 * time.Minute)}, "11 10 9 8"},
		{"a text", Query{Text: "tOOL 1"}, "19 18 17 16 15 14 13 12 11 10 1"},
		{"a method", Query{Method: "tools/list"}, ""},
		{"what was done in the console", Query{Method: "pins.approve"}, ""},
	} {
		found, err := Search(t.Context(), path, test.q)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(subjects(found), " "); got != test.want {
			t.Errorf("%s: found %q, want %q", test.name, got, test.want)
		}
		if test.name == "what was done in the console" && len(found.Lines) != 1 {
			t.Errorf("%s is not found", test.name)
		}
		if found.Broken > 1 {
			t.Errorf("%s: %d broken lines", test.name, found.Broken)
		}
	}
}

// A search that has stopped goes on where it was, across files, and each line comes once.
func TestSearchGoesOn(t *testing.T) {
	path := written(t)
	var got []string
	q := Query{Text: "tool", Limit: 4}
	for {
		found, err := Search(t.Context(), path, q)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, subjects(found)...)
		if q.From = found.Next; q.From == "" {
			break
		}
	}
	var want []string
	for n := range 30 {
		want = append(want, fmt.Sprint(29-n))
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %q", got)
	}
	for _, from := range []string{"x", "-1@audit.jsonl", "5@", "5@../../etc/passwd", "99999@audit.jsonl", "5@other.jsonl"} {
		if _, err := Search(t.Context(), path, Query{From: from}); err == nil {
			t.Errorf("it goes on at %q", from)
		}
	}
	if _, err := Search(t.Context(), path, Query{From: "5@audit-2020.jsonl"}); !errors.Is(err, ErrGone) {
		t.Errorf("a file that is gone: %v", err)
	}
}

// What was done in the console is a line of the log.
func TestChanged(t *testing.T) {
	d := new(disk)
	l := newLog(d, quiet(Options{Level: None}))
	if err := l.Changed(Change{By: "ada", Role: "operator", Action: "pins.approve", Target: "shop/tool/pay", Before: "sha256:1", After: "sha256:2"}, "127.0.0.1", nil); err != nil {
		t.Fatal(err)
	}
	if err := l.Changed(Change{By: "bob", Role: "viewer", Action: "reload", Refused: true}, "", errors.New("no role")); err != nil {
		t.Fatal(err)
	}
	got := d.lines(t)
	if len(got) != 2 || got[0]["outcome"] != "console" || got[0]["principal"] != "ada" || got[1]["error"] != "no role" {
		t.Errorf("lines %v", got)
	}
	d.full = true
	if err := newLog(d, quiet(Options{Required: true})).Changed(Change{By: "ada", Action: "reload"}, "", nil); err == nil {
		t.Error("nothing is done that a required log does not have")
	}
}

// FuzzBackwards reads texts from their end, and finds the lines that they have.
func FuzzBackwards(f *testing.F) {
	f.Add([]byte("a\nb\n"))
	f.Add([]byte("\n\nno end"))
	f.Add([]byte(strings.Repeat("x", step) + "\n" + strings.Repeat("y", 3*step)))
	f.Fuzz(func(t *testing.T, text []byte) {
		b := newBackwards(bytes.NewReader(text), int64(len(text)))
		var got [][]byte
		for {
			line, ok, err := b.next()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			got = append(got, bytes.Clone(line))
		}
		slices.Reverse(got)
		var want [][]byte
		for line := range bytes.Lines(text) {
			want = append(want, bytes.TrimSuffix(line, []byte("\n")))
		}
		if !slices.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("got %q\nwant %q", got, want)
		}
	})
}

// FuzzSearch looks for things in files that may have anything.
func FuzzSearch(f *testing.F) {
	f.Add([]byte(`{"time":"2026-11-01T12:00:00Z","outcome":"ok"}`+"\n{"), "ok", "5@audit.jsonl")
	f.Fuzz(func(t *testing.T, text []byte, wanted, from string) {
		path := filepath.Join(t.TempDir(), "audit.jsonl")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		found, err := Search(t.Context(), path, Query{Text: wanted, From: from})
		if err != nil {
			return
		}
		for _, raw := range found.Lines {
			if !json.Valid(raw) {
				t.Errorf("%q is no JSON", raw)
			}
		}
	})
}
