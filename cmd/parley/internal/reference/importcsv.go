package reference

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

const (
	maxBatch          = 500
	maxImportedTables = 100
)

type importArgs struct {
	CSV     *string `json:"csv,omitempty" description:"The CSV itself; its first line names the columns"`
	Table   string  `json:"table" description:"Name of the new table: letters, digits and _" pattern:"^[A-Za-z_][A-Za-z0-9_]*$" maxLength:"63"`
	Replace bool    `json:"replace" description:"Replace a table that was imported before" default:"false"`
}

// importFileArgs are the arguments of a server that has files.
type importFileArgs struct {
	importArgs
	File *string `json:"file,omitempty" description:"Instead of csv: a CSV file, as a path relative to the server's root or as its file: URI"`
}

type imported struct {
	Table   string           `json:"table"`
	Rows    int              `json:"rows" description:"How many rows were imported"`
	Columns []importedColumn `json:"columns"`
}

type importedColumn struct {
	Name string `json:"name"`
	Type string `json:"type" description:"INTEGER, REAL or TEXT: the narrowest that all values fit"`
}

func (r *reference) addImport() {
	tool := mcp.Tool{
		Name:  "import_csv",
		Title: "Import CSV",
		Description: "Imports CSV into a new table of the sample database, which query_database can then read. " +
			"All rows are imported or, when it fails or is cancelled, none. Reports its progress.",
		Annotations: &mcp.ToolAnnotations{DestructiveHint: new(true), OpenWorldHint: new(false)},
	}
	if r.files == nil {
		server.AddTool(r.srv, tool, func(ctx context.Context, call *server.Call, in importArgs) (*imported, error) {
			return r.importCSV(ctx, call, in, nil)
		})
		return
	}
	server.AddTool(r.srv, tool, func(ctx context.Context, call *server.Call, in importFileArgs) (*imported, error) {
		return r.importCSV(ctx, call, in.importArgs, in.File)
	})
}

func (r *reference) importCSV(ctx context.Context, call *server.Call, in importArgs, file *string) (*imported, error) {
	text, err := r.importText(ctx, call, in.CSV, file)
	if err != nil {
		return nil, err
	}
	t, err := parseCSV(text)
	if err != nil {
		return nil, err
	}
	log := call.Logger("import_csv")
	err = r.db.importTable(ctx, in.Table, t, in.Replace, func(done int) {
		call.Progress(ctx, float64(done), float64(len(t.rows)), fmt.Sprintf("Imported %d of %d rows", done, len(t.rows)))
	})
	if err != nil {
		log.WarnContext(ctx, "import failed, nothing was kept", "table", in.Table, "error", err)
		return nil, err
	}
	log.InfoContext(ctx, "table imported", "table", in.Table, "rows", len(t.rows))
	r.tableImported(in.Table, len(t.rows))
	out := &imported{Table: in.Table, Rows: len(t.rows)}
	for _, c := range t.columns {
		out.Columns = append(out.Columns, importedColumn{c.name, c.typ})
	}
	return out, nil
}

// tableImported makes the table a resource, and announces the change.
func (r *reference) tableImported(name string, rows int) {
	uri := "db://tables/" + name
	r.srv.AddResource(mcp.Resource{
		URI:         uri,
		Name:        name,
		Title:       "Imported table " + name,
		Description: fmt.Sprintf("The first rows of %d in the table that was imported as %q", rows, name),
		MIMEType:    "application/json",
	}, func(ctx context.Context, call *server.Call, uri string) (*mcp.ReadResourceResult, error) {
		return r.readTable(ctx, call, uri, tableVars{name})
	})
	r.srv.ResourceUpdated(uri)
	r.srv.ResourceUpdated(schemaURI)
}

func (r *reference) importText(ctx context.Context, call *server.Call, text, file *string) (string, error) {
	switch {
	case text != nil && file != nil:
		return "", errors.New(`give either "csv" or "file", not both`)
	case text != nil:
		return *text, nil
	case file != nil:
		data, err := r.files.readNamed(ctx, call, *file, maxImportBytes)
		return string(data), err
	case r.files != nil:
		return "", errors.New(`give the CSV in "csv", or name a file in "file"`)
	}
	return "", errors.New(`give the CSV in "csv"`)
}

var tableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}$`)

// importTable adds a table, all of it or nothing. report gets the number of
// rows imported so far, from 0 to all.
func (d *database) importTable(ctx context.Context, name string, t *csvTable, replace bool, report func(done int)) error {
	if !tableName.MatchString(name) || strings.HasPrefix(strings.ToLower(name), "sqlite_") {
		return fmt.Errorf("%q cannot name a table; use letters, digits and _, and nothing that begins with sqlite_", name)
	}
	tx, err := d.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit there is nothing to roll back
	if err := makeRoom(ctx, tx, name, replace); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, createStatement(name, t.columns)); err != nil {
		return err
	}
	report(0)
	if err := insertRows(ctx, tx, name, t, report); err != nil {
		return err
	}
	return tx.Commit()
}

// makeRoom makes sure that a table of this name can be created.
func makeRoom(ctx context.Context, tx *sql.Tx, name string, replace bool) error {
	if slices.Contains(sampleTables(), strings.ToLower(name)) {
		return fmt.Errorf("table %q is part of the sample data; choose another name", name)
	}
	var same, all int
	err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FILTER (WHERE name = ? COLLATE NOCASE), COUNT(*) FROM sqlite_master WHERE type IN ('table', 'index')", name).Scan(&same, &all)
	switch {
	case err != nil:
		return err
	case same > 0 && !replace:
		return fmt.Errorf("table %q exists already; choose another name, or set replace to true", name)
	case same == 0 && all > maxImportedTables:
		return fmt.Errorf("there are %d imported tables already; replace one of them instead of adding %q", maxImportedTables, name)
	}
	_, err = tx.ExecContext(ctx, "DROP TABLE IF EXISTS "+quoteName(name))
	return err
}

func createStatement(name string, columns []csvColumn) string {
	var b strings.Builder
	b.WriteString("CREATE TABLE " + quoteName(name) + " (")
	for i, c := range columns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quoteName(c.name) + " " + c.typ)
	}
	b.WriteString(")")
	return b.String()
}

func insertRows(ctx context.Context, tx *sql.Tx, name string, t *csvTable, report func(done int)) error {
	statement := "INSERT INTO " + quoteName(name) + " VALUES (?" + strings.Repeat(",?", len(t.columns)-1) + ")" //nolint:gosec // the name is quoted
	insert, err := tx.PrepareContext(ctx, statement)
	if err != nil {
		return err
	}
	defer insert.Close()
	// There are at least ten batches, so that a small import reports progress,
	// too.
	batch := min(max(len(t.rows)/10, 1), maxBatch)
	values := make([]any, len(t.columns))
	for done, row := range t.rows {
		if done > 0 && done%batch == 0 {
			report(done)
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		for i, c := range t.columns {
			values[i] = c.value(row[i])
		}
		if _, err := insert.ExecContext(ctx, values...); err != nil {
			return fmt.Errorf("row %d: %w", done+1, err)
		}
	}
	report(len(t.rows))
	return ctx.Err()
}
