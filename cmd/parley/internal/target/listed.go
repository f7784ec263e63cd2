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

	// Inputs are the values that the file leaves to the user.
	Inputs []ListedInput `json:"inputs,omitzero"`
	// Disabled says that the program that the file is for does not use the server.
	Disabled bool `json:"disabled,omitzero"`
	// Problem says why the entry cannot be used; "" if it can.
	Problem string `json:"problem,omitzero"`
}

// ListedInput is what may be shown of an input.
type ListedInput struct {
	ID          string   `json:"id"`
	Description string   `json:"description,omitzero"`
	Password    bool     `json:"password,omitzero"`
	Options     []string `json:"options,omitzero"`
	// Default is masked if the input is a password.
	Default string `json:"default,omitzero"`
	// Variable has the value, if it is set.
	Variable string `json:"variable"`
	Set      bool   `json:"set,omitzero"`
}

// List returns what may be shown of configuration files.
func List(files []Found, env Environment) []Listed {
	list := make([]Listed, 0, len(files))
	for _, f := range files {
		list = append(list, listed(f, env))
	}
	return list
}

func listed(f Found, env Environment) Listed {
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
		for _, in := range e.Inputs() {
			entry.Inputs = append(entry.Inputs, listedInput(in, env))
		}
		l.Servers = append(l.Servers, entry)
	}
	return l
}

func listedInput(in *Input, env Environment) ListedInput {
	l := ListedInput{ID: in.ID, Description: in.Description, Password: in.Password, Options: in.Options, Default: in.Default, Variable: InputVariable(in.ID)}
	if in.Password && in.Default != "" {
		l.Default = Hidden
	}
	_, l.Set = env.Lookup(l.Variable)
	return l
}
