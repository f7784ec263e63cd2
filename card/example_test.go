package card_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/parley-mcp/parley/card"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

// A server publishes its card beside its endpoint, and a client finds the server by its
// host alone.
func Example() {
	srv := server.New(mcp.Implementation{Name: "weather", Version: "1.0.0", Description: "Forecasts for any place."}, nil)
	mux := http.NewServeMux()
	web := httptest.NewServer(mux)
	defer web.Close()
	h, err := streamable.New(srv, nil)
	if err != nil {
		log.Print(err)
		return
	}
	mux.Handle("/mcp", h)

	c, err := card.New(srv, &card.Options{Name: "com.example/weather", URL: web.URL + "/mcp"})
	if err != nil {
		log.Print(err)
		return
	}
	if err := card.Mount(mux, nil, c); err != nil {
		log.Print(err)
		return
	}

	finder := &card.Client{Origin: web.URL}
	defer finder.Close()
	for found, err := range finder.Discover(context.Background(), web.URL) {
		if err != nil {
			log.Print(err)
			continue
		}
		fmt.Println(found.Card.Name, "-", found.Card.Description)
	}
	// Output: com.example/weather - Forecasts for any place.
}
