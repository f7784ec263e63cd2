package redact_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/redact"
)

// Secrets of before are hidden as well as those of now, and nobody's take away another's.
func TestChanging(t *testing.T) {
	var c redact.Changing
	if got := c.Now().Text("first-secret"); got != "first-secret" {
		t.Errorf("without secrets, it hides %q", got)
	}
	c.Know("a", []string{"first-secret"})
	c.Know("b", []string{"other-secret"})
	c.Know("a", []string{"second-secret"})
	c.Know("a", []string{"second-secret"}) // the same is no change
	if got := c.Now().Text("first-secret second-secret other-secret"); strings.Contains(got, "-secret") {
		t.Errorf("it shows %q", got)
	}
	c.Know("a", []string{"third-secret"})
	if got := c.Now().Text("first-secret"); got != "first-secret" {
		t.Errorf("of a secret from long ago it shows %q: what is kept would grow for ever", got)
	}
}

// A log shows no secrets, whatever they stand in.
func TestLogger(t *testing.T) {
	var c redact.Changing
	var out bytes.Buffer
	log := redact.Logger(slog.New(slog.NewTextHandler(&out, nil)), &c)
	c.Know("", []string{"hunter2-hunter2"})
	log.With("server", "http://x/hunter2-hunter2").WithGroup("g").Warn("m", "error", errors.New("says hunter2-hunter2 and ?token=abcdefgh"),
		"line", "has hunter2-hunter2", "n", 7, slog.Group("in", "deep", "hunter2-hunter2"))
	got := out.String()
	if strings.Contains(got, "hunter2") || strings.Contains(got, "abcdefgh") {
		t.Errorf("the log shows a secret: %s", got)
	}
	for _, want := range []string{"server=", "g.error=", "g.line=", "g.n=7", "g.in.deep="} {
		if !strings.Contains(got, want) {
			t.Errorf("the log lacks %s: %s", want, got)
		}
	}
}
