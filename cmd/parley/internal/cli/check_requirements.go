package cli

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/internal/check/coverage"
	"github.com/parley-mcp/parley/internal/check/requirement"
	"github.com/parley-mcp/parley/internal/similar"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

const requirementsLong = `List the requirements of the specification, and what judges each: the probes, or the
reason why it can't be seen from outside.

--summary counts them instead. --explain shows one row, or one probe, in full.`

// selection says which requirements are shown.
type selection struct {
	revision string
	who      string
	page     string
	summary  bool
	explain  string
}

func (a *app) checkRequirements() *cobra.Command {
	var s selection
	cmd := &cobra.Command{
		Use:     "requirements",
		Short:   "List the requirements, and what judges each",
		Long:    requirementsLong,
		Example: "  parley check requirements --revision 2026-07-28 --who server --page server/tools\n  parley check requirements --summary\n  parley check requirements --explain 26.server.tools-048",
		Args:    cobra.NoArgs,
	}
	honours(cmd, a.flags.format)
	set := cmd.Flags()
	set.StringVar(&a.flags.revision, "revision", "", "only what holds in this `REVISION`")
	set.StringVar(&s.who, "who", "", "only what binds this `ROLE`: "+strings.Join(roleNames(), ", "))
	set.StringVar(&s.page, "page", "", "only what stands on this `PAGE`, such as server/tools, or below it")
	set.BoolVar(&s.summary, "summary", false, "count the requirements: in all, those that can be seen, and those with probes")
	set.StringVar(&s.explain, "explain", "", "show the requirement or the probe of this `ID`")
	cmd.MarkFlagsMutuallyExclusive("explain", "summary", "page")
	cmd.MarkFlagsMutuallyExclusive("explain", "who")
	_ = cmd.RegisterFlagCompletionFunc("who", cobra.FixedCompletions(roleNames(), cobra.ShellCompDirectiveNoFileComp)) // the flags are there
	_ = cmd.RegisterFlagCompletionFunc("page", cobra.FixedCompletions(pages(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("explain", cobra.FixedCompletions(explainable(), cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = func(*cobra.Command, []string) error {
		s.revision = a.flags.revision
		if err := a.flags.check(); err != nil {
			return err
		}
		return a.runRequirements(&s)
	}
	return cmd
}

func (a *app) runRequirements(s *selection) error {
	role, err := s.role()
	switch {
	case err != nil:
		return err
	case s.explain != "":
		return a.explain(s)
	case s.summary:
		return a.summary(s.revision, role)
	}
	rows, err := s.rows(role)
	if err != nil {
		return err
	}
	if a.flags.json() {
		list := make([]shownRow, 0, len(rows))
		for _, r := range rows {
			list = append(list, newShownRow(r, or(s.revision, newest(r))))
		}
		raw, err := wire.Marshal(map[string]any{"rows": list})
		a.out.json(raw)
		return err
	}
	page := ""
	for i, r := range rows {
		if r.Page != page {
			a.out.printf("%s%s\n", when(i > 0, "\n"), a.out.bold(r.Page))
		}
		page = r.Page
		a.listRow(r, role)
	}
	return nil
}

// role returns the role that --who names, or "".
func (s *selection) role() (requirement.Role, error) {
	role := requirement.Role(strings.ReplaceAll(s.who, "-", " "))
	if s.who != "" && !slices.Contains(requirement.Roles(), role) {
		return "", usagef("--who %q is no role; there are %s", s.who, strings.Join(roleNames(), ", "))
	}
	return role, nil
}

// rows returns what is selected.
func (s *selection) rows(role requirement.Role) ([]*requirement.Row, error) {
	known := s.page == ""
	var rows []*requirement.Row
	for r := range requirement.All() {
		if s.page != "" && r.Page != s.page && !strings.HasPrefix(r.Page, strings.TrimSuffix(s.page, "/")+"/") {
			continue
		}
		known = true
		if (s.revision == "" || r.HoldsIn(s.revision)) && (role == "" || slices.Contains(r.Binds, role)) {
			rows = append(rows, r)
		}
	}
	if !known {
		return nil, usagef("no requirement stands on a page %q; near are %s", s.page, strings.Join(similar.Names(s.page, pages()), ", "))
	}
	return rows, nil
}

// listRow prints a row and what judges it on a role, or on all that it binds.
func (a *app) listRow(r *requirement.Row, only requirement.Role) {
	a.out.printf("  %s  %s  %s\n", r.ID, r.Level, r.Text)
	for _, role := range r.Binds {
		if only == "" || role == only {
			a.out.printf("      %s\n", a.out.dim(string(role)+": "+judgedBy(r, role)))
		}
	}
}

// judgedBy says in a few words what judges a row on a role.
func judgedBy(r *requirement.Row, role requirement.Role) string {
	probes := coverage.Of(r, role)
	switch {
	case !r.IsSeenOn(role):
		return cmp.Or(r.ReasonOn(role), coverage.Missing(r, role))
	case len(probes) == 0:
		return "no probe: " + coverage.Missing(r, role)
	}
	return strings.Join(probeIDs(probes), ", ")
}

func probeIDs(probes []*coverage.Probe) []string {
	ids := make([]string, 0, len(probes))
	for _, p := range probes {
		ids = append(ids, p.ID)
	}
	return ids
}

// shownRow is a requirement, as --output json shows it.
type shownRow struct {
	ID        string      `json:"id"`
	Revisions []string    `json:"revisions"`
	Page      string      `json:"page"`
	Anchor    string      `json:"anchor,omitzero"`
	URL       string      `json:"url"`
	Level     string      `json:"level"`
	Text      string      `json:"text"`
	Binds     []shownRole `json:"binds"`
	Note      string      `json:"note,omitzero"` // what can't be seen of what can
}

// shownRole is a side that a requirement binds, and what judges it there.
type shownRole struct {
	Role   requirement.Role `json:"role"`
	Probes []string         `json:"probes"`
	Reason string           `json:"reason,omitzero"` // why it can't be seen
}

func newShownRow(r *requirement.Row, revision string) shownRow {
	shown := shownRow{ID: r.ID, Revisions: r.Revisions, Page: r.Page, Anchor: r.Anchor, URL: r.Address(revision), Level: r.Level, Text: r.Text}
	for _, role := range r.Binds {
		shown.Binds = append(shown.Binds, shownRole{Role: role, Probes: probeIDs(coverage.Of(r, role)), Reason: cmp.Or(r.ReasonOn(role), coverage.Missing(r, role))})
	}
	if len(r.Seen) == len(r.Binds) {
		shown.Note = r.Reason
	}
	return shown
}

// summary counts the requirements of one revision, or of all and of each.
func (a *app) summary(revision string, role requirement.Role) error {
	type entry struct {
		coverage.Count

		Percent float64 `json:"percent"`
	}
	type counted struct {
		Revision string  `json:"revision,omitzero"` // "" for all
		Counts   []entry `json:"counts"`
	}
	revisions := []string{revision}
	if revision == "" {
		for _, r := range slices.Backward(mcp.Revisions()) {
			revisions = append(revisions, r.String())
		}
	}
	var all []counted
	for _, rev := range revisions {
		c := counted{Revision: rev, Counts: []entry{}}
		for _, n := range coverage.Counts(rev) {
			if role == "" || n.Role == role {
				c.Counts = append(c.Counts, entry{n, n.Percent()})
			}
		}
		all = append(all, c)
	}
	if a.flags.json() {
		raw, err := wire.Marshal(map[string]any{"summary": all})
		a.out.json(raw)
		return err
	}
	for i, c := range all {
		a.out.printf("%s%s\n  %-21s %-6s  %6s  %11s  %11s\n", when(i > 0, "\n"), a.out.bold(or(c.Revision, "all revisions")), "", "", "rows", "can be seen", "with probes")
		for _, n := range c.Counts {
			a.out.printf("  %-21s %-6s  %6d  %11d  %11d", n.Role, n.Level, n.Rows, n.Seen, n.Probed)
			if n.Seen > 0 {
				a.out.printf("  %5.1f %%", n.Percent)
			}
			a.out.printf("\n")
		}
	}
	return nil
}

// newest returns the newest revision in which a row holds.
func newest(r *requirement.Row) string { return r.Revisions[len(r.Revisions)-1] }

// roleNames are the roles as --who takes them.
func roleNames() []string {
	var names []string
	for _, role := range requirement.Roles() {
		names = append(names, strings.ReplaceAll(string(role), " ", "-"))
	}
	return names
}

// pages are the pages that have requirements.
func pages() []string {
	all := map[string]bool{}
	for r := range requirement.All() {
		all[r.Page] = true
	}
	return slices.Sorted(maps.Keys(all))
}
