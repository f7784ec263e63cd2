package target

import (
	"fmt"
	"strings"
)

// Named returns the entry that has a name in one of some files. The same name may
// stand in several of them if they say the same about it; otherwise it is ambiguous.
func Named(name string, files []Found) (*Entry, error) {
	var hits []*Entry
	var broken []error
	for _, f := range files {
		if f.Err != nil {
			broken = append(broken, f.Err)
			continue
		}
		if e := f.File.find(name); e != nil {
			hits = append(hits, e)
		}
	}
	if len(hits) == 0 {
		err := fmt.Errorf("no configuration file names a server %q%s", name, known(files))
		for _, unread := range broken {
			err = fmt.Errorf("%w; not read is %w", err, unread)
		}
		return nil, err
	}
	for _, e := range hits[1:] {
		if !e.same(hits[0]) {
			return nil, fmt.Errorf("%q is ambiguous: %s and %s say different things about it; choose a file with --config FILE", name, hits[0].File.Path, e.File.Path)
		}
	}
	return hits[0], nil
}

// known names the servers that there are, for an error.
func known(files []Found) string {
	var names []string
	seen := map[string]bool{}
	for _, f := range files {
		if f.Err != nil {
			continue
		}
		for _, e := range f.File.Entries {
			if !seen[e.Name] {
				seen[e.Name] = true
				names = append(names, e.Name)
			}
		}
	}
	const most = 20
	switch {
	case len(names) == 0:
		return ""
	case len(names) > most:
		names = append(names[:most], "…")
	}
	return "; there are " + strings.Join(names, ", ")
}
