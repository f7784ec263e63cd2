package reference

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

const (
	schemaURI     = "db://schema"
	tableTemplate = "db://tables/{table}"
	tablePreview  = 100 // rows that the resource of a table shows
)

// dbSchema is the content of db://schema.
type dbSchema struct {
	Dialect string     `json:"dialect"`
	Tables  []dbObject `json:"tables"`
}

type dbObject struct {
	Name    string     `json:"name"`
	Rows    int64      `json:"rows"`
	Columns []dbColumn `json:"columns"`
}

type dbColumn struct {
	Name       string `json:"name"`
	Type       string `json:"type"`
	NotNull    bool   `json:"notNull,omitempty"`
	PrimaryKey bool   `json:"primaryKey,omitempty"`
}

func (r *reference) addSchema() {
	r.srv.AddResource(mcp.Resource{
		URI:         schemaURI,
		Name:        "Database Schema",
		Title:       "Database schema",
		Description: "Tables and columns of the sample database, as query_database sees them. It changes when import_csv adds a table.",
		MIMEType:    "application/json",
		Annotations: &mcp.Annotations{Audience: []mcp.Role{mcp.RoleAssistant}, Priority: new(0.8)},
	}, func(ctx context.Context, _ *server.Call, uri string) (*mcp.ReadResourceResult, error) {
		schema, err := r.db.schema(ctx)
		if err != nil {
			return nil, err
		}
		return jsonContents(uri, schema)
	})
	server.AddTemplate(r.srv, mcp.ResourceTemplate{
		URITemplate: tableTemplate,
		Name:        "Database Table",
		Title:       "Table of the database",
		Description: fmt.Sprintf("The first %d rows of a table of the sample database", tablePreview),
		MIMEType:    "application/json",
	}, r.readTable)
	r.srv.CompleteTemplate(tableTemplate, "table", r.completeTable)
}

type tableVars struct {
	Table string `uri:"table"`
}

func (r *reference) readTable(ctx context.Context, _ *server.Call, uri string, vars tableVars) (*mcp.ReadResourceResult, error) {
	names, err := r.db.tables(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(names, vars.Table) {
		return nil, &mcp.ResourceNotFoundError{URI: uri}
	}
	t, err := r.db.query(ctx, tablePreview, "SELECT * FROM "+quoteName(vars.Table))
	if err != nil {
		return nil, err
	}
	return jsonContents(uri, t)
}

func (r *reference) completeTable(ctx context.Context, call *server.Call, c server.Completing) (mcp.Completion, error) {
	names, err := r.db.tables(ctx)
	if err != nil {
		return mcp.Completion{}, err
	}
	return server.CompleteFrom(names...)(ctx, call, c)
}

// tables returns the names of the tables, sorted.
func (d *database) tables(ctx context.Context) ([]string, error) {
	return column[string](ctx, d, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name")
}

func (d *database) schema(ctx context.Context) (*dbSchema, error) {
	names, err := d.tables(ctx)
	if err != nil {
		return nil, err
	}
	schema := &dbSchema{Dialect: "SQLite", Tables: make([]dbObject, len(names))}
	for i, name := range names {
		if schema.Tables[i], err = d.describe(ctx, name); err != nil {
			return nil, fmt.Errorf("table %q: %w", name, err)
		}
	}
	return schema, nil
}

func (d *database) describe(ctx context.Context, name string) (dbObject, error) {
	object := dbObject{Name: name, Columns: []dbColumn{}}
	if err := d.read.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+quoteName(name)).Scan(&object.Rows); err != nil {
		return object, err
	}
	rows, err := d.read.QueryContext(ctx, `SELECT name, type, "notnull", pk > 0 FROM pragma_table_info(?)`, name)
	if err != nil {
		return object, err
	}
	defer rows.Close()
	for rows.Next() {
		var c dbColumn
		if err := rows.Scan(&c.Name, &c.Type, &c.NotNull, &c.PrimaryKey); err != nil {
			return object, err
		}
		object.Columns = append(object.Columns, c)
	}
	return object, rows.Err()
}

// column returns the values of the first column of a query.
func column[T any](ctx context.Context, d *database, query string, args ...any) ([]T, error) {
	rows, err := d.read.QueryContext(ctx, query, args...)
	return scanAll(rows, err, func(v *T) []any { return []any{v} })
}

// scanAll reads the rows of a query, unless that failed. fields are where the columns
// of a row go.
func scanAll[T any](rows *sql.Rows, failed error, fields func(*T) []any) ([]T, error) {
	if failed != nil {
		return nil, failed
	}
	defer rows.Close()
	values := []T{}
	for rows.Next() {
		var v T
		if err := rows.Scan(fields(&v)...); err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, rows.Err()
}
