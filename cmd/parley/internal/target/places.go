package target

import (
	"os"
	"path/filepath"
)

// ownName is the name of this program's own configuration files.
const ownName = "parley.json"

// Place is where a program keeps its configuration.
type Place struct {
	Program string
	Path    string
}

// Places returns where the programs that are known keep the names of their servers,
// on an operating system as runtime.GOOS names it: first those of the folder that the
// program works in, then those of the user.
func Places(goos string, env Environment) []Place {
	settings := settingsFolder(goos, env)
	places := []Place{
		{"Parley", filepath.Join(env.Folder, ownName)},
		{"any", filepath.Join(env.Folder, "mcp.json")},
		{"Claude Code", filepath.Join(env.Folder, ".mcp.json")},
		{"VS Code", filepath.Join(env.Folder, ".vscode", "mcp.json")},
		{"Cursor", filepath.Join(env.Folder, ".cursor", "mcp.json")},
	}
	if settings != "" {
		places = append(places,
			Place{"Parley", filepath.Join(settings, "parley", ownName)},
			Place{"Claude", filepath.Join(settings, "Claude", "claude_desktop_config.json")},
			Place{"VS Code", filepath.Join(settings, "Code", "User", "mcp.json")})
	}
	if env.Home != "" {
		places = append(places,
			Place{"Claude Code", filepath.Join(env.Home, ".claude.json")},
			Place{"Cursor", filepath.Join(env.Home, ".cursor", "mcp.json")})
	}
	return distinct(places)
}

// distinct removes places that are there twice, as when the program works in the
// user's home folder.
func distinct(places []Place) []Place {
	seen := map[string]bool{}
	var list []Place
	for _, p := range places {
		if !seen[p.Path] {
			seen[p.Path] = true
			list = append(list, p)
		}
	}
	return list
}

// settingsFolder is where programs keep the user's settings.
func settingsFolder(goos string, env Environment) string {
	variable := func(name string) string {
		value, _ := env.Lookup(name)
		return value
	}
	switch goos {
	case "windows":
		return variable("AppData")
	case "darwin":
		if env.Home == "" {
			return ""
		}
		return filepath.Join(env.Home, "Library", "Application Support")
	}
	if dir := variable("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	if env.Home == "" {
		return ""
	}
	return filepath.Join(env.Home, ".config")
}

// Found is a configuration file that is there.
type Found struct {
	Place
	File *File // nil if Err is set
	Err  error // why the file cannot be read
}

// Find reads the configuration files that are there. It does not read what is not a
// regular file.
func Find(goos string, env Environment) []Found {
	var found []Found
	for _, p := range Places(goos, env) {
		if info, err := os.Stat(p.Path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		f, err := Read(p.Path, env.Folder)
		found = append(found, Found{p, f, err})
	}
	return found
}
