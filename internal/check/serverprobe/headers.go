package serverprobe

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/jsonptr"
	"github.com/parley-mcp/parley/mcp"
)

// mirror sets the headers that say again what the body says.
//
// Spec: 2026-07-28 basic/transports/streamable-http#standard-request-headers.
func (c *Conn) mirror(raw []byte, set func(name, value string)) {
	v, err := peer.Decode(raw)
	if err != nil {
		return
	}
	text := func(path string) string {
		found, _ := peer.Get(v, path)
		s, _ := found.(string)
		return s
	}
	set("MCP-Protocol-Version", text("params/_meta/"+pointer(mcp.MetaProtocolVersion)))
	method := text("method")
	set("Mcp-Method", method)
	row := mcp.MethodNamed(method)
	if row == nil || !row.Mirrored {
		return
	}
	set("Mcp-Name", headerValue(text("params/"+row.Subject)))
	if tool := c.x.Offer.tool(text("params/name")); method == "tools/call" && tool != nil {
		arguments, _ := peer.Get(v, "params/arguments")
		mirrorArguments(tool["inputSchema"], arguments, set)
	}
}

// mirrorArguments sets the headers that a tool wants its arguments in.
//
// Spec: 2026-07-28 basic/transports/streamable-http#custom-headers-from-tool-parameters.
func mirrorArguments(schema, arguments any, set func(name, value string)) {
	properties, _ := peer.Get(schema, "properties")
	members, _ := properties.(map[string]any)
	for name, property := range members {
		value, ok := peer.Get(arguments, pointer(name))
		if !ok || value == nil {
			continue
		}
		if header, _ := peer.Get(property, "x-mcp-header"); header != nil {
			if h, ok := header.(string); ok {
				set("Mcp-Param-"+h, argumentText(value))
			}
			continue
		}
		mirrorArguments(property, value, set)
	}
}

func argumentText(v any) string {
	switch v := v.(type) {
	case string:
		return headerValue(v)
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return v.String()
	default:
		return headerValue(string(peer.Encode(v)))
	}
}

// headerValue is a value as it goes into a header.
//
// Spec: 2026-07-28 basic/transports/streamable-http#value-encoding.
func headerValue(s string) string {
	plain := s == strings.TrimSpace(s) && !(strings.HasPrefix(s, "=?base64?") && strings.HasSuffix(s, "?="))
	for _, b := range []byte(s) {
		plain = plain && b >= 0x20 && b < 0x7f
	}
	if plain {
		return s
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="
}

// pointer escapes a name for a JSON pointer.
func pointer(name string) string { return jsonptr.Escape(name) }
