package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/parley-mcp/parley/cmd/parley/internal/cli"
	"github.com/parley-mcp/parley/mcp"
)

// evil is what the server "nasty" writes wherever it can write a text: it
// recolours and clears the screen in both encodings of control sequences, rings,
// turns the direction around, and begins lines of its own.
const evil = "x\x1b[31m\x1b[2J\u009b2J\a\u202e\u2066\r\nFORGED\rFORGED\nFORGED"

// nasty is a server of the stateless era whose texts are all evil.
func nasty() {
	text, _ := json.Marshal(evil)
	fill := func(s string) string { return strings.ReplaceAll(s, `"EVIL"`, string(text)) }
	answers := map[string]string{
		mcp.MethodDiscover:      `"ttlMs":0,"cacheScope":"private","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"prompts":{},"resources":{},"completions":{},"logging":{},"experimental":{"EVIL":{}}},"instructions":"EVIL"`,
		mcp.MethodListTools:     `"ttlMs":0,"cacheScope":"private","tools":[{"name":"EVIL","title":"EVIL","description":"EVIL","inputSchema":{"type":"object","required":["EVIL"],"properties":{"EVIL":{"type":"string","description":"EVIL","default":"EVIL"}}}}]`,
		mcp.MethodListResources: `"ttlMs":0,"cacheScope":"private","resources":[{"uri":"EVIL","name":"EVIL","title":"EVIL","description":"EVIL","mimeType":"EVIL"}]`,
		mcp.MethodListTemplates: `"ttlMs":0,"cacheScope":"private","resourceTemplates":[{"uriTemplate":"EVIL","name":"EVIL","description":"EVIL"}]`,
		mcp.MethodListPrompts:   `"ttlMs":0,"cacheScope":"private","prompts":[{"name":"EVIL","title":"EVIL","description":"EVIL","arguments":[{"name":"EVIL","description":"EVIL"}]}]`,
		mcp.MethodCallTool:      `"content":[{"type":"text","text":"EVIL"},{"type":"resource_link","uri":"EVIL","name":"EVIL","description":"EVIL"},{"type":"image","data":"eA==","mimeType":"EVIL"},{"type":"resource","resource":{"uri":"EVIL","mimeType":"EVIL","text":"EVIL"}}]`,
		mcp.MethodReadResource:  `"ttlMs":0,"cacheScope":"private","contents":[{"uri":"EVIL","mimeType":"EVIL","text":"EVIL"},{"uri":"EVIL","text":"EVIL"}]`,
		mcp.MethodGetPrompt:     `"description":"EVIL","messages":[{"role":"user","content":{"type":"text","text":"EVIL"}}]`,
		mcp.MethodComplete:      `"completion":{"values":["EVIL"]}`,
	}
	const info = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"EVIL","title":"EVIL","version":"EVIL","description":"EVIL"}},"resultType":"complete",`
	fmt.Fprintln(os.Stderr, evil)
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Name string `json:"name"`
			} `json:"params"`
		}
		if json.Unmarshal(in.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		answer, ok := answers[m.Method]
		fmt.Println(fill(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","logger":"EVIL","data":"EVIL"}}`))
		if !ok || m.Params.Name == "fail" {
			fmt.Println(fill(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32000,"message":"EVIL","data":"EVIL"}}`))
			continue
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{%s}}`+"\n", m.ID, fill(info+answer))
	}
}

// ours are the control sequences of the program itself.
var ours = regexp.MustCompile(`\x1b\[(0|1|2|31|32)m`)

// Nothing that a server says reaches a terminal or a pipe with control
// characters, nor begins a line where only a name belongs; and what the program
// paints is painted.
func TestServersCannotWriteOnTheTerminal(t *testing.T) {
	for _, command := range []string{
		"info", "list", "call x", "call fail", "prompt x", "prompt fail", "read x:y", "complete prompt x y", "ping",
		"call x --trace --log-level debug", "call x --output json", "list --output json", "call fail --output json", "read x:y --output json",
	} {
		for _, terminal := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/terminal=%t", command, terminal), func(t *testing.T) {
				var out, errs bytes.Buffer
				streams := piped(&out, &errs)
				streams.IsTerminal = func(any) bool { return terminal }
				cli.Run(t.Context(), streams, append(strings.Fields(command), "--", "fixture", "nasty"))
				for name, got := range map[string]string{"stdout": out.String(), "stderr": errs.String()} {
					if !terminal && ours.MatchString(got) {
						t.Errorf("%s is painted: %q", name, got)
					}
					plain := ours.ReplaceAllString(got, "")
					if i := strings.IndexFunc(strings.ReplaceAll(plain, "\r\n", "\n"), func(r rune) bool {
						return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
					}); i >= 0 {
						t.Errorf("%s has %q at %d in %q", name, []rune(plain[i:])[0], i, plain)
					}
					if strings.Contains(plain, "\uFFFD[2m") || strings.Contains(plain, "\uFFFD[0m") {
						t.Errorf("the program's own colours do not survive in %s: %q", name, plain)
					}
				}
			})
		}
	}
}

// Names, links, loggers and levels are on one line, whatever they contain.
func TestNamesDoNotBreakLines(t *testing.T) {
	for command, texts := range map[string]int{
		// The lines that may begin with FORGED are those of texts of many lines.
		"info": 0, "ping": 0, "list tools": 0, "list resources": 0, "complete prompt x y": 0, "call x": 4, "call x --log-level debug": 4,
	} {
		var out, errs bytes.Buffer
		cli.Run(t.Context(), piped(&out, &errs), append(strings.Fields(command), "--", "fixture", "nasty"))
		text := out.String() + errs.String()
		if got := strings.Count("\n"+text, "\nFORGED"); command != "info" && got > texts || command == "info" && got > 2 {
			t.Errorf("%s: %d lines begin with what the server wrote:\n%s", command, got, text)
		}
		if strings.Contains(text, "\nFORGED") || strings.Contains(text, `\nFORGED`) {
			continue
		}
		t.Errorf("%s: the line break is not shown:\n%s", command, text)
	}
}

// A pipe gets control characters only with --raw, and hears of it.
func TestRaw(t *testing.T) {
	run := func(args ...string) (string, string) {
		var out, errs bytes.Buffer
		cli.Run(t.Context(), piped(&out, &errs), append(args, "--", "fixture", "nasty"))
		return out.String(), errs.String()
	}
	out, errs := run("read", "x:y")
	if strings.Contains(out, "\x1b") || !strings.Contains(errs, "--raw") {
		t.Errorf("without --raw: %q, %q", out, errs)
	}
	if out, errs = run("read", "x:y", "--raw"); out != evil+evil || errs != "" {
		t.Errorf("with --raw: %q, %q", out, errs)
	}
	out, _ = run("call", "x", "--output", "json")
	var result mcp.CallToolResult
	if err := json.Unmarshal([]byte(out), &result); err != nil || result.Content[0].(*mcp.TextContent).Text != evil {
		t.Errorf("JSON means something else: %q, %v", out, err)
	}
}
