package cli

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/parley-mcp/parley/mcp"
)

// flags are the flags that several commands share. Each command registers the
// groups of flags that it honours.
type flags struct {
	revision string
	output   string
	raw      bool
	timeout  time.Duration
	timed    bool // --timeout was given
	env      []string
	cleanEnv bool
	roots    []string
	trace    bool
	logLevel string
	answers  []string
	yesForm  bool
	sampler  string
	// yesSample says that the sampler may run without asking.
	yesSample bool
	headers   []string
	token     string
	config    string
	server    string
	label     string // what the user calls the server of a skill

	showStderr bool // always show what the server's command writes to standard error
	browse     bool // --login: open a browser for a login, also where there is no terminal
}

// dial registers the flags about how a server is reached.
func (f *flags) dial(set *pflag.FlagSet) {
	f.chosen(set)
	set.BoolVar(&f.cleanEnv, "clean-env", false, "give the server's command no environment but --env and what programs need to run")
	set.StringVar(&f.token, "token", "", "send this access `TOKEN` to a URL instead of logging in; @FILE reads it from a file; the default is the variable "+tokenVariable)
	set.BoolVar(&f.trace, "trace", false, "show every message on standard error, and what the server writes there")
}

// chosen registers the flags about which server is meant, and what it is told of secrets.
func (f *flags) chosen(set *pflag.FlagSet) {
	f.named(set)
	set.StringVar(&f.revision, "revision", "", "speak only this `REVISION`, for example 2025-11-25")
	set.StringArrayVar(&f.env, "env", nil, "set a variable for the server, as `K=V` (repeatable)")
	set.StringArrayVar(&f.headers, "header", nil, "send a header `K:V` with every request to a URL (repeatable)")
}

// reach registers the flags of commands that have a conversation with a server: how
// it is reached, what it is offered, and what is shown.
func (f *flags) reach(set *pflag.FlagSet) {
	f.dial(set)
	f.bounded(set)
	set.StringArrayVar(&f.roots, "root", nil, "offer a folder `DIR` to the server as a root (repeatable)")
	set.StringVar(&f.logLevel, "log-level", "", "ask the server for log messages from this `LEVEL` on: "+levelNames())
}

// bounded registers the flag about how long a command may take.
func (f *flags) bounded(set *pflag.FlagSet) {
	set.DurationVar(&f.timeout, "timeout", 0, "end the command after this `TIME`, for example 30s; without it, only a server that gives no sign of life for a minute is given up")
}

// named registers the flags for servers that a configuration file names.
func (f *flags) named(set *pflag.FlagSet) {
	set.StringVar(&f.server, "server", "", "talk to the server that a configuration file names `NAME`; @NAME in place of a URL is the same")
	set.StringVar(&f.config, "config", "", "look for the server in this `FILE` only; by default, in those that \"parley servers\" reads")
}

// format registers the flag about how results are shown.
func (f *flags) format(set *pflag.FlagSet) {
	set.StringVar(&f.output, "output", "text", "`text|json`; json prints one document, with results as the server sent them, and errors as JSON")
}

// verbatim registers the flag for what a server wrote.
func (f *flags) verbatim(set *pflag.FlagSet) {
	set.BoolVar(&f.raw, "raw", false, "write texts as they are, with control characters, where the output is not a terminal")
}

// asked registers the flags about what a server may ask while it works.
func (f *flags) asked(set *pflag.FlagSet) {
	set.StringArrayVar(&f.answers, "answer", nil, "answer a field of a form that the server asks for, as `name=value` (repeatable)")
	set.BoolVar(&f.yesForm, "yes-form", false, "send a form that --answer fills in without asking, on a terminal too")
	set.StringVar(&f.sampler, "sampler", "", "run `CMD` when the server asks for a model: it reads the request as JSON on standard input, and prints the text of the answer")
	set.BoolVar(&f.yesSample, "yes-sample", false, "run the sampler and send what it prints without asking; where there is no terminal, nothing runs without this")
}

// honours gives a command the groups of flags that act on it.
func honours(cmd *cobra.Command, groups ...func(*pflag.FlagSet)) {
	for _, register := range groups {
		register(cmd.Flags())
	}
}

// passStderr reports whether the server's standard error is shown.
func (f *flags) passStderr() bool {
	return f.showStderr || f.trace || f.logLevel == string(mcp.LevelDebug)
}

// json reports whether results are printed as JSON.
func (f *flags) json() bool { return f.output == "json" }

// check refuses values that make no sense, before a server is started.
func (f *flags) check() error {
	if f.output != "" && f.output != "text" && f.output != "json" {
		return usagef("--output %q is neither text nor json", f.output)
	}
	if f.timeout < 0 {
		return usagef("--timeout %s is negative; 0 waits forever", f.timeout)
	}
	if f.logLevel != "" && mcp.LoggingLevel(f.logLevel).Severity() < 0 {
		return usagef("--log-level %q is not a level; there are %s", f.logLevel, levelNames())
	}
	for _, kv := range f.env {
		if name, _, ok := strings.Cut(kv, "="); !ok || name == "" {
			return usagef("--env %q is not of the form K=V", kv)
		}
	}
	if _, err := f.formAnswers(); err != nil {
		return err
	}
	if _, err := f.header(); err != nil {
		return err
	}
	_, err := f.revisions()
	return err
}

// revisions returns the revisions to speak; nil means all.
func (f *flags) revisions() ([]mcp.Revision, error) {
	if f.revision == "" {
		return nil, nil
	}
	r, ok := mcp.ParseRevision(f.revision)
	if !ok {
		return nil, usagef("--revision %q is not a released revision; there are %s", f.revision, revisionNames())
	}
	return []mcp.Revision{r}, nil
}

// header returns the headers to send to a URL.
func (f *flags) header() (http.Header, error) {
	h := http.Header{}
	for _, kv := range f.headers {
		name, value, ok := strings.Cut(kv, ":")
		if name = strings.TrimSpace(name); !ok || name == "" || strings.ContainsAny(kv, "\r\n") {
			return nil, usagef("--header %q is not of the form K:V", kv)
		}
		h.Add(name, strings.TrimSpace(value))
	}
	return h, nil
}

// formAnswers returns the answers by field.
func (f *flags) formAnswers() (map[string]string, error) {
	answers := make(map[string]string, len(f.answers))
	for _, kv := range f.answers {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" {
			return nil, usagef("--answer %q is not of the form name=value", kv)
		}
		if own, typed := strings.CutSuffix(name, ":"); typed {
			return nil, usagef("--answer %q: the form says of which type a value is; write %s=%s", kv, own, value)
		}
		answers[name] = value
	}
	return answers, nil
}

// mcpRoots returns the folders to offer; nil offers none.
func (f *flags) mcpRoots() ([]*mcp.Root, error) {
	var roots []*mcp.Root
	for _, dir := range f.roots {
		path, err := folder("--root", dir)
		if err != nil {
			return nil, err
		}
		roots = append(roots, &mcp.Root{URI: fileURI(path), Name: filepath.Base(path)})
	}
	return roots, nil
}

// folder returns the absolute path of a folder that exists, which a flag names.
func folder(flag, dir string) (string, error) {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return "", usagef("%s %q is not a folder", flag, dir)
	}
	return filepath.Abs(dir)
}

// fileURI returns the URI of an absolute path.
func fileURI(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/… on Windows
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

func revisionNames() string {
	names := make([]string, 0, 5)
	for _, r := range mcp.Revisions() {
		names = append(names, r.String())
	}
	return strings.Join(names, ", ")
}

func levelNames() string {
	levels := []mcp.LoggingLevel{
		mcp.LevelDebug, mcp.LevelInfo, mcp.LevelNotice, mcp.LevelWarning,
		mcp.LevelError, mcp.LevelCritical, mcp.LevelAlert, mcp.LevelEmergency,
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(levels), " ", ", "), "[]")
}
