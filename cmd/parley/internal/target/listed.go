package target

// Listed is what may be shown of a configuration file.
type Listed struct {
	File    string `json:"file"`
	Program string `json:"program,omitzero"`
	// Problem says why the file cannot be read; "" if it can.
	Problem string        `json:"problem,omitzero"`
	Servers []ListedEntry `json:"servers"`
}

// ListedEntry is what may be shown of a server that a configuration file names.
type ListedEntry struct {
	Name string `json:"name"`
	Summary

	// Disabled says that the program that the file is for does not use the server.
	Disabled bool `json:"disabled,omitzero"`
	// Problem says why the entry cannot be used; "" if it can.
	Problem string `json:"problem,omitzero"`
}

// List returns what may be shown of configuration files.
func List(files []Found) []Listed {
	list := make([]Listed, 0, len(files))
	for _, f := range files {
		list = append(list, listed(f))
	}
	return list
}

func listed(f Found) Listed {
	l := Listed{File: f.Path, Program: f.Program, Servers: []ListedEntry{}}
	if f.Err != nil {
		l.Problem = f.Err.Error()
		return l
	}
	for _, e := range f.File.Entries {
		entry := ListedEntry{Name: e.Name, Summary: e.Summary(), Disabled: e.Disabled}
		if e.Err != nil {
			entry.Problem = e.Err.Error()
		}
		l.Servers = append(l.Servers, entry)
	}
	return l
}
