package server_test

import (
	"context"
	"fmt"
	"log"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/frames"
)

// The order is answered at once, and the mail goes out afterwards. Close, which a program
// calls at its end, waits for it.
func ExampleCall_StartJob() {
	srv := server.New(mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil)
	server.AddTool(srv, mcp.Tool{Name: "order"}, func(ctx context.Context, call *server.Call, in struct {
		Item string `json:"item"`
	},
	) (string, error) {
		err := call.StartJob(ctx, "confirmation", func(_ context.Context, job *server.Job) error {
			fmt.Println("a mail about", in.Item, "goes to", job.Principal())
			return nil
		})
		return "ordered", err
	})
	ctx := context.Background()
	c, err := client.Connect(ctx, frames.InProcess(srv, &frames.Options{Principal: "ann"}), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(client.Call[string](ctx, c, "order", map[string]string{"item": "apples"}))
	_ = c.Close()
	fmt.Println(srv.Close(ctx))
	// Unordered output:
	// ordered <nil>
	// a mail about apples goes to ann
	// <nil>
}
