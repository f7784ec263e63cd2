// Package requirement has every normative sentence of the released revisions
// as a row: what it demands of whom, where it stands, and how it can be seen
// from outside. The rows are data (rows.tsv); which probe judges a row is said
// by the probe.
package requirement

import (
	_ "embed"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
)

// Role is a side of the protocol that a row binds and that can be judged.
type Role string

// The roles.
const (
	Server        Role = "server"
	Client        Role = "client"
	Authorization Role = "authorization server"
	Host          Role = "host"         // the application around clients, which no wire shows
	Intermediary  Role = "intermediary" // a gateway or proxy
)

// Roles returns all roles.
func Roles() []Role { return []Role{Server, Client, Authorization, Host, Intermediary} }

// Row is one requirement.
type Row struct {
	// ID names the row: the newest revision that has it, the page, and a number,
	// such as 26.server.tools-056 or 2511.basic-004.
	ID string
	// Revisions are those in which the row holds, oldest first.
	Revisions []string
	// Page and Anchor say where it stands, such as server/tools and error-handling.
	// The anchor is that of the newest revision, and "" at the head of a page. On
	// the page schema it is the name of a type.
	Page, Anchor string
	// Level is the keyword: MUST, MUST NOT, SHOULD, SHOULD NOT or MAY. Rows that
	// the pages mean without using the keyword have the one that fits.
	Level string
	// Binds are the roles that the row speaks to.
	Binds []Role
	// Text is the requirement in one sentence.
	Text string
	// Seen are the roles on which the row can be seen from outside.
	Seen []Role
	// Reason says why it can't be seen, or can only in part. A row that is seen on
	// fewer roles than it binds has one; if it tells of one role only, it begins
	// with that, as in "client: it offers no schemas."
	Reason string
	// Probe is an idea of how to see it.
	Probe string
}

// Must reports whether the row is a MUST or a MUST NOT.
func (r *Row) Must() bool { return strings.HasPrefix(r.Level, "MUST") }

// Should reports whether the row is a SHOULD or a SHOULD NOT.
func (r *Row) Should() bool { return strings.HasPrefix(r.Level, "SHOULD") }

// HoldsIn reports whether the row holds in a revision.
func (r *Row) HoldsIn(revision string) bool { return slices.Contains(r.Revisions, revision) }

// IsSeenOn reports whether the row can be seen from outside on a role.
func (r *Row) IsSeenOn(role Role) bool { return slices.Contains(r.Seen, role) }

// ReasonOn returns why the row can't be seen on a role, or "" if it can.
func (r *Row) ReasonOn(role Role) string {
	if r.IsSeenOn(role) {
		return ""
	}
	why := strings.TrimPrefix(r.Reason, string(role)+": ")
	return strings.ToUpper(why[:1]) + why[1:]
}

//go:embed rows.tsv
var table string

// rows decodes the table once.
var rows = sync.OnceValue(func() []*Row {
	all, err := parse(table)
	if err != nil {
		panic("requirement: rows.tsv: " + err.Error()) // a test reads it
	}
	return all
})

var index = sync.OnceValue(func() map[string]*Row {
	m := map[string]*Row{}
	for _, r := range rows() {
		m[r.ID] = r
	}
	return m
})

// All returns the rows in the order of the table: by revision and page.
func All() iter.Seq[*Row] { return slices.Values(rows()) }

// ByID returns the row of an ID, or nil.
func ByID(id string) *Row { return index()[id] }

// The columns of rows.tsv.
const (
	colID = iota
	colRevisions
	colPage
	colAnchor
	colLevel
	colBinds
	colText
	colSeen
	colReason
	colProbe
	columns
)

func parse(text string) ([]*Row, error) {
	var all []*Row
	for n, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		cells := strings.Split(line, "\t")
		if len(cells) != columns {
			return nil, fmt.Errorf("line %d has %d columns, want %d", n+1, len(cells), columns)
		}
		if n == 0 {
			continue // the headings
		}
		all = append(all, &Row{
			ID: cells[colID], Revisions: strings.Split(cells[colRevisions], ","),
			Page: cells[colPage], Anchor: cells[colAnchor], Level: cells[colLevel],
			Binds: roles(cells[colBinds]), Text: cells[colText],
			Seen: roles(cells[colSeen]), Reason: cells[colReason], Probe: cells[colProbe],
		})
	}
	return all, nil
}

func roles(cell string) []Role {
	if cell == "" {
		return nil
	}
	var all []Role
	for name := range strings.SplitSeq(cell, ",") {
		all = append(all, Role(name))
	}
	return all
}
