package reference

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

type checkoutArgs struct {
	BasketID string `json:"basket_id,omitempty" description:"Basket to pay for; without one, a sample basket of two products" maxLength:"100"`
}

// delivery is the first question.
type delivery struct {
	Name  string `json:"name" title:"Name" description:"Who is it for?" minLength:"1" maxLength:"100"`
	Email string `json:"email" title:"E-mail" description:"Where to send the receipt" format:"email" maxLength:"200"`
	Speed string `json:"speed" title:"Delivery" enum:"standard,express,overnight" enumTitles:"Standard (4.90),Express (9.90),Overnight (19.90)" default:"standard"`
}

// confirmation is the second one.
type confirmation struct {
	Confirm bool `json:"confirm" title:"Pay now" description:"Nothing is charged unless you say yes"`
}

// order is what was in the basket when the checkout began. It stays the same
// while the user is asked, however often the handler runs.
type order struct {
	ID      string `json:"id"`
	Basket  string `json:"basket,omitempty"`
	Version int    `json:"version"`
	Lines   []line `json:"lines"`
}

func (r *reference) addCheckout() {
	server.AddTool(r.srv, mcp.Tool{
		Name:  "checkout",
		Title: "Check out",
		Description: "Pays for a basket. The user is asked twice, for the delivery and for a confirmation of the total, and charged exactly once. " +
			"Nothing is charged when the user declines. No real money moves.",
		Annotations: &mcp.ToolAnnotations{DestructiveHint: new(true), OpenWorldHint: new(false)},
	}, r.checkout)
}

func (r *reference) checkout(ctx context.Context, call *server.Call, in checkoutArgs) (*receipt, error) {
	// The handler runs again after each answer. What Once returns is the same
	// each time, so users pay for what they were shown.
	o, err := server.Once(ctx, call, "order", func(ctx context.Context) (order, error) {
		return r.shop.order(ctx, in.BasketID, call.Principal())
	})
	if err != nil {
		return nil, err
	}
	to, err := server.Elicit[delivery](ctx, call, "delivery", fmt.Sprintf("Where should the order of %s go?", money(totalOf(o.Lines))))
	if err != nil {
		return nil, notCharged(err)
	}
	bill := receipt{
		OrderID: o.ID, Name: to.Name, Email: to.Email, Speed: to.Speed, Lines: o.Lines,
		Shipping: shipping(to.Speed), TotalCents: totalOf(o.Lines) + shipping(to.Speed), Currency: currency,
	}
	// Its key holds the order's number, which nobody knows before the order is made:
	// an answer that comes with the first request answers nothing.
	answer, err := server.Elicit[confirmation](ctx, call, "confirm "+o.ID,
		fmt.Sprintf("Charge %s, of which %s for %s delivery to %s?", money(bill.TotalCents), money(bill.Shipping), to.Speed, to.Name))
	if err != nil {
		return nil, notCharged(err)
	}
	if !answer.Confirm {
		return nil, errors.New("nothing was charged: the user did not confirm. Ask the user what to change before calling checkout again")
	}
	paid, err := server.Once(ctx, call, "charge", func(context.Context) (receipt, error) {
		return r.shop.charge(o, bill, call.Principal())
	})
	if err != nil {
		return nil, err
	}
	return &paid, nil
}

// notCharged says what a user's refusal means. Other errors stay as they are:
// one of them carries the question.
func notCharged(err error) error {
	var declined *server.DeclinedError
	if errors.As(err, &declined) {
		return fmt.Errorf("nothing was charged: %w. Do not call checkout again unless the user asks for it", err)
	}
	return err
}

func shipping(speed string) int64 {
	return map[string]int64{"standard": 490, "express": 990, "overnight": 1990}[speed]
}

func money(cents int64) string { return fmt.Sprintf("%d.%02d %s", cents/100, cents%100, currency) }

// order starts a checkout.
func (s *shop) order(ctx context.Context, basketID, owner string) (order, error) {
	o := order{ID: newID("ord_"), Basket: basketID}
	if basketID == "" {
		lines, err := s.sampleLines(ctx)
		o.Lines = lines
		return o, err
	}
	err := s.withBasket(basketID, owner, func(b *basket) error {
		if b.receipt != "" {
			return fmt.Errorf("basket %q was paid for already, with receipt %q", basketID, b.receipt)
		}
		if len(b.lines) == 0 {
			return fmt.Errorf("basket %q is empty; add something with add_item first", basketID)
		}
		o.Lines, o.Version = b.lines, b.version
		return nil
	})
	return o, err
}

// sampleLines are the two cheapest products.
func (s *shop) sampleLines(ctx context.Context) ([]line, error) {
	skus, err := column[string](ctx, s.db, "SELECT sku FROM products ORDER BY price_cents, sku LIMIT 2")
	if err != nil {
		return nil, err
	}
	var b basket
	for i, sku := range skus {
		product, err := s.product(ctx, sku)
		if err == nil {
			err = b.add(product, int64(i+1))
		}
		if err != nil {
			return nil, err
		}
	}
	return b.lines, nil
}

// charge pays for an order. If the last request of an order is repeated, it
// gets the same receipt again.
func (s *shop) charge(o order, bill receipt, owner string) (receipt, error) {
	if o.Basket == "" {
		return s.ledger.charge(bill), nil
	}
	var paid receipt
	err := s.withBasket(o.Basket, owner, func(b *basket) error {
		if b.version != o.Version {
			return fmt.Errorf("nothing was charged: basket %q was changed during the checkout; call checkout again", o.Basket)
		}
		if b.receipt != "" && b.receipt != s.ledger.receiptOf(o.ID) {
			return fmt.Errorf("nothing was charged: basket %q was paid for already, with receipt %q", o.Basket, b.receipt)
		}
		paid = s.ledger.charge(bill)
		b.receipt = paid.ReceiptID
		return nil
	})
	return paid, err
}
