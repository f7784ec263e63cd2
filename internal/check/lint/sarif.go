package lint

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/parley-mcp/parley/internal/wire"
)

// The parts of SARIF 2.1.0 that a report needs.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitzero"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID         string            `json:"id"`
		Short      sarifText         `json:"shortDescription"`
		Help       sarifText         `json:"help"`
		Default    sarifLevel        `json:"defaultConfiguration"`
		Properties map[string]string `json:"properties"`
	}
	sarifLevel struct {
		Level Severity `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		Level        Severity           `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Suppressions []sarifSuppression `json:"suppressions,omitzero"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations"`
	}
	sarifPhysical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region struct {
			StartLine int `json:"startLine"`
		} `json:"region"`
	}
	sarifLogical struct {
		Name string `json:"name,omitzero"`
		Full string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
)

// SARIF returns a report in the Static Analysis Results Interchange Format 2.1.0,
// for code scanning. version is that of the program.
func (r *Report) SARIF(version string) (json.RawMessage, error) {
	run := sarifRun{Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "parley check lint", Version: version, InformationURI: "https://github.com/parley-mcp/parley", Rules: []sarifRule{}}
	for _, rule := range rules() {
		if slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Rule == rule.ID }) {
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
				ID: rule.ID, Short: sarifText{rule.Finds}, Help: sarifText{rule.Mend}, Default: sarifLevel{rule.Severity},
				Properties: map[string]string{"source": rule.Source, "date": rule.Date},
			})
		}
	}
	for i := range r.Findings {
		run.Results = append(run.Results, r.Findings[i].sarif())
	}
	return wire.Marshal(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

func (f *Finding) sarif() sarifResult {
	full := f.Server + "/" + string(f.Kind) + "/" + f.Name + "#" + f.Pointer
	where := sarifLocation{Logical: []sarifLogical{{f.Name, full, "declaration"}}}
	// Code scanning shows nothing that is in no file.
	where.Physical.Artifact.URI = f.artifact()
	where.Physical.Region.StartLine = max(f.Line, 1)
	res := sarifResult{
		RuleID: f.Rule, Level: f.Severity, Message: sarifText{f.where() + ": " + f.Text + ". " + f.Mend},
		Locations: []sarifLocation{where}, Fingerprints: map[string]string{"definition/v1": f.Rule + " " + full},
	}
	if f.Accepted != "" {
		res.Suppressions = []sarifSuppression{{"external", f.Accepted}}
	}
	return res
}

// artifact is the file of a finding as a relative reference, or the server.
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
