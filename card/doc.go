// Package card makes, serves and reads server cards: small public documents that
// say what a server at a URL is and how to connect to it, before anybody connects.
// The catalogue of a host lists its cards.
//
// A server author makes a card from the server and mounts it beside the endpoint:
//
//	c, err := card.New(srv, &card.Options{Name: "com.example/weather", URL: "https://example.com/mcp"})
//	if err != nil {
//		return err
//	}
//	err = card.Mount(mux, nil, c)
//
// A Client finds cards and reads them. What a card says is a claim: it is for finding
// a server and for connecting to it, and never a reason to trust one.
//
// Server cards are an experimental extension of the protocol (SEP-2127); this package
// follows the text of July 2026. The catalogue is the AI Catalog, version 1.0.
package card
