package console

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
)

// What was decided is shown for a while, wherever it was decided: the newest first.
func TestDecided(t *testing.T) {
	s := new(stage)
	c := open(t, s, Entrance{})
	b := as(t, c, web.Viewer)
	if _, body := b.do("GET", "/api/v1/approvals", ""); !strings.Contains(body, `"decided":[]`) {
		t.Errorf("before any decision: %s", body)
	}
	for i := range maxDecided + 5 {
		s.decided(Decided{Decision: "refused", ID: fmt.Sprintf("a%d", i), By: "bob", Reason: "not today"})
	}
	_, body := b.do("GET", "/api/v1/approvals", "")
	if !strings.Contains(body, `"decided":[{"decision":"refused"`) || !strings.Contains(body, `"id":"a104","backend":"","shown":"","by":"bob","reason":"not today"`) || strings.Contains(body, `"id":"a4"`) {
		t.Errorf("after many: %.600s", body)
	}
	if n := strings.Count(body, `"decision"`); n != maxDecided {
		t.Errorf("%d are remembered", n)
	}
}
