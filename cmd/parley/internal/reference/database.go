package reference

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"modernc.org/sqlite"

	"github.com/parley-mcp/parley/cmd/parley/internal/dbfile"
)

const (
	maxReaders = 4       // concurrent queries
	maxValue   = 1 << 20 // bytes of one value, and of one SQL text
)

// The limits of sqlite3_limit that are set.
const (
	limitLength   = 0
	limitSQL      = 1
	limitAttached = 7
)

// database is an SQLite file in a folder of its own, with two ways in: one
// that writes, for import_csv, and one that cannot.
type database struct {
	dir   string
	write *sql.DB
	read  *sql.DB
	// patience is how long a query may take.
	patience time.Duration
}

// openDatabase makes a new database with the sample data.
func openDatabase(ctx context.Context) (*database, error) {
	if err := dbfile.Prepare(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "parley-reference-")
	if err != nil {
		return nil, err
	}
	d := &database{dir: dir, patience: queryTime}
	file := filepath.Join(dir, "sample.db")
	err = d.openWriter(ctx, file)
	if err == nil {
		err = addSample(ctx, d.write)
	}
	if err == nil {
		err = d.openReader(ctx, file)
	}
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// openWriter does not wait for the disk, because the file does not outlive the
// process.
func (d *database) openWriter(ctx context.Context, file string) error {
	connector, err := sqlite.NewConnector(dbfile.Name(file, "_pragma=journal_mode(wal)&_pragma=synchronous(off)&_pragma=busy_timeout(5000)"))
	if err != nil {
		return err
	}
	d.write = sql.OpenDB(connector)
	d.write.SetMaxOpenConns(1)
	return d.write.PingContext(ctx)
}

func (d *database) openReader(ctx context.Context, file string) error {
	// It has its own driver, so that the policy applies to all of its
	// connections and to no others.
	drv := new(sqlite.Driver)
	drv.RegisterConnectionHook(restrict)
	d.read = sql.OpenDB(&connector{drv, dbfile.Name(file, "mode=ro&_defensive=1&_pragma=query_only(1)&_pragma=trusted_schema(0)&_pragma=busy_timeout(5000)&"+dbfile.Bounded())})
	d.read.SetMaxOpenConns(maxReaders)
	return d.read.PingContext(ctx)
}

func (d *database) close() error {
	var errs []error
	for _, db := range []*sql.DB{d.read, d.write} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(append(errs, os.RemoveAll(d.dir))...)
}

// reader returns a connection that can only read. It must be closed.
func (d *database) reader(ctx context.Context) (*sql.Conn, error) {
	conn, err := d.read.Conn(ctx)
	if err != nil {
		return nil, err
	}
	for id, value := range map[int]int{limitLength: maxValue, limitSQL: maxValue, limitAttached: 0} {
		if _, err := sqlite.Limit(conn, id, value); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return conn, nil
}

// connector opens connections of one driver.
type connector struct {
	driver *sqlite.Driver
	dsn    string
}

var _ driver.Connector = (*connector)(nil)

// Connect implements driver.Connector.
func (c *connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }

// Driver implements driver.Connector.
func (c *connector) Driver() driver.Driver { return c.driver }

// restrict puts the database's own guard on a connection: it is asked about
// each step of a statement when the statement is prepared, and allows nothing
// but reading.
func restrict(conn sqlite.ExecQuerierContext, _ string) error {
	guarded, ok := conn.(sqlite.AuthorizerRegisterer)
	if !ok {
		return errors.New("the driver has no authorizer")
	}
	return guarded.RegisterAuthorizer(authorize)
}

// authorize allows queries, all functions except the one that loads code, and
// the pragmas that describe tables.
func authorize(action sqlite.AuthorizerActionCode, first, second, _, _ string) sqlite.AuthorizerReturnCode {
	allowed := false
	switch action { //nolint:exhaustive // everything else is refused
	case sqlite.AuthSelect, sqlite.AuthRead, sqlite.AuthRecursive:
		allowed = true
	case sqlite.AuthFunction:
		allowed = !strings.EqualFold(second, "load_extension")
	case sqlite.AuthPragma:
		allowed = slices.Contains([]string{"table_info", "table_list", "index_list", "foreign_key_list"}, strings.ToLower(first))
	}
	if allowed {
		return sqlite.AuthorizerOK
	}
	return sqlite.AuthorizerDeny
}
