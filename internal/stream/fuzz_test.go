package stream_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/parley-mcp/parley/internal/stream"
	"github.com/parley-mcp/parley/jsonrpc"
)

// However a stream is cut into lines and reads, its lines are those that
// bytes.SplitAfter finds, except empty ones and those over the limit.
func FuzzLines(f *testing.F) {
	for _, s := range []string{"", "\n\n", "{}\n", "{}", "a\r\nb", " \t{\"a\":1} \n", strings.Repeat("x", 40) + "\nshort\n", "\x00\xff\n"} {
		f.Add(s)
	}
	const limit = 32
	f.Fuzz(func(t *testing.T, text string) {
		var want []string
		for _, line := range strings.SplitAfter(text, "\n") {
			switch trimmed := string(bytes.TrimSpace([]byte(line))); {
			case len(line) > limit+2: // the line's end does not count
				want = append(want, "too long")
			case trimmed != "":
				want = append(want, trimmed)
			}
		}
		l := stream.Lines(iotest.HalfReader(strings.NewReader(text)), io.Discard, limit, nil)
		var long *jsonrpc.TooLongError
		for i := 0; ; i++ {
			line, err := l.Read()
			switch {
			case errors.As(err, &long):
				line = []byte("too long")
			case errors.Is(err, io.EOF):
				if i < len(want) {
					t.Fatalf("%q ended after %d of %q", text, i, want)
				}
				return
			case err != nil:
				t.Fatal(err)
			}
			if i >= len(want) || string(line) != want[i] {
				t.Fatalf("line %d of %q is %q, want %q", i, text, line, want)
			}
		}
	})
}
