package spec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// A client cannot make a server watch an unlimited number of resources.
func TestSubscriptionsAreBounded(t *testing.T) {
	srv := server.New(mcp.Implementation{Name: "s", Version: "1"}, &server.Options{Logger: mcptest.Quiet(), Subscriptions: true})
	session := rawly(t, srv, nil)
	session.exchange("0", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	session.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	subscribe := `{"jsonrpc":"2.0","id":1,"method":"resources/%s","params":{"uri":"a:%d"}}`
	var last message
	accepted := 0
	for ; last.Error == nil && accepted < 20_000; accepted++ {
		last, _ = session.exchange("1", fmt.Sprintf(subscribe, "subscribe", accepted))
	}
	if last.Error == nil || !strings.Contains(last.Error.Message, "too many subscriptions") {
		t.Errorf("after %d subscriptions: %s", accepted, last.raw)
	}
	session.exchange("1", fmt.Sprintf(subscribe, "unsubscribe", 7))
	if got, _ := session.exchange("1", fmt.Sprintf(subscribe, "subscribe", 30_000)); got.Error != nil {
		t.Errorf("in the place of another: %s", got.raw)
	}
	if got, _ := session.exchange("1", fmt.Sprintf(subscribe, "subscribe", 5)); got.Error != nil {
		t.Errorf("a repeated subscription: %s", got.raw)
	}

	many := strings.TrimSuffix(strings.Repeat(`"a:b",`, 10_001), ",")
	rawly(t, srv, nil).refused("1", frame2026("1", "subscriptions/listen", `"notifications":{"resourceSubscriptions":[`+many+`]}`), -32602, "the limit is 10000")
}

// What a client declares about itself is bounded, because a session keeps it. The
// client may try again with less.
func TestDeclarationsAreBounded(t *testing.T) {
	const modest, limit = `{"name":"c","version":"1"}`, "the limit is 65536 bytes"
	boastful := `{"name":"c","version":"1","description":"` + strings.Repeat("a", 64<<10) + `"}`
	capable := `{"extensions":{"com.example/x":{"a":"` + strings.Repeat("a", 64<<10) + `"}}}`
	srv := server.New(mcp.Implementation{Name: "s", Version: "1"}, &server.Options{Logger: mcptest.Quiet(), Announce: server.Features{Tools: true}})

	session := rawly(t, srv, nil)
	initialize := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":%s,"clientInfo":%s}}`
	session.refused("1", fmt.Sprintf(initialize, `{}`, boastful), -32602, "clientInfo: "+limit)
	session.refused("1", fmt.Sprintf(initialize, capable, modest), -32602, "capabilities: "+limit)
	if got, _ := session.exchange("1", fmt.Sprintf(initialize, `{}`, modest)); got.Error != nil {
		t.Errorf("with less: %s", got.raw)
	}

	stateless := rawly(t, srv, nil)
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"` + mcp.MetaProtocolVersion + `":"2026-07-28","` + mcp.MetaClientCapabilities + `":%s,"` + mcp.MetaClientInfo + `":%s}}}`
	stateless.refused("1", fmt.Sprintf(list, `{}`, boastful), -32602, limit)
	stateless.refused("1", fmt.Sprintf(list, capable, modest), -32602, limit)
	if got, _ := stateless.exchange("1", fmt.Sprintf(list, `{}`, modest)); got.Error != nil {
		t.Errorf("with less: %s", got.raw)
	}
}
