package reference

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

func TestBasket(t *testing.T) {
	mcptest.Run(t, shared(t, Options{}), nil, func(t *testing.T, c *client.Client) {
		basket := call[basketView](t, c, "create_basket", nil)
		if len(basket.BasketID) != len("bsk_")+32 || len(basket.Lines) != 0 || time.Until(basket.ExpiresAt) < 23*time.Hour {
			t.Errorf("new basket = %+v", basket)
		}
		add := func(sku string, quantity int) map[string]any {
			return map[string]any{"basket_id": basket.BasketID, "sku": sku, "quantity": quantity}
		}
		call[basketView](t, c, "add_item", add("KIT-100", 2))
		call[basketView](t, c, "add_item", map[string]any{"basket_id": basket.BasketID, "sku": "dsk-101"})
		got := call[basketView](t, c, "add_item", add("KIT-100", 1))
		if len(got.Lines) != 2 || got.Lines[0].Quantity != 3 || got.Lines[1].Name != "Fine Notebook" || got.TotalCents != 3*got.Lines[0].PriceCents+got.Lines[1].PriceCents {
			t.Errorf("basket = %+v", got)
		}
		if view := call[basketView](t, c, "view_basket", map[string]any{"basket_id": basket.BasketID}); view.TotalCents != got.TotalCents {
			t.Errorf("view = %+v", view)
		}
		wantToolError(t, c, "add_item", add("KIT-10", 1), "KIT-100")
		wantToolError(t, c, "add_item", add("KIT-100", 999), "at most 999")
		wantToolError(t, c, "add_item", add("KIT-100", 0), "1")
		wantToolError(t, c, "view_basket", map[string]any{"basket_id": "bsk_guess"}, "create_basket")
	})
}

func TestBasketExpires(t *testing.T) {
	servers := func() mcp.Handler { return start(t, Options{BasketTTL: time.Nanosecond}).srv }
	mcptest.Run(t, servers, nil, func(t *testing.T, c *client.Client) {
		basket := call[basketView](t, c, "create_basket", nil)
		wantToolError(t, c, "view_basket", map[string]any{"basket_id": basket.BasketID}, "expired")
		wantToolError(t, c, "add_item", map[string]any{"basket_id": basket.BasketID, "sku": "KIT-100"}, "create_basket")
	})
}

func TestStoreExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore[int](time.Hour, 2)
		pass := func(d time.Duration) { <-time.NewTimer(d).C } // in the bubble, this takes no time
		has := func(key string) bool { return s.use(key, func(*int) {}) }
		s.put("a", 1)
		pass(59 * time.Minute)
		if !has("a") {
			t.Error("a has expired too early")
		}
		pass(59 * time.Minute)
		if !has("a") {
			t.Error("use did not keep a")
		}
		pass(time.Hour)
		if has("a") {
			t.Error("a has not expired")
		}
		s.put("b", 1)
		pass(time.Minute)
		s.put("c", 1)
		pass(time.Minute)
		has("b")
		s.put("d", 1)
		if !has("b") || has("c") || !has("d") {
			t.Errorf("b %t, c %t, d %t; want that c is gone, which was not used for longest", has("b"), has("c"), has("d"))
		}
	})
}

// A basket of one principal does not exist for others.
func TestBasketBelongsToItsPrincipal(t *testing.T) {
	r := start(t, Options{})
	r.shop.baskets.put("bsk_1", basket{owner: "ann"})
	if err := r.shop.withBasket("bsk_1", "bob", func(*basket) error { return nil }); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("somebody else's basket: %v", err)
	}
	if err := r.shop.withBasket("bsk_1", "ann", func(*basket) error { return nil }); err != nil {
		t.Errorf("one's own basket: %v", err)
	}
}

// answers elicits in order: the delivery form, then the confirmation.
func answers(asked *atomic.Int32, confirm string) func() *client.Options {
	return func() *client.Options {
		return &client.Options{Elicit: func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			asked.Add(1)
			content := `{"name":"Ann","email":"ann@example.com","speed":"express"}`
			if strings.Contains(string(p.RequestedSchema), `"confirm"`) {
				content = confirm
			}
			if content == "" {
				return &mcp.ElicitResult{Action: mcp.ActionDecline}, nil
			}
			return &mcp.ElicitResult{Action: mcp.ActionAccept, Content: json.RawMessage(content)}, nil
		}}
	}
}

// canElicit are the modes whose revision has elicitation.
func canElicit() []mcptest.Mode {
	var modes []mcptest.Mode
	for _, m := range mcptest.Modes() {
		if m.Revision.String() >= mcp.Revision20250618.String() { // dates in order
			modes = append(modes, m)
		}
	}
	return modes
}

func TestCheckout(t *testing.T) {
	for _, mode := range canElicit() {
		t.Run(mode.String(), func(t *testing.T) {
			var asked atomic.Int32
			r := start(t, Options{})
			c := mcptest.Connect(t, r.srv, mode, answers(&asked, `{"confirm":true}`)())
			basket := call[basketView](t, c, "create_basket", nil)
			args := map[string]any{"basket_id": basket.BasketID}
			wantToolError(t, c, "checkout", args, "empty")
			basket = call[basketView](t, c, "add_item", map[string]any{"basket_id": basket.BasketID, "sku": "KIT-100", "quantity": 2})
			paid := call[receipt](t, c, "checkout", args)
			if asked.Load() != 2 || r.shop.ledger.count() != 1 {
				t.Errorf("asked %d times, charged %d times; want 2 and 1", asked.Load(), r.shop.ledger.count())
			}
			if paid.Name != "Ann" || paid.Shipping != 990 || paid.TotalCents != basket.TotalCents+990 || paid.ReceiptID == "" {
				t.Errorf("receipt = %+v", paid)
			}
			wantToolError(t, c, "checkout", args, paid.ReceiptID)
			wantToolError(t, c, "add_item", map[string]any{"basket_id": basket.BasketID, "sku": "KIT-100"}, "paid")
			if view := call[basketView](t, c, "view_basket", args); view.Receipt != paid.ReceiptID {
				t.Errorf("basket = %+v, want the receipt", view)
			}
			if sample := call[receipt](t, c, "checkout", nil); len(sample.Lines) != 2 || sample.ChargeNumber != 2 {
				t.Errorf("sample basket: %+v", sample)
			}
			wantToolError(t, c, "checkout", map[string]any{"basket_id": "bsk_nope"}, "create_basket")
		})
	}
}

func TestCheckoutDeclined(t *testing.T) {
	for confirm, want := range map[string]string{"": "declined", `{"confirm":false}`: "did not confirm"} {
		for _, mode := range canElicit() {
			t.Run(fmt.Sprintf("%s/%q", mode, confirm), func(t *testing.T) {
				var asked atomic.Int32
				r := start(t, Options{})
				c := mcptest.Connect(t, r.srv, mode, answers(&asked, confirm)())
				wantToolError(t, c, "checkout", nil, "nothing was charged")
				wantToolError(t, c, "checkout", nil, want)
				if n := r.shop.ledger.count(); n != 0 {
					t.Errorf("charged %d times", n)
				}
			})
		}
	}
}

// Answers that nobody asked for pay for nothing, however often they are sent.
func TestReadyMadeAnswersChargeNothing(t *testing.T) {
	modes := mcptest.Modes()
	modes = slices.DeleteFunc(modes, func(m mcptest.Mode) bool { return m.Revision != mcp.Revision20260728 })
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			var asked atomic.Int32
			r := start(t, Options{})
			c := mcptest.Connect(t, r.srv, mode, answers(&asked, `{"confirm":true}`)())
			ready := client.WithAnswers(map[string]json.RawMessage{
				"delivery": json.RawMessage(`{"action":"accept","content":{"name":"Ann","email":"ann@example.com","speed":"express"}}`),
				"confirm":  json.RawMessage(`{"action":"accept","content":{"confirm":true}}`),
			}, nil)
			for range 3 {
				var question *mcp.InputRequired
				result, err := c.CallTool(t.Context(), "checkout", nil, ready, client.WithInputRequired())
				if !errors.As(err, &question) {
					t.Errorf("got %v, %v; want a question", result, err)
				}
			}
			if n := r.shop.ledger.count(); n != 0 {
				t.Errorf("charged %d times", n)
			}
		})
	}
}

// The last request of a checkout, sent again, charges no second time: the
// order's number came sealed with it.
func TestRepeatedRequestChargesOnce(t *testing.T) {
	r := start(t, Options{})
	ctx := t.Context()
	id := newID("bsk_")
	var b basket
	product, err := r.shop.product(ctx, "KIT-100")
	if err == nil {
		err = b.add(product, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	r.shop.baskets.put(id, b)
	o, err := r.shop.order(ctx, id, "")
	if err != nil {
		t.Fatal(err)
	}
	second, err := r.shop.order(ctx, id, "")
	if err != nil {
		t.Fatal(err)
	}
	bill := receipt{OrderID: o.ID, Lines: o.Lines, TotalCents: totalOf(o.Lines)}
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if _, err := r.shop.charge(o, bill, ""); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := r.shop.ledger.count(); n != 1 {
		t.Errorf("charged %d times", n)
	}
	bill.OrderID = second.ID
	if _, err := r.shop.charge(second, bill, ""); err == nil || !strings.Contains(err.Error(), "paid for already") {
		t.Errorf("a second checkout of the basket: %v", err)
	}
}

func TestCheckoutOfAChangedBasket(t *testing.T) {
	for _, mode := range canElicit() {
		t.Run(mode.String(), func(t *testing.T) {
			r := start(t, Options{})
			var other *client.Client
			var id string
			var asked atomic.Int32
			o := answers(&asked, `{"confirm":true}`)()
			elicit := o.Elicit
			o.Elicit = func(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				if asked.Load() == 1 {
					call[basketView](t, other, "add_item", map[string]any{"basket_id": id, "sku": "DSK-100"})
				}
				return elicit(ctx, p)
			}
			c := mcptest.Connect(t, r.srv, mode, o)
			other = mcptest.Connect(t, r.srv, mode, nil)
			id = call[basketView](t, c, "create_basket", nil).BasketID
			call[basketView](t, c, "add_item", map[string]any{"basket_id": id, "sku": "KIT-100"})
			wantToolError(t, c, "checkout", map[string]any{"basket_id": id}, "changed during the checkout")
			if n := r.shop.ledger.count(); n != 0 {
				t.Errorf("charged %d times", n)
			}
		})
	}
}

func TestCheckoutWithoutElicitation(t *testing.T) {
	mcptest.Run(t, shared(t, Options{}), nil, func(t *testing.T, c *client.Client) {
		r, err := c.CallTool(t.Context(), "checkout", nil)
		if err == nil && !r.IsError {
			t.Error("a client that cannot be asked was charged")
		}
		said := fmt.Sprint(err)
		if err == nil {
			said = textOf(t, r)
		}
		if !strings.Contains(said, "elicitation") {
			t.Errorf("it said %q, want the capability", said)
		}
	})
}

func TestClassify(t *testing.T) {
	servers := shared(t, Options{})
	for answer, want := range map[string]string{
		"ERROR": "ERROR", " critical.\n": "CRITICAL", "**Warning**": "WARNING", "I think this is INFO": "INFO",
		"":                  "did not answer with a severity",
		"no idea":           "did not answer with a severity",
		"ERROR or CRITICAL": "both ERROR and CRITICAL",
	} {
		var entry atomic.Value
		options := func() *client.Options {
			return &client.Options{Sample: func(_ context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
				entry.Store(p.Messages[0].Content[0].(*mcp.TextContent).Text)
				return &mcp.CreateMessageResult{Role: mcp.RoleAssistant, Content: mcp.OneOrMany{mcp.Text(answer)}, Model: "m1", StopReason: "endTurn"}, nil
			}}
		}
		mcptest.Run(t, servers, options, func(t *testing.T, c *client.Client) {
			args := map[string]any{"entry": "Failed to connect after 3 retries"}
			if strings.Contains(want, " ") {
				wantToolError(t, c, "classify_log", args, want)
				return
			}
			if got := call[classified](t, c, "classify_log", args); got.Severity != want || got.Model != "m1" {
				t.Errorf("%q = %+v, want %s", answer, got, want)
			}
			if text, _ := entry.Load().(string); !strings.Contains(text, "Failed to connect after 3 retries") {
				t.Errorf("prompt = %q", text)
			}
		})
	}
}

func TestClassifyWithoutSampling(t *testing.T) {
	mcptest.Run(t, shared(t, Options{}), nil, func(t *testing.T, c *client.Client) {
		r, err := c.CallTool(t.Context(), "classify_log", map[string]any{"entry": "x"})
		if err == nil && (!r.IsError || !strings.Contains(textOf(t, r), "sampling")) {
			t.Errorf("result = %+v", r)
		}
		if err != nil && errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error = %v", err)
		}
	})
}
