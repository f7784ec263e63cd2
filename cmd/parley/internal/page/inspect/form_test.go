package inspect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
)

// A form that makes no sense names the field.
func TestForms(t *testing.T) {
	s := newStage(t, Options{})
	value := func(name, value string) []namedSecret { return []namedSecret{{name, value}} }
	for name, tt := range map[string]struct {
		form  map[string]any
		field string
	}{
		"nothing":              {map[string]any{}, "url"},
		"two":                  {map[string]any{"url": "http://a/mcp", "command": "b"}, "url"},
		"no URL":               {map[string]any{"url": "ftp://a"}, "url"},
		"no host":              {map[string]any{"url": "http:///mcp"}, "url"},
		"malformed":            {map[string]any{"url": "http://a b/%zz"}, "url"},
		"fragment":             {map[string]any{"url": "http://a/mcp#x"}, "url"},
		"an open quote":        {map[string]any{"command": "a 'b"}, "command"},
		"blank":                {map[string]any{"command": "  "}, "command"},
		"transport":            {map[string]any{"url": "http://a/mcp", "transport": "pigeon"}, "transport"},
		"transport of command": {map[string]any{"command": "a", "transport": "http"}, "transport"},
		"revision":             {map[string]any{"command": "a", "revision": "2020-01-01"}, "revision"},
		"variable of a URL":    {map[string]any{"url": "http://a/mcp", "env": value("A", "b")}, "env[0]"},
		"no name":              {map[string]any{"command": "a", "env": value("", "b")}, "env[0]"},
		"header of a command":  {map[string]any{"command": "a", "headers": value("A", "b")}, "headers[0]"},
		"header's name":        {map[string]any{"url": "http://a/mcp", "headers": value("a b", "c")}, "headers[0]"},
		"header's value":       {map[string]any{"url": "http://a/mcp", "headers": value("A", "b\nC: d")}, "headers[0]"},
		"masked":               {map[string]any{"url": "http://a/mcp", "headers": value("A", "***")}, "headers[0]"},
		"masked query":         {map[string]any{"url": "http://a/mcp?key=***"}, "url"},
		"masked in the path":   {map[string]any{"url": "http://a/***/mcp"}, "url"},
		"masked word":          {map[string]any{"command": "a --token '***'"}, "command"},
		"masked value":         {map[string]any{"args": []string{"a", "KEY=***"}}, "args"},
		"no files":             {map[string]any{"entry": map[string]any{"name": "a", "file": "b"}}, "entry"},
		"login of a command":   {map[string]any{"command": "a", "login": map[string]any{"id": "x"}}, "login"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &stage{t, s.server, s.api, s.cookie, s.key}
			if err := s.refused("POST", "/connections", tt.form); err.Field != tt.field || err.Status != http.StatusBadRequest {
				t.Errorf("%+v", err)
			}
		})
	}
	if err := s.refused("POST", "/connections", map[string]any{"uri": "http://a"}); err.Field != "uri" {
		t.Errorf("an unknown member: %+v", err)
	}
}

// What is secret goes in, and never comes out; it is kept when a connection is changed.
func TestSecrets(t *testing.T) {
	var got http.Header
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		w.WriteHeader(http.StatusTeapot)
	}))
	defer site.Close()
	s := newStage(t, Options{})
	address := strings.Replace(site.URL, "http://", "http://me:swordfish@", 1) + "/mcp?key=swordfish"
	c := s.open(map[string]any{"url": address, "headers": []namedSecret{{"X-Key", "swordfish"}}})
	if got.Get("X-Key") != "swordfish" || got.Get("Authorization") == "" {
		t.Fatalf("sent %v: %v", got, c.Error)
	}
	got = nil
	must[said](s, "POST", "/connections/"+c.ID+"/reconnect", map[string]any{"url": c.Target.URL, "headers": c.Target.Headers})
	c = s.settled(c.ID)
	if got.Get("X-Key") != "swordfish" || got.Get("Authorization") == "" {
		t.Errorf("after a change, sent %v", got)
	}
	for _, path := range []string{"/connections", "/connections/" + c.ID, "/connections/" + c.ID + "/login"} {
		if _, answer := s.call("GET", path, nil); bytes.Contains(answer, []byte("swordfish")) {
			t.Errorf("%s tells a secret: %s", path, answer)
		}
	}
	command := s.open(map[string]any{"args": []string{"parley-no-such-program", "--token", "swordfish"}, "env": []namedSecret{{"TOKEN", "swordfish"}}})
	if _, answer := s.call("GET", "/connections/"+command.ID, nil); bytes.Contains(answer, []byte("swordfish")) {
		t.Errorf("a command tells a secret: %s", answer)
	}
	talker := s.open(map[string]any{"args": []string{"sh", "-c", "echo my key is $TOKEN >&2"}, "env": []namedSecret{{"TOKEN", "swordfish"}}})
	if _, answer := s.call("GET", "/connections/"+talker.ID, nil); bytes.Contains(answer, []byte("swordfish")) || !bytes.Contains(answer, []byte("my key is")) {
		t.Errorf("standard error tells a secret: %s", answer)
	}
	must[said](s, "POST", "/connections/"+command.ID+"/reconnect", map[string]any{"args": command.Target.Command, "env": command.Target.Env})
	if kept := s.server.byID(command.ID).wished(); !slices.Contains(kept.Command, "swordfish") || !slices.Contains(kept.Env, "TOKEN=swordfish") {
		t.Errorf("after a change: %q, %q", kept.Command, kept.Env)
	}
}

// newFiled returns a stage with a configuration file.
func newFiled(t *testing.T) (s *stage, file string) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "mcp.json")
	text := `{"mcpServers":{"good":{"command":` + quoted(program) + `,"args":["-test.run=^$"],"env":{"` + asServer + `":"swordfish"}},"bad":{},"unset":{"command":"${NOT_SET}"},
		"asks":{"command":` + quoted(program) + `,"args":["-test.run=^$","-test.outputdir=${input:folder}${input:key}"],"env":{"` + asServer + `":"${input:kind}"}}},
		"inputs":[{"id":"key","type":"promptString","description":"The key","password":true,"default":"tunafish"},{"id":"kind","type":"pickString","options":["one","two"]}]}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := target.Environment{Lookup: func(string) (string, bool) { return "", false }}
	read := func() []target.Found {
		f, err := target.Read(file, "")
		return []target.Found{{Place: target.Place{Program: "any", Path: file}, File: f, Err: err}}
	}
	return newStage(t, Options{
		Servers: func(context.Context) ([]target.Listed, error) { return target.List(read(), env), nil },
		Resolve: func(_ context.Context, _, name string, inputs map[string]string) (*target.Target, error) {
			e, err := target.Named(name, read())
			if err != nil {
				return nil, err
			}
			asked := env
			asked.Ask = target.Answers(inputs)
			resolved, err := e.Resolve(asked)
			return &resolved, err
		},
	}), file
}

// Configuration files are listed with secrets masked, and their entries connected to.
func TestServers(t *testing.T) {
	s, file := newFiled(t)
	_, answer := s.call("GET", "/servers", nil)
	if bytes.Contains(answer, []byte("swordfish")) || !bytes.Contains(answer, []byte(`"***"`)) || !bytes.Contains(answer, []byte("neither a url nor a command")) {
		t.Errorf("listed: %s", answer)
	}
	c := s.open(map[string]any{"entry": map[string]any{"name": "good", "file": file}})
	if c.State != "up" || c.Title != "good" || c.Target.Entry == nil || c.Target.Entry.File != file {
		t.Errorf("connected: %+v", c)
	}
	for name, why := range map[string]string{"bad": "neither", "unset": "NOT_SET", "none": "no configuration file names"} {
		if err := s.refused("POST", "/connections", map[string]any{"entry": map[string]any{"name": name, "file": file}}); err.Field != "entry" || !strings.Contains(err.Message, why) {
			t.Errorf("%s: %+v", name, err)
		}
	}
}

// What a file leaves to the user is asked for; what must not be shown is not, wherever it stands.
func TestInputs(t *testing.T) {
	s, file := newFiled(t)
	entry := map[string]any{"name": "asks", "file": file}
	listed := must[struct {
		Files []struct{ Servers []target.ListedEntry }
	}](s, "GET", "/servers", nil)
	inputs := listed.Files[0].Servers[3].Inputs
	if len(inputs) != 3 || inputs[0].ID != "folder" || !inputs[0].Password || inputs[1].Default != target.Hidden || inputs[1].Description != "The key" || len(inputs[2].Options) != 2 {
		t.Errorf("inputs %+v", inputs)
	}
	given := func(pairs ...string) []namedSecret {
		list := []namedSecret{}
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, namedSecret{pairs[i], pairs[i+1]})
		}
		return list
	}
	for field, inputs := range map[string][]namedSecret{"inputs.folder": nil, "inputs.kind": given("folder", "/tmp", "kind", "three")} {
		if err := s.refused("POST", "/connections", map[string]any{"entry": entry, "inputs": inputs}); err.Field != field {
			t.Errorf("%v: %+v", inputs, err)
		}
	}
	if err := s.refused("POST", "/connections", map[string]any{"command": "a", "inputs": given("key", "x")}); err.Field != "inputs" {
		t.Errorf("inputs of a command: %+v", err)
	}
	c := s.open(map[string]any{"entry": entry, "inputs": given("folder", "salmon", "key", "fish", "kind", "one")})
	if c.State != "up" || c.Target.Command[2] != "-test.outputdir="+target.Hidden+target.Hidden {
		t.Fatalf("connected: %+v", c)
	}
	must[said](s, "POST", "/connections/"+c.ID+"/reconnect", map[string]any{"args": c.Target.Command, "env": c.Target.Env})
	c = s.settled(c.ID)
	if kept := s.server.byID(c.ID).wished(); c.State != "up" || kept.Command[2] != "-test.outputdir=salmonfish" || c.Target.Command[2] != "-test.outputdir="+target.Hidden+target.Hidden {
		t.Errorf("after a change: %+v, %q", c, kept.Command)
	}
	c = s.open(map[string]any{"entry": entry, "inputs": given("folder", "salmon", "kind", "two")})
	if kept := s.server.byID(c.ID).wished(); kept.Command[2] != "-test.outputdir=salmontunafish" {
		t.Errorf("with the default: %q", kept.Command)
	}
	for _, path := range []string{"/servers", "/connections", "/connections/" + c.ID} {
		if _, answer := s.call("GET", path, nil); bytes.Contains(answer, []byte("salmon")) || bytes.Contains(answer, []byte("tunafish")) {
			t.Errorf("%s tells a secret: %s", path, answer)
		}
	}
}

func quoted(s string) string { return `"` + strings.ReplaceAll(s, `\`, `\\`) + `"` }

// What there is, and what cannot be.
func TestRoot(t *testing.T) {
	s := newStage(t, Options{})
	root := must[struct {
		Revisions, Transports []string
	}](s, "GET", "/", nil)
	if root.Revisions[0] != "2026-07-28" || !slices.Contains(root.Transports, "sse") {
		t.Errorf("%+v", root)
	}
	for range maxConnections {
		must[said](s, "POST", "/connections", map[string]any{"command": "parley-no-such-program"})
	}
	if err := s.refused("POST", "/connections", map[string]any{"command": "parley-no-such-program"}); err.Code != "too_many" {
		t.Errorf("one too many: %+v", err)
	}
	if err := s.refused("GET", "/connections/c1/card", nil); err.Code != "no_card" {
		t.Errorf("the card of a command: %+v", err)
	}
	s.settled("c1")
	if _, err := s.server.byID("c1").live(); err == nil {
		t.Error("a connection that failed is live")
	}
}

// A card is that of the server, or says why there is none.
func TestCard(t *testing.T) {
	answer := errors.New("no card there")
	s := newStage(t, Options{Cards: func(_ context.Context, t *target.Target) (json.RawMessage, error) {
		if strings.HasSuffix(t.URL, "/good") {
			return []byte(`{"cards":[]}`), nil
		}
		return nil, answer
	}})
	site := "http://" + closedPort(t)
	good := must[said](s, "POST", "/connections", map[string]any{"url": site + "/good"})
	if status, body := s.call("GET", "/connections/"+good.ID+"/card", nil); status != http.StatusOK || string(body) != `{"cards":[]}` {
		t.Errorf("status %d: %s", status, body)
	}
	bad := must[said](s, "POST", "/connections", map[string]any{"url": site + "/bad"})
	if err := s.refused("GET", "/connections/"+bad.ID+"/card", nil); err.Message != answer.Error() || err.Hint == "" {
		t.Errorf("%+v", err)
	}
}

// FuzzClaims decodes what servers issue as tokens.
func FuzzClaims(f *testing.F) {
	for _, seed := range []string{"", "a.b.c", "e30.e30.x", "e30.eyJzdWIiOiJhIn0.x", "e30.eyJhIjp7ImIiOlsxXX19.x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		if c := claims(token); c != nil && !bytes.HasPrefix(bytes.TrimSpace(c), []byte("{")) {
			t.Errorf("%q has the claims %s", token, c)
		}
	})
}
