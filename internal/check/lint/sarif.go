package lint

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/parley-mcp/parley/internal/check/sarif"
	"github.com/parley-mcp/parley/internal/wire"
)

// SARIF returns a report in the Static Analysis Results Interchange Format 2.1.0,
// for code scanning. version is that of the program.
func (r *Report) SARIF(version string) (json.RawMessage, error) {
	run := sarif.Run{Results: []sarif.Result{}}
	driver := sarif.Driver{Name: "parley check lint", Version: version, InformationURI: "https://github.com/parley-mcp/parley", Rules: []sarif.Rule{}}
	index := map[string]int{}
	for _, rule := range rules() {
		if slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Rule == rule.ID }) {
			index[rule.ID] = len(driver.Rules)
			driver.Rules = append(driver.Rules, sarif.Rule{
				ID: rule.ID, Short: sarif.Text{Text: rule.Finds}, Help: sarif.Text{Text: rule.Mend}, Default: sarif.Configuration{Level: string(rule.Severity)},
				Properties: map[string]string{"source": rule.Source, "date": rule.Date},
			})
		}
	}
	run.Tool.Driver = driver
	for i := range r.Findings {
		run.Results = append(run.Results, r.Findings[i].sarif(index[r.Findings[i].Rule]))
	}
	return wire.Marshal(sarif.New(run))
}

func (f *Finding) sarif(rule int) sarif.Result {
	full := f.Server + "/" + string(f.Kind) + "/" + f.Name + "#" + f.Pointer
	return sarif.Result{
		RuleID: f.Rule, RuleIndex: rule, Level: string(f.Severity), Message: sarif.Text{Text: f.where() + ": " + f.Text + ". " + f.Mend},
		Locations: []sarif.Location{{
			Physical: sarif.Physical{Artifact: sarif.Artifact{URI: f.artifact()}, Region: &sarif.Region{StartLine: max(f.Line, 1)}},
			Logical:  []sarif.Logical{{Name: f.Name, Full: full, Kind: "declaration"}},
		}},
		Fingerprints: map[string]string{"definition/v1": f.Rule + " " + full},
		Suppressions: sarif.Accepted(f.Accepted),
	}
}

// artifact is the file of a finding as a relative reference, or the server: code
// scanning shows nothing that is in no file.
func (f *Finding) artifact() string {
	switch path := filepath.ToSlash(f.File); {
	case path != "" && path != "-":
		return (&url.URL{Path: path}).String()
	case f.Server != "":
		return url.PathEscape(f.Server)
	}
	return "definitions"
}

// where names the definition that a finding is about.
func (f *Finding) where() string {
	text := string(f.Kind)
	if f.Name != "" {
		text += " " + f.Name
	}
	if f.Server != "" && f.Kind != Server {
		text = f.Server + ": " + text
	}
	return text
}
