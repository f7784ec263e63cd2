package static

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// Names of the pages.
const (
	Inspect = "inspect" // that of parley inspect
	Console = "console" // that of a gateway's console
)

// Pack returns the files of a page by their names: index.html, page.js with all modules, page.css
// with all style sheets, the source maps by which a browser's developer tools show both as they were
// written, icon.svg, and licences. It takes some 50 milliseconds.
//
// A browser asks for each module by itself otherwise, and fifty requests took longer than all else
// that a first view needs.
func Pack(page string) (map[string][]byte, error) {
	result := api.Build(api.BuildOptions{
		EntryPointsAdvanced: []api.EntryPoint{
			{InputPath: page + "/main.js", OutputPath: "page"},
			{InputPath: page + "/page.css", OutputPath: "page"},
		},
		Bundle: true, Format: api.FormatESModule, Target: api.ES2022,
		MinifyWhitespace: true, MinifySyntax: true, MinifyIdentifiers: true, KeepNames: true,
		Sourcemap: api.SourceMapLinked, SourceRoot: "/",
		Outdir: "/", AbsWorkingDir: "/",
		Plugins: []api.Plugin{{Name: "embedded", Setup: embedded}},
	})
	if len(result.Errors) > 0 {
		return nil, fmt.Errorf("pack page %s: %w", page, firstOf(result.Errors))
	}
	packed := map[string][]byte{}
	for _, f := range result.OutputFiles {
		packed[path.Base(strings.ReplaceAll(f.Path, `\`, "/"))] = f.Contents
	}
	for name, source := range map[string]string{
		"index.html": "page.html", "icon.svg": "icon.svg",
		"LICENSE-preact": "vendor/LICENSE-preact", "LICENSE-htm": "vendor/LICENSE-htm",
	} {
		text, err := files.ReadFile(source)
		if err != nil {
			return nil, fmt.Errorf("pack page %s: %w", page, err)
		}
		packed[name] = text
	}
	return packed, nil
}

// embedded has the bundler read the embedded files, and nothing of the machine's.
func embedded(build api.PluginBuild) {
	const space = "embedded"
	build.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		name := a.Path
		if a.Importer != "" {
			if !strings.HasPrefix(name, ".") {
				return api.OnResolveResult{}, fmt.Errorf("%s imports %q, which is no file of the page", a.Importer, name)
			}
			name = path.Join(path.Dir(a.Importer), name)
		}
		return api.OnResolveResult{Path: name, Namespace: space}, nil
	})
	build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: space}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
		text, err := files.ReadFile(a.Path)
		if err != nil {
			return api.OnLoadResult{}, err
		}
		contents, loader := string(text), api.LoaderJS
		if path.Ext(a.Path) == ".css" {
			loader = api.LoaderCSS
		}
		return api.OnLoadResult{Contents: &contents, Loader: loader}, nil
	})
}

func firstOf(messages []api.Message) error {
	m := messages[0]
	if m.Location == nil {
		return errors.New(m.Text)
	}
	return fmt.Errorf("%s:%d: %s", m.Location.File, m.Location.Line, m.Text)
}
