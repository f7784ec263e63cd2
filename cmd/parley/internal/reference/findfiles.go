package reference

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

type findArgs struct {
	Pattern string `json:"pattern" description:"Name to look for, with the wildcards * and ?, for example \"*.csv\"; with a slash, a path from the root such as \"data/*.csv\"" minLength:"1" maxLength:"200"`
	Limit   int    `json:"limit" description:"Most files to return" default:"20" minimum:"1" maximum:"200"`
}

type foundFiles struct {
	Files []foundFile `json:"files"`
	More  bool        `json:"more" description:"Whether there may be more than were returned"`
}

type foundFile struct {
	URI      string `json:"uri" description:"Read it as a resource"`
	Name     string `json:"name"`
	MIMEType string `json:"mime_type"`
	Size     int64  `json:"size" description:"Bytes"`
}

func (r *reference) addFindFiles() {
	server.AddTool(r.srv, mcp.Tool{
		Name:        "find_files",
		Title:       "Find files",
		Description: "Finds files below the server's root by name and returns links to them, which can be read as resources. Hidden files are not found.",
		Annotations: readOnly(),
	}, r.findFiles)
}

func (r *reference) findFiles(ctx context.Context, call *server.Call, in findArgs) (*foundFiles, error) {
	if _, err := path.Match(in.Pattern, ""); err != nil {
		return nil, fmt.Errorf("pattern %q is not valid: close each [ with a ], and do not end with a backslash", in.Pattern)
	}
	inside, err := r.files.bounds(ctx, call)
	if err != nil {
		return nil, err
	}
	all, err := r.files.scan(nil, func(string) {})
	if err != nil {
		return nil, err
	}
	out := &foundFiles{Files: []foundFile{}, More: len(all) == maxListed}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		file := all[name]
		if !matches(in.Pattern, file.Name) || !inside(name) {
			continue
		}
		if len(out.Files) == in.Limit {
			out.More = true
			break
		}
		out.Files = append(out.Files, foundFile{file.URI, file.Name, file.MIMEType, *file.Size})
		call.AddContent(&mcp.ResourceLink{URI: file.URI, Name: file.Name, MIMEType: file.MIMEType, Size: file.Size, Annotations: file.Annotations})
	}
	return out, nil
}

// matches compares a pattern without a slash with the last part of the name.
func matches(pattern, name string) bool {
	if !strings.Contains(pattern, "/") {
		name = path.Base(name)
	}
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}
