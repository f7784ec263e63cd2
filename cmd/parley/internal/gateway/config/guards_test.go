package config

import (
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/audit"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/limit"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/profile"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/scan"
)

// TestGuards reads all that can be said of guards.
func TestGuards(t *testing.T) {
	c := read(t, "testdata/valid/all.yaml", map[string]string{"TOKEN": "s3cret"})
	if p := c.Policy; !p.AllowByDefault || !p.DryRun {
		t.Errorf("%+v", p)
	}
	if sources, err := c.Policy.Sources(); err != nil || len(sources) != 1 || sources[0].Text != "forbid(principal, action, resource) when { resource has destructive && resource.destructive };\n" {
		t.Errorf("%+v, %v", sources, err)
	}
	if path, err := c.Pins.Path(); err != nil || path != filepath.Join("testdata", "valid", "pins.json") || !c.Pins.ApproveAll || c.Pins.WarnOnly {
		t.Errorf("%s, %v, %+v", path, err, c.Pins)
	}
	want := []limit.Rule{{
		By: []limit.Dimension{limit.ByPrincipal, limit.BySubject}, Backend: "s*", Subject: "pay", Method: "tools/call",
		Rate: 1.5, Burst: 3, Concurrent: 2, Time: 5 * time.Minute, ResultBytes: 4 << 20, Cut: true,
	}}
	if !reflect.DeepEqual(c.Limits, want) {
		t.Errorf("%+v\nwant %+v", c.Limits, want)
	}
	a := c.Audit
	if path, err := a.Path(); err != nil || path != filepath.Join("testdata", "valid", "s3cret.jsonl") {
		t.Errorf("%s, %v", path, err)
	}
	if a.Level != audit.Redacted || !a.Required || a.MaxMiB != 100 || a.KeepDays != 30 || !reflect.DeepEqual(a.Levels(), map[string]audit.Level{"shop": audit.None}) {
		t.Errorf("%+v", a)
	}
	profiles := Profiles{Default: "claude", Clients: []profile.Client{{Pattern: "acme-*", Profile: "openai"}, {Pattern: "other", Profile: "none"}}}
	if !reflect.DeepEqual(c.Profiles, profiles) || c.View("work").Profile() != profile.Auto {
		t.Errorf("%+v, %s", c.Profiles, c.View("work").Profile())
	}
	definitions, results := c.Scan.Actions()
	if want := (scan.Actions{scan.Hidden: scan.Block, scan.Instructions: scan.Log, scan.Shadowing: scan.Block, scan.Secrets: scan.Log}); !reflect.DeepEqual(definitions, want) {
		t.Errorf("%+v", definitions)
	}
	if want := (scan.Actions{scan.Hidden: scan.Log, scan.Instructions: scan.Log, scan.Secrets: scan.Redact}); !reflect.DeepEqual(results, want) {
		t.Errorf("%+v", results)
	}
	if want := []scan.Exception{{Backend: "vault", Subject: "read_*", Kinds: []scan.Kind{scan.Secrets}, Action: scan.Off}, {Backend: "web", Action: scan.Log}}; !reflect.DeepEqual(c.Scan.Except, want) {
		t.Errorf("%+v", c.Scan.Except)
	}
}
