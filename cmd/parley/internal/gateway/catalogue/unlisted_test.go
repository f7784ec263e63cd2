package catalogue_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/catalogue"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
)

// What rules rename or override and a list does not have is said in the log, once for each
// list.
func TestUnlisted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		f := has("echo", "hidden")
		rules := []naming.Rules{{
			Backend: "a", Tools: naming.Selection{Exclude: []string{"hidden"}}, RenameTools: map[string]string{"ecko": "say", "echo": "e"},
			OverrideTools: map[string]naming.Override{"ecko": {}, "rm": {}, "hidden": {}}, RenamePrompts: map[string]string{"p": "q"},
		}}
		c := madeBy(t, func(o *catalogue.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) }, rules, []*fake{f}, nil)
		for range 3 {
			want(t, listed(t, c, "p", all), "e for 1m0s private")
			pass(time.Hour)
		}
		if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, `backend=a method=tools/list names="[ecko rm]"`) {
			t.Errorf("the log has\n%s", text)
		}
		f.set(func(f *fake) { f.pages = map[string][]string{"": {tools("echo", "ecko", "rm", "hidden")}} })
		log.Reset()
		want(t, listed(t, c, "p", all), "e say a__rm for 1m0s private")
		if log.Len() > 0 {
			t.Errorf("all is there, and the log has\n%s", log.String())
		}
	})
}
