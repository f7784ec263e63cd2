package budget_test

import (
	"testing"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// callFrames opens a connection, if the era needs that, and calls a tool.
var callFrames = map[string][2]string{
	"session": {
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"b","version":"1"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}}`,
	},
	"stateless": {
		"",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"b","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`,
	},
}

// BenchmarkCall measures one validated typed call on the server, from the
// incoming frame to the outgoing one, without a client.
func BenchmarkCall(b *testing.B) {
	for name, frames := range callFrames {
		b.Run(name, func(b *testing.B) { benchmarkCall(b, frames) })
	}
}

// BenchmarkTappedCall is BenchmarkCall with a tap that only counts.
func BenchmarkTappedCall(b *testing.B) {
	for name, frames := range callFrames {
		b.Run(name, func(b *testing.B) {
			seen := 0 // one call at a time
			benchmarkTapped(b, adder(), frames, func(mcp.TapEvent) { seen++ })
			if seen < 2*b.N {
				b.Errorf("%d calls, and %d frames were seen", b.N, seen)
			}
		})
	}
}

func benchmarkCall(b *testing.B, frames [2]string) { benchmarkCalls(b, adder(), frames) }

func benchmarkCalls(b *testing.B, h mcp.Handler, frames [2]string) {
	benchmarkTapped(b, h, frames, nil)
}

func benchmarkTapped(b *testing.B, h mcp.Handler, frames [2]string, tap mcp.Tap) {
	answered := make(chan struct{}, 1)
	send := mcptest.Raw(b, &mcptest.Transport{Handler: h, Over: mcptest.Lines, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet(), Tap: tap}}, func([]byte) { answered <- struct{}{} })
	if frames[0] != "" {
		send(frames[0])
		<-answered
	}
	b.ReportAllocs()
	for b.Loop() {
		send(frames[1])
		<-answered
	}
}
