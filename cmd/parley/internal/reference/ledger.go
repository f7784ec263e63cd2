package reference

import (
	"sync"
	"time"
)

// ledger records the charges. Each order is charged at most once, however often
// that is requested.
type ledger struct {
	mu       sync.Mutex
	charges  int
	receipts *store[receipt]
}

// receipt is what a customer gets for a charge.
type receipt struct {
	ReceiptID    string    `json:"receipt_id"`
	OrderID      string    `json:"order_id"`
	ChargeNumber int       `json:"charge_number" description:"Which of this server's charges it was"`
	Name         string    `json:"name"`
	Email        string    `json:"email"`
	Speed        string    `json:"speed"`
	Lines        []line    `json:"lines"`
	Shipping     int64     `json:"shipping_cents"`
	TotalCents   int64     `json:"total_cents"`
	Currency     string    `json:"currency"`
	ChargedAt    time.Time `json:"charged_at"`
}

// receiptTTL is far longer than the time for which a client can repeat an
// order.
const receiptTTL = 7 * 24 * time.Hour

func newLedger() *ledger { return &ledger{receipts: newStore[receipt](receiptTTL, maxReceipts)} }

// charge returns the receipt of an order, and creates it if there is none yet.
func (l *ledger) charge(order receipt) receipt {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.receipts.use(order.OrderID, func(known *receipt) { order = *known }) {
		return order
	}
	l.charges++
	order.ReceiptID, order.ChargeNumber, order.ChargedAt = newID("rcp_"), l.charges, time.Now().UTC().Truncate(time.Second)
	l.receipts.put(order.OrderID, order)
	return order
}

// count returns how many charges there were.
func (l *ledger) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.charges
}

// receiptOf returns the ID of an order's receipt, or "".
func (l *ledger) receiptOf(orderID string) string {
	var id string
	l.receipts.use(orderID, func(known *receipt) { id = known.ReceiptID })
	return id
}
