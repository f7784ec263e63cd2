package reference

import (
	"context"
	"fmt"
	"time"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

const maxQuantity = 999

type basketArgs struct {
	BasketID string `json:"basket_id" description:"What create_basket returned" minLength:"1" maxLength:"100"`
}

type itemArgs struct {
	BasketID string `json:"basket_id" description:"What create_basket returned" minLength:"1" maxLength:"100"`
	SKU      string `json:"sku" description:"Product, for example \"KIT-100\"; see the table products" minLength:"1" maxLength:"40"`
	Quantity int64  `json:"quantity" description:"How many to add" default:"1" minimum:"1" maximum:"999"`
}

// basketView is a basket as its tools show it.
type basketView struct {
	BasketID   string    `json:"basket_id" description:"Pass this to add_item, view_basket and checkout"`
	Lines      []line    `json:"lines"`
	TotalCents int64     `json:"total_cents"`
	Currency   string    `json:"currency"`
	ExpiresAt  time.Time `json:"expires_at" description:"Unless the basket is used before"`
	Receipt    string    `json:"receipt_id,omitempty" description:"Set when the basket was paid for"`
}

func (s *shop) view(id string, b *basket) *basketView {
	lines := b.lines
	if lines == nil {
		lines = []line{}
	}
	return &basketView{id, lines, totalOf(lines), currency, time.Now().Add(s.ttl).UTC().Truncate(time.Second), b.receipt}
}

func (r *reference) addBasket() {
	expiry := readable(r.opts.BasketTTL) + " after they were last used"
	server.AddTool(r.srv, mcp.Tool{
		Name:  "create_basket",
		Title: "New basket",
		Description: "Makes an empty basket and returns its basket_id, which the other basket tools need. Baskets expire " + expiry +
			fmt.Sprintf(", or sooner when more than %d are in use.", maxBaskets),
		Annotations: additive(),
	}, r.createBasket)
	server.AddTool(r.srv, mcp.Tool{
		Name:        "add_item",
		Title:       "Add to basket",
		Description: "Adds a product of the sample shop to a basket. Find SKUs with query_database: SELECT sku, name, price_cents FROM products.",
		Annotations: additive(),
	}, r.addItem)
	server.AddTool(r.srv, mcp.Tool{
		Name:        "view_basket",
		Title:       "Look into basket",
		Description: "Returns what is in a basket and what it costs. Looking counts as use: baskets expire " + expiry + ".",
		Annotations: readOnly(),
	}, r.viewBasket)
}

func (r *reference) createBasket(_ context.Context, call *server.Call, _ struct{}) (*basketView, error) {
	id := newID("bsk_")
	b := basket{owner: call.Principal()}
	r.shop.baskets.put(id, b)
	return r.shop.view(id, &b), nil
}

func (r *reference) addItem(ctx context.Context, call *server.Call, in itemArgs) (*basketView, error) {
	product, err := r.shop.product(ctx, in.SKU)
	if err != nil {
		return nil, err
	}
	var view *basketView
	err = r.shop.withBasket(in.BasketID, call.Principal(), func(b *basket) error {
		if err := b.add(product, in.Quantity); err != nil {
			return err
		}
		view = r.shop.view(in.BasketID, b)
		return nil
	})
	return view, err
}

func (r *reference) viewBasket(_ context.Context, call *server.Call, in basketArgs) (*basketView, error) {
	var view *basketView
	err := r.shop.withBasket(in.BasketID, call.Principal(), func(b *basket) error {
		view = r.shop.view(in.BasketID, b)
		return nil
	})
	return view, err
}
