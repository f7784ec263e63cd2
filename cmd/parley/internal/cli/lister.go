package cli

import (
	"encoding/json"
	"strings"

	"github.com/parley-mcp/parley/apps"
	"github.com/parley-mcp/parley/mcp"
)

// lister shows lists as text.
type lister struct{ out *output }

func (v *lister) section(l listing, items []json.RawMessage, more bool) error {
	if more {
		v.out.printf("\n")
	}
	v.out.printf("%s\n", v.out.bold(strings.ToUpper(l.Name[:1])+l.Name[1:]))
	if len(items) == 0 {
		v.out.printf("  %s\n", v.out.dim("none"))
	}
	for _, item := range items {
		if err := l.show(v, item); err != nil {
			return malformed(l.Method, err)
		}
	}
	return nil
}

// head shows what every item has.
func (v *lister) head(name, title, description string, notes ...string) {
	v.out.printf("  %s", v.out.bold(label(name, 500)))
	if title != "" && title != name {
		v.out.printf("  %s", label(title, 200))
	}
	for _, note := range notes {
		if note != "" {
			v.out.printf("  %s", v.out.dim(label(note, 200)))
		}
	}
	v.out.printf("\n")
	if description != "" {
		v.out.printf("%s\n", v.out.dim(indent(description, "      ")))
	}
}

func (v *lister) tool(item json.RawMessage) error {
	t, err := decode[mcp.Tool](item)
	if err != nil {
		return err
	}
	title, notes := t.Title, []string{}
	if n := t.Annotations; n != nil {
		if title == "" {
			title = n.Title
		}
		if n.ReadOnlyHint {
			notes = append(notes, "[read-only]")
		} else if n.DestructiveHint != nil && *n.DestructiveHint {
			notes = append(notes, "[destructive]")
		}
	}
	v.head(t.Name, title, t.Description, append(notes, appNotes(t)...)...)
	for _, p := range properties(t.InputSchema) {
		v.argument(p.Name, p.kind(), p.Required, string(p.Default), p.Description)
	}
	return nil
}

// appNotes says which app shows a tool's results, and that the tool is not for a model.
func appNotes(t *mcp.Tool) []string {
	ui, err := apps.OfTool(t)
	return []string{
		when(ui.ResourceURI != "", "[app "+ui.ResourceURI+"]"),
		when(!ui.ForModel() && ui.ForApp(), "[for apps only]"),
		when(err != nil, "[what it says of its app is not valid]"),
	}
}

func (v *lister) argument(name, kind string, required bool, preset, description string) {
	line := label(name, 200)
	if kind != "" {
		line += "  " + label(kind, 200)
	}
	line += when(required, ", required")
	if preset != "" {
		line += ", default " + label(preset, 80)
	}
	v.out.printf("      %s", line)
	if description != "" {
		v.out.printf("  %s", v.out.dim(oneLine(description, 500)))
	}
	v.out.printf("\n")
}

func (v *lister) resource(item json.RawMessage) error {
	r, err := decode[mcp.Resource](item)
	if err != nil {
		return err
	}
	v.head(r.URI, or(r.Title, r.Name), r.Description, r.MIMEType)
	return nil
}

func (v *lister) template(item json.RawMessage) error {
	t, err := decode[mcp.ResourceTemplate](item)
	if err != nil {
		return err
	}
	v.head(t.URITemplate, or(t.Title, t.Name), t.Description, t.MIMEType)
	return nil
}

func (v *lister) prompt(item json.RawMessage) error {
	p, err := decode[mcp.Prompt](item)
	if err != nil {
		return err
	}
	v.head(p.Name, p.Title, p.Description)
	for _, arg := range p.Arguments {
		v.argument(arg.Name, "", arg.Required, "", or(arg.Description, arg.Title))
	}
	return nil
}

// or returns the first text that is not empty.
func or(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
