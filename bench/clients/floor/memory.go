package main

import (
	"context"
	"encoding/json"
	"io"

	"github.com/parley-mcp/parley/bench/clients/driver"
	"github.com/parley-mcp/parley/bench/payload"
)

// memory calls an echo on the other ends of two pipes. The goroutine that
// answers ends with the process.
func memory() driver.Call {
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	go answer(json.NewDecoder(toServer), json.NewEncoder(fromServer))
	out, in := json.NewEncoder(fromClient), json.NewDecoder(toClient)
	id := 0
	return func(_ context.Context, args payload.Echo) (payload.Echo, error) {
		id++
		if err := out.Encode(call(id, args)); err != nil {
			return payload.Echo{}, err
		}
		var r response
		err := in.Decode(&r)
		return r.Result.StructuredContent, err
	}
}

func answer(in *json.Decoder, out *json.Encoder) {
	for {
		var req request
		if in.Decode(&req) != nil {
			return
		}
		text, err := json.Marshal(req.Params.Arguments)
		if err != nil {
			return
		}
		err = out.Encode(map[string]any{"jsonrpc": "2.0", "id": req.ID, "result": map[string]any{
			"content":           []map[string]string{{"type": "text", "text": string(text)}},
			"structuredContent": req.Params.Arguments,
		}})
		if err != nil {
			return
		}
	}
}
