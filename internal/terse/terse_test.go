package terse_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/internal/terse"
)

func TestRepetitionsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := terse.Logger(slog.New(slog.NewTextHandler(&out, nil)))
		log = terse.Logger(log.With("server", "x"))
		const million = 1 << 20
		for range million {
			log.Warn("junk")
		}
		log.Warn("something else")
		if n := strings.Count(out.String(), "msg=junk"); n != 10+17 {
			t.Errorf("%d of %d records passed, want the first 10 and 17 counts", n, million)
		}
		for _, want := range []string{"repeated=16\n", "repeated=1048576\n", `msg="something else" server=x` + "\n"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("the log lacks %q", want)
			}
		}
		out.Reset()
		<-time.NewTimer(time.Minute).C
		log.Warn("junk")
		if !strings.Contains(out.String(), "msg=junk server=x\n") {
			t.Errorf("a minute later it says %q", out.String())
		}
	})
}

func TestLongTextsAreCut(t *testing.T) {
	var out bytes.Buffer
	log := terse.Logger(slog.New(slog.NewTextHandler(&out, nil)))
	long := strings.Repeat("x", 1<<20)
	log.Warn("junk", "method", long, "error", errors.New(long), "n", 7)
	if n := out.Len(); n < 4000 || n > 5000 || !strings.Contains(out.String(), "n=7") {
		t.Errorf("%d bytes, want two texts of 2000 and the rest", n)
	}
}
