package inspect

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

func TestComplete(t *testing.T) {
	inEachRevision(t, func(t *testing.T, v visited) {
		type found struct{ Values []string }
		for _, body := range []string{`{"template":"memo://{author}/{title}","name":"author","value":"a","known":{"title":"x"}}`, `{"prompt":"greet","name":"who","value":"a"}`} {
			if !slices.Contains(must[said](v.stage, "GET", v.path, nil).Features, "completions") {
				t.Error("completion is not among the features")
			}
			if got := must[found](v.stage, "POST", v.path+"/complete", json.RawMessage(body)); !slices.Equal(got.Values[:2], []string{"ada", "alan"}) {
				t.Errorf("%s: %q", body, got.Values)
			}
		}
		if err := v.refused("POST", v.path+"/complete", json.RawMessage(`{"name":"who"}`)); err.Code != "bad_reference" {
			t.Errorf("completing nothing: %+v", err)
		}
		if err := v.refused("POST", v.path+"/complete", json.RawMessage(`{"prompt":"none","name":"who"}`)); err.Message == "" {
			t.Errorf("completing what there is not: %+v", err)
		}
	})
}

type watchList struct{ Subscriptions []watch }

func TestSubscriptions(t *testing.T) {
	inEachRevision(t, func(t *testing.T, v visited) {
		const uri = "memo://note"
		body := map[string]string{"uri": uri}
		w := must[watch](v.stage, "POST", v.path+"/subscriptions", body)
		if w.State != watchOpen || w.URI != uri {
			t.Fatalf("subscribed as %+v", w)
		}
		if err := v.refused("POST", v.path+"/subscriptions", body); err.Code != "subscribed" {
			t.Errorf("subscribing twice: %+v", err)
		}
		v.host.ResourceUpdated(uri)
		untilGet(v, "/subscriptions", func(l watchList) bool {
			return l.Subscriptions[0].Count == 1 && l.Subscriptions[0].Updates[0].URI == uri
		})

		must[said](v.stage, "POST", v.path+"/reconnect", nil)
		v.settled(v.id)
		untilGet(v, "/subscriptions", func(l watchList) bool {
			return l.Subscriptions[0].State == watchOpen && len(l.Subscriptions[0].Updates) == 2
		})
		v.host.ResourceUpdated(uri)
		untilGet(v, "/subscriptions", func(l watchList) bool { return l.Subscriptions[0].Count == 2 })

		must[said](v.stage, "POST", v.path+"/disconnect", nil)
		v.settled(v.id)
		untilGet(v, "/subscriptions", func(l watchList) bool {
			return l.Subscriptions[0].State == watchEnded && l.Subscriptions[0].Error != nil
		})
		must[struct{}](v.stage, "DELETE", v.path+"/subscriptions/"+w.ID, nil)
		if l := must[watchList](v.stage, "GET", v.path+"/subscriptions", nil); len(l.Subscriptions) != 0 {
			t.Errorf("subscriptions are left: %+v", l)
		}
		if err := v.refused("DELETE", v.path+"/subscriptions/"+w.ID, nil); err.Code != "no_subscription" {
			t.Errorf("unsubscribing twice: %+v", err)
		}
	})
}

func TestBadSubscriptions(t *testing.T) {
	inEachRevision(t, func(t *testing.T, v visited) {
		for uri, code := range map[string]string{"": "bad_uri", strings.Repeat("x", maxURI+1): "bad_uri"} {
			if err := v.refused("POST", v.path+"/subscriptions", map[string]string{"uri": uri}); err.Code != code {
				t.Errorf("%.20q: %+v", uri, err)
			}
		}
		must[said](v.stage, "POST", v.path+"/disconnect", nil)
		if err := v.refused("POST", v.path+"/subscriptions", map[string]string{"uri": "memo://note"}); err.Code != "not_connected" {
			t.Errorf("subscribing without a connection: %+v", err)
		}
	})
}

// A server that does not tell of updates is not waited for.
func TestNotHonoured(t *testing.T) {
	for _, r := range mcp.Revisions() {
		host := server.New(mcp.Implementation{Name: "silent", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
		addReadables(host)
		v := visitServer(t, r, host)
		if err := v.refused("POST", v.path+"/subscriptions", map[string]string{"uri": "memo://note"}); err.Code != "not_honoured" {
			t.Errorf("%s: %+v", r, err)
		}
	}
}

func TestRoots(t *testing.T) {
	inEachRevision(t, func(t *testing.T, v visited) {
		ask := func() string { return (<-v.start(t.Context(), "roots")).text() }
		again := func() {
			must[said](v.stage, "POST", v.path+"/reconnect", nil)
			v.settled(v.id)
			v.client, _ = v.server.byID(v.id).live()
		}
		put := func(doc string) shownRoots {
			return must[shownRoots](v.stage, "PUT", v.path+"/roots", json.RawMessage(doc))
		}
		if got := ask(); !strings.Contains(got, "roots") || got == "none" {
			t.Errorf("without roots the server is answered %q", got)
		}
		const work = `{"declare":true,"roots":[{"uri":"file:///srv/work","name":"Work"}]}`
		if got := put(work); len(got.Roots) != 1 || got.Declared || got.Deprecated != (len(revision.Of(v.client.Revision()).Deprecated) > 0) {
			t.Errorf("the roots are %+v", got)
		}
		again()
		if got := ask(); got != "file:///srv/work" {
			t.Errorf("the server sees %s", got)
		}
		if got := put(`{"declare":true,"roots":[]}`); !got.Declared {
			t.Errorf("the roots are %+v", got)
		}
		if got := ask(); got != "none" {
			t.Errorf("the server sees %s", got)
		}
		for _, bad := range []string{"http://example.com", "file:///a/../b", "file:relative", ""} {
			if err := v.refused("PUT", v.path+"/roots", map[string]any{"declare": true, "roots": []mcp.Root{{URI: bad}}}); err.Field != "roots" {
				t.Errorf("%q: %+v", bad, err)
			}
		}
		must[said](v.stage, "POST", v.path+"/disconnect", nil)
		put(work)
		again()
		if got := ask(); got != "file:///srv/work" {
			t.Errorf("after reconnecting the server sees %s", got)
		}
	})
}

func TestSkills(t *testing.T) {
	v := visitCurious(t, mcp.Revision20260728)
	skill := url.QueryEscape("skill://greeting/SKILL.md")
	type entry struct {
		Entry    struct{ URI string }
		Check    checked
		Approval string
	}
	if e := must[entry](v.stage, "GET", v.path+"/skills/entry?uri="+skill, nil); !e.Check.OK || e.Entry.URI != "skill://greeting/SKILL.md" || !strings.HasPrefix(e.Approval, "sha256:") {
		t.Errorf("the entry is %+v", e)
	}
	type file struct {
		Check checked
		Text  *string
		Blob  []byte
		Size  int
	}
	if f := must[file](v.stage, "GET", v.path+"/skills/file?file=references/more.md&uri="+skill, nil); !f.Check.OK || f.Text == nil || *f.Text != "More of it\n" {
		t.Errorf("a file: %+v", f)
	}
	if f := must[file](v.stage, "GET", v.path+"/skills/file?file=logo.bin&uri="+skill, nil); f.Text != nil || f.Size != 3 {
		t.Errorf("a file of bytes: %+v", f)
	}
	if f := must[file](v.stage, "GET", v.path+"/skills/file?file=../../etc&uri="+skill, nil); f.Check.OK || f.Check.Check != "manifest" || f.Text != nil {
		t.Errorf("a file that is not in the skill: %+v", f)
	}
	type all struct {
		Entry checked
		Files []checked
	}
	if a := must[all](v.stage, "GET", v.path+"/skills/check?fresh=1&uri="+skill, nil); !a.Entry.OK || len(a.Files) != 3 || slices.ContainsFunc(a.Files, func(c checked) bool { return !c.OK }) {
		t.Errorf("the checks: %+v", a)
	}
	type listing struct{ Entries []*mcp.Resource }
	if l := must[listing](v.stage, "GET", v.path+"/skills/directory?uri="+url.QueryEscape("skill://greeting"), nil); len(l.Entries) != 3 {
		t.Errorf("the directory: %+v", l)
	}
	if err := v.refused("GET", v.path+"/skills/entry", nil); err.Code != "no_uri" {
		t.Errorf("no skill: %+v", err)
	}
	if err := v.refused("GET", v.path+"/skills/entry?uri=skill://none/SKILL.md", nil); err.Code != "server_error" {
		t.Errorf("a skill that there is not: %+v", err)
	}
}

func TestNoSkills(t *testing.T) {
	v := visitCurious(t, mcp.Revision20241105)
	if err := v.refused("GET", v.path+"/skills/entry?uri=skill://greeting/SKILL.md", nil); err.Code != "not_declared" {
		t.Errorf("a revision without skills: %+v", err)
	}
}
