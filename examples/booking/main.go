// Booking is a server that asks its user while it works: it books a table only
// when somebody has said when, and for how many. The question is a form on the
// user's side, in every revision that has one.
//
//	go run ./examples/ask        # a client that asks on the terminal
//	parley call book restaurant=Luigi -- go run ./examples/booking
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync/atomic"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/stdio"
)

type wish struct {
	Restaurant string `json:"restaurant" minLength:"1"`
}

// table is the form that the user fills in.
type table struct {
	Date   string `json:"date" format:"date" description:"such as 2026-12-24"`
	People int    `json:"people" minimum:"1" maximum:"12" default:"2"`
	Place  string `json:"place" enum:"inside,terrace" default:"inside"`
}

// book asks, and then books once, however often it is run: where a question cannot
// be asked in place, the handler runs again, from its start, with the answer.
func book(bookings *atomic.Int64) func(context.Context, *server.Call, wish) (string, error) {
	return func(ctx context.Context, call *server.Call, in wish) (string, error) {
		where, err := server.Elicit[table](ctx, call, "table", "When shall I book a table at "+in.Restaurant+", and for how many?")
		if errors.Is(err, server.ErrDeclined) {
			return "The user does not want a table.", nil
		}
		if err != nil {
			return "", err
		}
		return server.Once(ctx, call, "book", func(context.Context) (string, error) {
			return fmt.Sprintf("Booking %d: %s, %s, %s, for %d.", bookings.Add(1), in.Restaurant, where.Place, where.Date, where.People), nil
		})
	}
}

func newServer() *server.Server {
	srv := server.New(mcp.Implementation{Name: "booking", Version: "1.0.0"}, nil)
	server.AddTool(srv, mcp.Tool{Name: "book", Description: "Books a table at a restaurant"}, book(new(atomic.Int64)))
	return srv
}

func main() {
	if err := stdio.Serve(context.Background(), newServer(), nil); err != nil {
		log.Fatal(err)
	}
}
