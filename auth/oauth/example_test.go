package oauth_test

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/transport/streamable"
)

// A client that logs its user in when the server demands it.
func ExampleClient_Transport() {
	const url = "https://mcp.example.com/mcp"
	run := func(ctx context.Context) error {
		login, err := oauth.New(&oauth.Options{URL: url, Metadata: oauth.Metadata{Name: "My program"}})
		if err != nil {
			return err
		}
		defer login.Close()
		c, err := client.Connect(ctx, &streamable.Client{URL: url, HTTP: &http.Client{Transport: login.Transport(nil)}}, nil)
		if err != nil {
			return err
		}
		defer c.Close()
		return c.Ping(ctx)
	}
	_ = run
}

// Log in on a machine without a browser.
func ExamplePaste() {
	login, err := oauth.New(&oauth.Options{
		URL:   "https://mcp.example.com/mcp",
		Grant: &oauth.AuthorizationCode{Receiver: &oauth.Paste{Out: os.Stderr, In: os.Stdin}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer login.Close()
	fmt.Println(login.Status(context.Background()).LoggedIn)
	// Output: false
}
