package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/check/lint"
)

// lintKinds are the kinds of what is in each list of a server.
var lintKinds = map[string]lint.Kind{"tools": lint.Tool, "resources": lint.Resource, "resourceTemplates": lint.Template, "prompts": lint.Prompt}

// definitions asks a server for all that it defines. name is that of the
// configuration; without one, the server is called what it calls itself.
func (a *app) definitions(ctx context.Context, t target.Target, name string, b bounds) (*lint.Definitions, error) {
	c, err := a.connect(ctx, t)
	if err != nil {
		return nil, err
	}
	defer a.leave(c)
	if name == "" && t.Entry != nil {
		name = t.Entry.Name
	}
	d := &lint.Definitions{Server: or(name, c.ServerInfo().Name), Instructions: c.Instructions()}
	for _, l := range listings() {
		items, err := everything(ctx, c, l.List, b)
		if err != nil {
			return nil, err
		}
		for i, raw := range items {
			d.Items = append(d.Items, lint.Item{Kind: lintKinds[l.Member], Pointer: "/" + l.Member + "/" + strconv.Itoa(i), Raw: raw})
		}
	}
	if t.URL != "" {
		d.Card = a.cardOf(ctx, t)
	}
	return d, nil
}

// lintFile reads the definitions in a file, or asks the servers that it names. A
// server that does not answer is said so, and kept in missed.
func (a *app) lintFile(ctx context.Context, file string, b bounds, several bool, missed *error) ([]lint.Definitions, error) {
	doc, err := a.readDefinitions(file)
	if err != nil {
		return nil, err
	}
	found, err := lint.Read(doc, file)
	if err == nil {
		for i := range found {
			if found[i].Server == "" && several { // so that they can be told apart
				found[i].Server = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
			}
		}
		return found, nil
	}
	servers, unread := target.Read(file, a.environment(ctx).Folder)
	if unread != nil || len(servers.Entries) == 0 { // it may have comments, as configurations do
		if errors.Is(err, lint.ErrConfiguration) && unread != nil {
			err = unread
		}
		return nil, &failure{code: codeFailed, err: fmt.Errorf("%s: %w", file, err)}
	}
	return a.askAll(ctx, servers, b, missed), nil
}

// askAll asks each server of a configuration.
func (a *app) askAll(ctx context.Context, servers *target.File, b bounds, missed *error) []lint.Definitions {
	var all []lint.Definitions
	for _, e := range servers.Entries {
		if e.Disabled {
			a.note("%s is disabled in %s, and was not asked", label(e.Name, 100), label(servers.Path, 300))
			continue
		}
		t, err := e.Resolve(a.environment(ctx))
		if err == nil {
			err = a.flags.fits(t)
		}
		if err == nil {
			var d *lint.Definitions
			if d, err = a.definitions(ctx, t, e.Name, b); err == nil {
				all = append(all, *d)
			}
		}
		if err != nil {
			err = fmt.Errorf("the server %q could not be asked: %w", e.Name, err)
			a.note("%s", oneLine(err.Error(), 1000))
			*missed = a.failed(err, t)
		}
	}
	return all
}

// readDefinitions reads a file, within bounds; "-" is standard input.
func (a *app) readDefinitions(name string) ([]byte, error) {
	in := a.io.In
	if name != "-" {
		file, err := os.Open(name) //nolint:gosec // the user named it
		if errors.Is(err, fs.ErrNotExist) {
			return nil, &failure{code: codeFailed, err: fmt.Errorf("%s: there is no such file", name), hint: "a URL begins with http:// or https://, a server of a configuration file with @; a command stands after --"}
		}
		if err != nil {
			return nil, &failure{code: codeFailed, err: err}
		}
		defer func() { _ = file.Close() }() // nothing was written
		in = file
	}
	doc, err := io.ReadAll(io.LimitReader(in, lint.MaxFile+1))
	if err != nil {
		return nil, &failure{code: codeFailed, err: err}
	}
	return doc, nil
}
