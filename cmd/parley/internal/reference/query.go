package reference

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/parley-mcp/parley/cmd/parley/internal/dbfile"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

const (
	queryTime  = 5 * time.Second
	queryBytes = 1 << 20 // of one result, roughly
)

type queryArgs struct {
	SQL   string `json:"sql" description:"One SELECT statement in SQLite's dialect, for example \"SELECT status, COUNT(*) FROM orders GROUP BY status\"" minLength:"1" maxLength:"20000"`
	Limit int    `json:"limit" description:"Most rows to return" default:"100" minimum:"1" maximum:"1000"`
}

// table is the result of a query.
type table struct {
	Columns   []string `json:"columns" description:"Names of the columns"`
	Rows      [][]any  `json:"rows" description:"Values in the order of columns; blobs are base64"`
	RowCount  int      `json:"row_count" description:"How many rows are here"`
	Truncated bool     `json:"truncated" description:"Whether there are more rows than were returned"`
}

func (r *reference) addQuery() {
	server.AddTool(r.srv, mcp.Tool{
		Name:  "query_database",
		Title: "Query the database",
		Description: "Runs a read-only SQL query on the sample database, an SQLite file with the tables customers, orders, order_items and products, " +
			"and those that import_csv has added. The resource db://schema describes them. Queries are stopped after " + queryTime.String() + ".",
		Annotations: readOnly(),
	}, func(ctx context.Context, _ *server.Call, in queryArgs) (*table, error) {
		t, err := r.db.query(ctx, in.Limit, in.SQL)
		if err != nil && ctx.Err() == nil {
			return nil, fmt.Errorf("query failed: %w; only a single read-only SELECT is allowed, and the resource %q lists the tables and columns", err, schemaURI)
		}
		return t, err
	})
}

// query runs a statement that can only read.
func (d *database) query(ctx context.Context, limit int, statement string) (*table, error) {
	limited, cancel := context.WithTimeoutCause(ctx, d.patience, errSlow)
	defer cancel()
	conn, err := d.reader(limited)
	if err != nil {
		return nil, d.limits(limited, err)
	}
	defer conn.Close()
	rows, err := conn.QueryContext(limited, statement)
	if err != nil {
		return nil, d.limits(limited, err)
	}
	defer rows.Close()
	t, err := collect(rows, limit)
	if err == nil {
		err = rows.Err()
	}
	return t, d.limits(limited, err)
}

var errSlow = errors.New("the time limit was reached")

// limits replaces err if it was caused by the limit of time or of memory.
func (d *database) limits(ctx context.Context, err error) error {
	var failed *sqlite.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(context.Cause(ctx), errSlow):
		return fmt.Errorf("it took longer than %s; narrow it with WHERE, or aggregate", d.patience)
	case errors.As(err, &failed) && failed.Code() == lib.SQLITE_NOMEM:
		return fmt.Errorf("it needs more memory than the %d MiB that all queries share; sort or group less, narrow it with WHERE, or try again later", dbfile.MaxHeap>>20)
	}
	return err
}

func collect(rows *sql.Rows, limit int) (*table, error) {
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	if len(columns) == 0 {
		return nil, errors.New("the statement returns no columns")
	}
	t := &table{Columns: columns, Rows: [][]any{}}
	for size := 0; rows.Next(); {
		if t.RowCount == limit || size > queryBytes {
			t.Truncated = true
			break
		}
		row, n, err := scan(rows, len(columns))
		if err != nil {
			return nil, err
		}
		size += n
		t.Rows = append(t.Rows, row)
		t.RowCount++
	}
	return t, nil
}

// scan reads one row, and its size in bytes.
func scan(rows *sql.Rows, columns int) ([]any, int, error) {
	row, targets := make([]any, columns), make([]any, columns)
	for i := range row {
		targets[i] = &row[i]
	}
	if err := rows.Scan(targets...); err != nil {
		return nil, 0, err
	}
	size := 0
	for i, v := range row {
		switch v := v.(type) {
		case string:
			size += len(v)
		case []byte:
			size += len(v)
		case float64:
			if math.IsInf(v, 0) {
				row[i] = fmt.Sprint(v) // JSON has no such number
			}
		}
		size += 8
	}
	return row, size, nil
}
