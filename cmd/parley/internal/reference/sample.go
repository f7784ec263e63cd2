package reference

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// The sample data is a shop. It is drawn with a fixed seed, so that it is the
// same each time.
const (
	sampleCustomers = 80
	sampleOrders    = 400
)

// sampleTables returns the tables that import_csv must leave alone.
func sampleTables() []string { return []string{"customers", "order_items", "orders", "products"} }

const sampleSchema = `
CREATE TABLE products (
	sku TEXT PRIMARY KEY, name TEXT NOT NULL, category TEXT NOT NULL, price_cents INTEGER NOT NULL
);
CREATE TABLE customers (
	id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE, region TEXT NOT NULL, joined_on TEXT NOT NULL
);
CREATE TABLE orders (
	id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id), status TEXT NOT NULL,
	total_cents INTEGER NOT NULL, ordered_on TEXT NOT NULL
);
CREATE TABLE order_items (
	order_id INTEGER NOT NULL REFERENCES orders(id), sku TEXT NOT NULL REFERENCES products(sku),
	quantity INTEGER NOT NULL, price_cents INTEGER NOT NULL, PRIMARY KEY (order_id, sku)
);
CREATE INDEX orders_by_customer ON orders(customer_id);`

// addSample fills an empty database.
func addSample(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit there is nothing to roll back
	if _, err := tx.ExecContext(ctx, sampleSchema); err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(1729, 42)) //nolint:gosec // sample data is no secret
	products := drawProducts(random)
	orders, items := drawOrders(random, products)
	for table, rows := range map[string][][]any{
		"products": products, "customers": drawCustomers(random), "orders": orders, "order_items": items,
	} {
		if err := insertAll(ctx, tx, table, rows); err != nil {
			return fmt.Errorf("table %q: %w", table, err)
		}
	}
	return tx.Commit()
}

// insertAll writes many rows in few statements.
func insertAll(ctx context.Context, tx *sql.Tx, table string, rows [][]any) error {
	for batch := range slices.Chunk(rows, 200) {
		one := "(?" + strings.Repeat(",?", len(batch[0])-1) + ")"
		values := slices.Concat(batch...)
		insert := "INSERT INTO " + table + " VALUES " + one + strings.Repeat(","+one, len(batch)-1) //nolint:gosec // the names are ours
		if _, err := tx.ExecContext(ctx, insert, values...); err != nil {
			return err
		}
	}
	return nil
}

func drawProducts(random *rand.Rand) [][]any {
	catalog := []struct{ category, code, things string }{
		{"Desk", "DSK", "Notebook,Fountain Pen,Desk Lamp,Ruler,Paper Tray,Letter Opener"},
		{"Kitchen", "KIT", "Teapot,Chopping Board,Bread Knife,Pepper Mill,Colander,Egg Timer"},
		{"Garden", "GRD", "Trowel,Watering Can,Seed Box,Pruning Shears,Bird Feeder,Garden Hose"},
		{"Travel", "TRV", "Day Pack,Bottle,Rain Jacket,Head Torch,Map Case,Neck Pillow"},
	}
	var rows [][]any
	for _, c := range catalog {
		for i, thing := range strings.Split(c.things, ",") {
			for j, finish := range []string{"Plain", "Fine"} {
				sku := fmt.Sprintf("%s-%03d", c.code, 100+10*i+j)
				rows = append(rows, []any{sku, finish + " " + thing, c.category, int64(390 + 100*random.IntN(60) + 2500*j)})
			}
		}
	}
	return rows
}

func drawCustomers(random *rand.Rand) [][]any {
	first := strings.Split("Ada,Alan,Barbara,Claude,Donald,Edsger,Frances,Grace,Hedy,John,Katherine,Leslie,Margaret,Niklaus,Radia,Tony", ",")
	last := strings.Split("Almeida,Bauer,Chen,Diaz,Eriksen,Fischer,Garcia,Haddad,Ito,Jansen,Kowalski,Lindqvist,Moreau,Novak,Okafor,Patel", ",")
	rows := make([][]any, sampleCustomers)
	for i := range rows {
		f, l := first[random.IntN(len(first))], last[random.IntN(len(last))]
		email := strings.ToLower(fmt.Sprintf("%s.%s%d@example.com", f, l, i+1))
		rows[i] = []any{int64(i + 1), f + " " + l, email, regions()[random.IntN(len(regions()))], sampleDay(random)}
	}
	return rows
}

func drawOrders(random *rand.Rand, products [][]any) (orders, items [][]any) {
	status := strings.Split("completed,completed,completed,completed,shipped,pending,cancelled", ",")
	for id := int64(1); id <= sampleOrders; id++ {
		var total int64
		for _, p := range random.Perm(len(products))[:1+random.IntN(3)] {
			price, _ := products[p][3].(int64) // drawProducts puts one there
			quantity := int64(1 + random.IntN(4))
			total += quantity * price
			items = append(items, []any{id, products[p][0], quantity, price})
		}
		orders = append(orders, []any{id, int64(1 + random.IntN(sampleCustomers)), status[random.IntN(len(status))], total, sampleDay(random)})
	}
	return orders, items
}

func sampleDay(random *rand.Rand) string {
	return time.Date(2025, 1, 1+random.IntN(365), 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
}
