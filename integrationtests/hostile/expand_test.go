package hostile_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

var placeholder = regexp.MustCompile(`«[^»]*»`)

// expand fills in the placeholders of a value. names holds those that stand for
// a text known only at run time.
func expand(t *testing.T, value string, names map[string]string) string {
	t.Helper()
	return placeholder.ReplaceAllStringFunc(value, func(p string) string {
		body := strings.TrimSuffix(strings.TrimPrefix(p, "«"), "»")
		if text, ok := names[body]; ok {
			return text
		}
		text, err := produce(body)
		if err != nil {
			t.Fatalf("placeholder %s: %v", p, err)
		}
		return text
	})
}

func produce(body string) (string, error) {
	verb, rest, _ := strings.Cut(body, " ")
	switch verb {
	case "gzip":
		n, err := strconv.Atoi(rest)
		return compressed(n), err
	case "each":
		number, format, _ := strings.Cut(rest, " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			return "", err
		}
		format, err = strconv.Unquote(format)
		parts := make([]string, n)
		for i := range parts {
			parts[i] = numbered(format, i)
		}
		return strings.Join(parts, ","), err
	}
	quoted, err := strconv.QuotedPrefix(body)
	if err != nil {
		return "", err
	}
	text, err := strconv.Unquote(quoted)
	if err != nil {
		return "", err
	}
	times, ok := strings.CutPrefix(body[len(quoted):], " × ")
	if !ok {
		return text, nil
	}
	n, err := strconv.Atoi(times)
	return strings.Repeat(text, n), err
}

// numbered fills in %d and %[2]d.
func numbered(format string, i int) string {
	format = strings.ReplaceAll(format, "%[2]d", strconv.Itoa(i+1))
	return strings.ReplaceAll(format, "%d", strconv.Itoa(i))
}

var bombs sync.Map // by size: making one takes a while

// compressed returns spaces.
func compressed(n int) string {
	if bomb, ok := bombs.Load(n); ok {
		return bomb.(string)
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	for range n / 1024 {
		_, _ = fmt.Fprintf(w, "%1024s", "")
	}
	_ = w.Close()
	bombs.Store(n, b.String())
	return b.String()
}
