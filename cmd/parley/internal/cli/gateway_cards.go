package cli

import (
	"context"
	"encoding/json"

	"github.com/parley-mcp/parley/card"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
	"github.com/parley-mcp/parley/internal/wire"
)

// cardPlaces returns where the cards of servers at URLs belong, by the names of the servers.
func cardPlaces(backends []*config.Backend) (map[string]string, error) {
	places := map[string]string{}
	for _, b := range backends {
		t, err := b.Target()
		if err != nil {
			return nil, err
		}
		if t.URL == "" {
			continue
		}
		if places[b.Name], err = card.Location(t.URL); err != nil {
			return nil, err
		}
	}
	return places, nil
}

// cardReader returns what reads the cards at some places, without any credentials.
func cardReader(places map[string]string) func(ctx context.Context, backend string) (json.RawMessage, error) {
	return func(ctx context.Context, backend string) (json.RawMessage, error) {
		at := places[backend]
		if at == "" {
			return nil, nil
		}
		reader := card.Client{Origin: at} // somebody has chosen it in the configuration
		defer reader.Close()
		c, err := reader.Card(ctx, at)
		if err != nil {
			return nil, err
		}
		return wire.Marshal(c)
	}
}
