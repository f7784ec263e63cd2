package stream

import (
	"bufio"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// A Read of a line that is ready does not read from the stream.
func FuzzReady(f *testing.F) {
	for _, s := range []string{"", "{}\n{}\n", "a\n \r\n\n", "\n\na\nb", strings.Repeat("x", 40) + "\nshort\n", strings.Repeat(" ", 40) + "\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var reads int
		r := counted{iotest.HalfReader(strings.NewReader(text)), &reads}
		l := &lines{r: bufio.NewReaderSize(r, 16), limit: 20}
		for i := 0; ; i++ {
			ready, before := l.ready(), reads
			_, err := l.Read()
			if ready && reads != before {
				t.Fatalf("line %d of %q was ready, and was read for %d times", i, text, reads-before)
			}
			if err == io.EOF { //nolint:errorlint // it is never wrapped
				return
			}
		}
	})
}

type counted struct {
	io.Reader
	reads *int
}

func (c counted) Read(p []byte) (int, error) {
	*c.reads++
	return c.Reader.Read(p)
}
