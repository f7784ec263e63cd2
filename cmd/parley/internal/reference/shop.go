package reference

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/similar"
)

const (
	currency = "EUR"
	maxLines = 50 // different products in a basket
)

// shop sells what is in the table products.
type shop struct {
	db      *database
	ttl     time.Duration
	baskets *store[basket]
	ledger  *ledger
}

func newShop(db *database, ttl time.Duration) *shop {
	return &shop{db, ttl, newStore[basket](ttl, maxBaskets), newLedger()}
}

// basket is what somebody wants to buy.
type basket struct {
	owner   string // the principal that made it; "" for nobody in particular
	lines   []line
	version int    // counts the changes
	receipt string // of the charge, once the basket was paid for
}

// line is one product in a basket.
type line struct {
	SKU        string `json:"sku"`
	Name       string `json:"name"`
	Quantity   int64  `json:"quantity"`
	PriceCents int64  `json:"price_cents" description:"Price of one"`
	TotalCents int64  `json:"total_cents"`
}

func totalOf(lines []line) int64 {
	var total int64
	for _, l := range lines {
		total += l.TotalCents
	}
	return total
}

// withBasket gives f the basket with an ID if owner may use it. The basket of
// another owner is treated as if it did not exist: an ID is a name, not a
// permission.
func (s *shop) withBasket(id, owner string, f func(b *basket) error) error {
	var err error
	found := s.baskets.use(id, func(b *basket) {
		if b.owner != owner {
			err = s.noBasket(id)
			return
		}
		err = f(b)
	})
	if !found {
		return s.noBasket(id)
	}
	return err
}

func (s *shop) noBasket(id string) error {
	return fmt.Errorf("basket %q does not exist or has expired: baskets are dropped %s after they were last used; "+
		"make a new one with create_basket and add the items again", id, readable(s.ttl))
}

// readable writes a duration without zero parts.
func readable(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func (b *basket) add(product line, quantity int64) error {
	if b.receipt != "" {
		return fmt.Errorf("this basket was paid for already, with receipt %q; make a new one with create_basket", b.receipt)
	}
	lines := slices.Clone(b.lines) // views and orders keep the old ones
	i := slices.IndexFunc(lines, func(l line) bool { return l.SKU == product.SKU })
	if i < 0 {
		i, lines = len(lines), append(lines, product)
	}
	if len(lines) > maxLines {
		return fmt.Errorf("a basket holds at most %d different products; use a second one for %q", maxLines, product.SKU)
	}
	l := &lines[i]
	l.Quantity += quantity
	if l.Quantity > maxQuantity {
		return fmt.Errorf("that would be %d of %q; at most %d can be ordered at once", l.Quantity, l.SKU, maxQuantity)
	}
	l.TotalCents = l.Quantity * l.PriceCents
	b.lines = lines
	b.version++
	return nil
}

// product returns a line of quantity 0 for a SKU.
func (s *shop) product(ctx context.Context, sku string) (line, error) {
	l := line{SKU: strings.ToUpper(strings.TrimSpace(sku))}
	err := s.db.read.QueryRowContext(ctx, "SELECT name, price_cents FROM products WHERE sku = ?", l.SKU).Scan(&l.Name, &l.PriceCents)
	if errors.Is(err, sql.ErrNoRows) {
		return l, s.noProduct(ctx, l.SKU)
	}
	return l, err
}

func (s *shop) noProduct(ctx context.Context, sku string) error {
	skus, err := column[string](ctx, s.db, "SELECT sku FROM products ORDER BY sku")
	if err != nil {
		return err
	}
	slices.SortStableFunc(skus, func(a, b string) int { return similar.Edits(a, sku) - similar.Edits(b, sku) })
	return fmt.Errorf("there is no product %q; similar ones are %s. All are in the table products of query_database",
		sku, strings.Join(skus[:min(3, len(skus))], ", "))
}
