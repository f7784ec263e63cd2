package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/parley-mcp/parley/mcp"
)

// endless is a server of the stateless era whose list of tools never ends, and
// that sends requests it must not send when its prompts are listed.
func endless() {
	in := bufio.NewScanner(os.Stdin)
	page := 0
	for in.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(in.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		result := `"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"prompts":{}}`
		switch m.Method {
		case mcp.MethodListTools:
			page++
			result = fmt.Sprintf(`"tools":[{"name":"t%d","inputSchema":{"type":"object"}}],"nextCursor":"%d"`, page, page)
		case mcp.MethodListPrompts:
			for i := range 5000 {
				fmt.Printf(`{"jsonrpc":"2.0","id":"q%d","method":"roots/list"}`+"\n", i)
			}
			result = `"prompts":[]`
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private",%s}}`+"\n", m.ID, result)
	}
}

// flooding is a server of the stateless era whose tools say too much.
func flooding() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct{ Name string }
		}
		if json.Unmarshal(in.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		const mebibyte = 1 << 20
		result := `"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}`
		switch m.Method + m.Params.Name {
		case mcp.MethodListTools:
			result = `"tools":[{"name":"big","inputSchema":{"type":"object"}},{"name":"open","inputSchema":{"type":"object"}},{"name":"noise","inputSchema":{"type":"object"}}]`
		case mcp.MethodCallTool + "big":
			result = `"content":[{"type":"text","text":"` + strings.Repeat("x", 60*mebibyte) + `"}]`
		case mcp.MethodCallTool + "open": // the line does not end
			for range 66 {
				fmt.Print(strings.Repeat("x", mebibyte))
			}
		case mcp.MethodCallTool + "noise":
			for range 20 {
				fmt.Fprint(os.Stderr, strings.Repeat("noise\n", mebibyte/6))
			}
			result = `"content":[{"type":"text","text":"quiet"}]`
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private",%s}}`+"\n", m.ID, result)
	}
}
