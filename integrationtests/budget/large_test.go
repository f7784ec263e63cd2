package budget_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

type page struct {
	Text  string   `json:"text"`
	Count int      `json:"count"`
	Tags  []string `json:"tags"`
}

// largeServer has a tool that returns its arguments, and a resource of 1 MiB.
func largeServer() *server.Server {
	s := server.New(mcp.Implementation{Name: "large", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	server.AddTool(s, mcp.Tool{Name: "echo"}, func(_ context.Context, _ *server.Call, in page) (page, error) { return in, nil })
	blob := make([]byte, 1<<20)
	s.AddResource(mcp.Resource{URI: "x:blob", Name: "blob"}, func(context.Context, *server.Call, string) (*mcp.ReadResourceResult, error) {
		return server.Contents(mcp.BlobResource("x:blob", "application/octet-stream", blob)), nil
	})
	return s
}

// largeParams are the params of an echo whose text has size bytes: lines with a
// few quotes.
func largeParams(size int) string {
	const lines = "The quick brown fox jumps over the lazy dog, again and again, as it has\ndone ever since. It is said to be \"tired\" of that.\n"
	text, _ := jsontext.AppendQuote(nil, strings.Repeat(lines, size/len(lines)+1)[:size])
	return fmt.Sprintf(`"name":"echo","arguments":{"text":%s,"count":7,"tags":["alpha","beta"]}`, text)
}

// BenchmarkLarge measures calls with large arguments and results, and a large
// resource, on the server.
func BenchmarkLarge(b *testing.B) {
	for _, c := range []struct{ name, method, params string }{
		{"64 KiB echoed", "tools/call", largeParams(64 << 10)},
		{"1 MiB echoed", "tools/call", largeParams(1 << 20)},
		{"1 MiB read", "resources/read", `"uri":"x:blob"`},
	} {
		for era, frames := range callFrames {
			_, meta, _ := strings.Cut(frames[1], `,"_meta"`)
			call := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, c.method, c.params)
			if meta != "" {
				call = fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s,"_meta"%s`, c.method, c.params, meta)
			}
			b.Run(c.name+"/"+era, func(b *testing.B) { benchmarkCalls(b, largeServer(), [2]string{frames[0], call}) })
		}
	}
}
