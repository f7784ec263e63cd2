package target_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
)

// write makes a file in a new folder and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func environment(vars map[string]string) target.Environment {
	return target.Environment{
		Lookup: func(name string) (string, bool) {
			value, ok := vars[name]
			return value, ok
		},
		Home: "/home/ann", Folder: "/work/shop",
	}
}

// resolve reads a file and resolves its entry "s".
func resolve(t *testing.T, path string, env target.Environment) (target.Target, error) {
	t.Helper()
	f, err := target.Read(path, env.Folder)
	if err != nil {
		return target.Target{}, err
	}
	e, err := target.Named("s", []target.Found{{File: f}})
	if err != nil {
		return target.Target{}, err
	}
	return e.Resolve(env)
}

func TestFormats(t *testing.T) {
	vars := map[string]string{"TOKEN": "s3cret", "EMPTY": "", "PARLEY_INPUT_API_KEY": "from-input"}
	for _, test := range []struct{ name, file, text, want string }{
		{
			"Claude Desktop", "claude_desktop_config.json",
			`{"globalShortcut":"x","mcpServers":{"s":{"command":"npx","args":["-y","thing"],"env":{"A":"1"}}}}`,
			"npx -y thing | A=1",
		},
		{
			"Claude Code", ".mcp.json",
			`{"mcpServers":{"s":{"type":"http","url":"${BASE:-https://api.example.com}/mcp","headers":{"Authorization":"Bearer ${TOKEN}"}}}}`,
			"https://api.example.com/mcp | Authorization: Bearer s3cret",
		},
		{
			"Claude Code, of a folder", ".claude.json",
			`{"numStartups":7,"projects":{"/else":{"mcpServers":{"s":{"command":"wrong"}}},"/work/shop":{"mcpServers":{"s":{"type":"stdio","command":"right","args":[],"env":{}}}}}}`,
			"right",
		},
		{
			"VS Code", ".vscode/mcp.json",
			"{\n  // what we use\n  \"inputs\": [{\"type\": \"promptString\", \"id\": \"api-key\", \"password\": true},],\n" +
				"  \"servers\": {\"s\": {\"type\": \"stdio\", /* here */ \"command\": \"${userHome}/bin/s\", \"args\": [\"${env:TOKEN}\",], \"env\": {\"KEY\": \"${input:api-key}\"},},},\n}",
			"/home/ann/bin/s s3cret | KEY=from-input",
		},
		{"VS Code, settings", "settings.json", `{"editor.tabSize":2,"mcp":{"inputs":[],"servers":{"s":{"url":"http://127.0.0.1:1/mcp"}}}}`, "http://127.0.0.1:1/mcp"},
		{"Cursor", ".cursor/mcp.json", `{"mcpServers":{"s":{"command":"s","args":["${EMPTY}","${EMPTY:-x}"],"env":{"N":1,"B":true,"Z":null}}}}`, "s  x | N=1 B=true"},
		{"with a byte order mark", "mcp.json", "\ufeff{\"mcpServers\":{\"s\":{\"command\":\"s\"}}}", "s"},
		{"our own", "parley.json", `{"mcpServers":{"s":{"url":"https://example.com/mcp","revision":"2025-11-25","disabled":true}}}`, "https://example.com/mcp | 2025-11-25"},
		{"references that are not", "mcp.json", `{"mcpServers":{"s":{"command":"sh","args":["-c","echo $HOME $$ {}"]}}}`, "sh -c echo $HOME $$ {}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := resolve(t, write(t, test.file, test.text), environment(vars))
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			text.WriteString(got.URL + strings.Join(got.Command, " "))
			if len(got.Env) > 0 {
				text.WriteString(" | " + strings.Join(got.Env, " "))
			}
			for name := range got.Header {
				text.WriteString(" | " + name + ": " + got.Header.Get(name))
			}
			if got.Revision.String() != "" && test.name == "our own" {
				text.WriteString(" | " + got.Revision.String())
			}
			if text.String() != test.want {
				t.Errorf("the target is %q, want %q", text.String(), test.want)
			}
		})
	}
}

func TestFolders(t *testing.T) {
	env := environment(nil)
	path := write(t, ".vscode/mcp.json", `{"servers":{"s":{"command":"${workspaceFolder}/run","cwd":"sub"}}}`)
	project := filepath.Dir(filepath.Dir(path))
	got, err := resolve(t, path, env)
	if err != nil || got.Dir != filepath.Join(project, "sub") || got.Command[0] != project+"/run" {
		t.Errorf("the folder is %q, the command %q, error %v", got.Dir, got.Command, err)
	}
	got, err = resolve(t, write(t, "mcp.json", `{"mcpServers":{"s":{"command":"run","cwd":"~/sub"}}}`), env)
	if err != nil || got.Dir != filepath.Join("/home/ann", "sub") {
		t.Errorf("the folder is %q, error %v", got.Dir, err)
	}
}

func TestEnvFile(t *testing.T) {
	path := write(t, ".cursor/mcp.json", `{"mcpServers":{"s":{"command":"run","envFile":"${workspaceFolder}/.env","env":{"A":"2"}}}}`)
	file := filepath.Join(filepath.Dir(filepath.Dir(path)), ".env")
	if err := os.WriteFile(file, []byte("# ours\nA=1\nB='x y'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := resolve(t, path, environment(nil))
	if err != nil || got.Env[len(got.Env)-1] != "A=2" || !strings.Contains(strings.Join(got.Env, "|"), "B=x y") {
		t.Errorf("the variables are %q, error %v", got.Env, err)
	}
}

// An error says where the mistake is.
func TestMistakes(t *testing.T) {
	for _, test := range []struct{ file, text, want string }{
		{"mcp.json", `{"mcpServers":{"s":{"command":"x",}`, ":1:36: this is not JSON: "},
		{"mcp.json", `[]`, ":1:1: this is not an object"},
		{"mcp.json", "{\n \"mcpServers\": []}", ":2:16: mcpServers: this is not an object"},
		{"mcp.json", "{\"mcpServers\":{\n\"ä\":{}, \"s\": {\"command\": 3}}}", `:2:26: mcpServers.s.command: this is not a text`},
		{"mcp.json", `{"mcpServers":{"s":{"command":"x","args":["a",["b"]]}}}`, `:1:47: mcpServers.s.args[1]: this is not a text`},
		{"mcp.json", `{"mcpServers":{"s":{"command":"x","env":{"A=B":"1"}}}}`, "mcpServers.s.env.A=B: this cannot be a name"},
		{"mcp.json", `{"mcpServers":{"s":{"command":"x","env":{"A":"${NONE}"}}}}`, `:1:46: mcpServers.s.env.A: the variable NONE is not set; set it, or give a default in the file, as ${NONE:-…}`},
		{"mcp.json", `{"mcpServers":{"s":{"command":"${NONE"}}}`, "mcpServers.s.command: the reference ${NONE has no end"},
		{"mcp.json", `{"mcpServers":{"s":{"command":"${command:pick}"}}}`, "mcpServers.s.command: ${command:pick} is no reference that parley knows"},
		{"mcp.json", `{"servers":{"s":{"url":"${input:host}"}}}`, `servers.s.url: the input "host" is for the user to give, and there is nobody to ask; set the variable PARLEY_INPUT_HOST`},
		{"mcp.json", `{"mcpServers":{"s":{"url":"ftp://x"}}}`, "mcpServers.s.url: this is not a URL"},
		{"mcp.json", `{"mcpServers":{"s":{"url":"http://x","headers":{"A":"${LINES}"}}}}`, "mcpServers.s.headers.A: this cannot be a header"},
		{"mcp.json", `{"mcpServers":{"s":{"url":"http://x","command":"y"}}}`, "there is a command, too"},
		{"mcp.json", `{"mcpServers":{"s":{"env":{}}}}`, `:1:20: mcpServers.s: it has neither a url nor a command`},
		{"mcp.json", `{"mcpServers":{"s":{"type":"ws","url":"http://x"}}}`, `mcpServers.s.type: "ws" is no known transport`},
		{"mcp.json", `{"mcpServers":{"s":{"type":"stdio","url":"http://x"}}}`, `mcpServers.s.type: "stdio" is for a command`},
		{"mcp.json", `{"mcpServers":{"s":{"command":"x","command":"y"}}}`, "mcpServers.s.command: the member stands here twice"},
		{"mcp.json", `{"mcpServers":{"s":{"command":"x","revision":"2020-01-01"}}}`, `mcpServers.s.revision: "2020-01-01" is not a released revision`},
		{"parley.json", `{"mcpServers":{"s":{"command":"x","arguments":[]}}}`, "mcpServers.s.arguments: there is no such member; there are url, command"},
		{"parley.json", `{"servrs":{}}`, ":1:11: servrs: there is no such member"},
		{"parley.json", `{}`, "the member mcpServers is missing"},
		{"mcp.json", `{"mcpServers":{"t":{"command":"x"},"u":{"command":"x"}}}`, `no configuration file names a server "s"; there are t, u`},
	} {
		path := write(t, test.file, test.text)
		_, err := resolve(t, path, environment(map[string]string{"LINES": "a\r\nb"}))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: the error is %v, want %s", test.text, err, test.want)
		}
		var mistake *target.Error
		if strings.HasPrefix(test.want, ":") && (!errors.As(err, &mistake) || mistake.File != path) {
			t.Errorf("%s: the error does not name the file: %v", test.text, err)
		}
	}
	if _, err := target.Read(filepath.Join(t.TempDir(), "none.json"), ""); err == nil || strings.Count(err.Error(), "none.json") != 1 {
		t.Errorf("the error is %v", err)
	}
}

// A mistake in one entry does not hide the others.
func TestOneMistake(t *testing.T) {
	path := write(t, "mcp.json", `{"mcpServers":{"bad":{"command":1},"s":{"command":"x"}}}`)
	if _, err := resolve(t, path, environment(nil)); err != nil {
		t.Error(err)
	}
}

// What is left to the user is asked for once.
func TestAsk(t *testing.T) {
	env := environment(nil)
	asked := 0
	env.Ask = func(in *target.Input) (string, error) {
		asked++
		if in.ID != "key" || !in.Password || in.Description != "The key" {
			t.Errorf("asked for %+v", in)
		}
		return "k", nil
	}
	path := write(t, "mcp.json", `{"inputs":[{"id":"key","type":"promptString","description":"The key","password":true}],
		"servers":{"s":{"command":"x","args":["${input:key}","${input:key}"]}}}`)
	got, err := resolve(t, path, env)
	if err != nil || asked != 1 || strings.Join(got.Command, " ") != "x k k" {
		t.Errorf("the command is %q after %d questions, error %v", got.Command, asked, err)
	}
	if got.String() != "x *** ***" {
		t.Errorf("shown is %q", got.String())
	}
}

func TestAnswers(t *testing.T) {
	ask := target.Answers(map[string]string{"a": "1", "b": "4"})
	for _, tt := range []struct {
		in         target.Input
		value, why string
	}{
		{target.Input{ID: "a"}, "1", ""},
		{target.Input{ID: "b", Options: []string{"2", "3"}}, "", `"4" is none of its values: 2, 3`},
		{target.Input{ID: "c", Default: "5"}, "5", ""},
		{target.Input{ID: "d"}, "", "give it a value"},
	} {
		value, err := ask(&tt.in)
		in, _ := errors.AsType[*target.InputError](err)
		if value != tt.value || (in != nil) != (tt.why != "") || in != nil && (in.ID != tt.in.ID || in.Why != tt.why) {
			t.Errorf("%s: %q, error %v", tt.in.ID, value, err)
		}
	}
}

func TestMaskedURL(t *testing.T) {
	shown := target.Target{URL: "https://a.example/x y/x%20y/mcp", Secrets: []string{"x y"}}
	if got := shown.String(); got != "https://a.example/***/***/mcp" {
		t.Errorf("shown is %q", got)
	}
}

func TestSameName(t *testing.T) {
	found := func(text string) target.Found {
		f, err := target.Read(write(t, "mcp.json", text), "")
		if err != nil {
			t.Fatal(err)
		}
		return target.Found{File: f}
	}
	one := found(`{"mcpServers":{"s":{"command":"x","env":{"A":"1"}}}}`)
	same := found(`{"servers":{"s":{"type":"stdio","command":"x","env":{"A":"1"}}}}`)
	other := found(`{"mcpServers":{"s":{"command":"x","env":{"A":"2"}}}}`)
	if _, err := target.Named("s", []target.Found{one, same}); err != nil {
		t.Errorf("two files that say the same: %v", err)
	}
	_, err := target.Named("s", []target.Found{one, same, other})
	if err == nil || !strings.Contains(err.Error(), "ambiguous") || !strings.Contains(err.Error(), other.File.Path) {
		t.Errorf("the error is %v", err)
	}
	broken := target.Found{Err: errors.New("mcp.json:1:1: this is not JSON")}
	if _, err := target.Named("t", []target.Found{one, broken}); err == nil || !strings.Contains(err.Error(), "this is not JSON") {
		t.Errorf("a file that cannot be read is not mentioned: %v", err)
	}
}

// What stands in a file that cannot be read is not said to be there.
func TestNameInUnreadFile(t *testing.T) {
	f, bad := target.Read(write(t, "mcp.json", `{"mcpServers":{"s":{"command":"a"},"t":{"command":"a"},"t":{"command":"b"}}}`), "")
	if bad == nil {
		t.Fatal("a name that stands twice is accepted")
	}
	g, err := target.Read(write(t, "other.json", `{"mcpServers":{"u":{"command":"a"}}}`), "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = target.Named("s", []target.Found{{File: f, Err: bad}, {File: g}})
	if want := `no configuration file names a server "s"; there are u; not read is ` + bad.Error(); err == nil || err.Error() != want {
		t.Errorf("error = %v\nwant    %s", err, want)
	}
}

func TestPlaces(t *testing.T) {
	env := environment(map[string]string{"AppData": `/appdata`, "XDG_CONFIG_HOME": "relative"})
	for goos, want := range map[string]string{
		"linux":   "/home/ann/.config/Claude/claude_desktop_config.json",
		"darwin":  "/home/ann/Library/Application Support/Claude/claude_desktop_config.json",
		"windows": "/appdata/Claude/claude_desktop_config.json",
	} {
		var paths []string
		for _, p := range target.Places(goos, env) {
			paths = append(paths, filepath.ToSlash(p.Path))
		}
		all := strings.Join(paths, "\n")
		for _, w := range []string{want, "/work/shop/.mcp.json", "/work/shop/.vscode/mcp.json", "/work/shop/parley.json", "/home/ann/.claude.json", "/home/ann/.cursor/mcp.json", "/Code/User/mcp.json"} {
			if !strings.Contains(all, w) {
				t.Errorf("%s: %s is missing in\n%s", goos, w, all)
			}
		}
	}
}

func TestSecretsAreMasked(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"npx -y @scope/server-thing /home/ann/notes", "npx -y @scope/server-thing /home/ann/notes"},
		{"s --api-key abc --port 80", "s --api-key *** --port 80"},
		{"s --api-key=abc --token=${TOKEN}", "s --api-key=*** --token=${TOKEN}"},
		{"docker run -e GITHUB_TOKEN=abc -e MODE=fast image", "docker run -e GITHUB_TOKEN=*** -e MODE=fast image"},
		{"npx mcp-remote https://u:p@x.example/mcp?k=v --header Authorization:abc", "npx mcp-remote https://u:***@x.example/mcp?k=*** --header ***"},
		{"s sk0abcdefghijklmnopqrstuvwxyz", "s ***"},
		{"s postgresql://u:p@host/db", "s postgresql://u:***@host/db"},
	} {
		if got := strings.Join(target.MaskArgs(strings.Fields(test.args)), " "); got != test.want {
			t.Errorf("%s is shown as %s, want %s", test.args, got, test.want)
		}
	}
	for url, want := range map[string]string{
		"https://example.com/mcp":                             "https://example.com/mcp",
		"https://example.com/s/NGY0ZTk4NzYtMTIzNC00NTY3/mcp":  "https://example.com/s/***/mcp",
		"https://example.com/mcp?key=${KEY}&plain=x#fragment": "https://example.com/mcp?key=${KEY}&plain=***",
	} {
		if got := target.MaskURL(url); got != want {
			t.Errorf("%s is shown as %s, want %s", url, got, want)
		}
	}
	if got := target.MaskValue("Bearer ${TOKEN:-abc}"); strings.Contains(got, "abc") {
		t.Errorf("a default is shown: %s", got)
	}
}
