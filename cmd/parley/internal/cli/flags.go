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

// flags are the flags of all commands that talk to a server.
type flags struct {
	revision string
	output   string
	timeout  time.Duration
	env      []string
	roots    []string
	trace    bool
	logLevel string
	answers  []string
	sampler  string
	headers  []string
	token    string
}

func (f *flags) register(set *pflag.FlagSet) {
	set.StringVar(&f.revision, "revision", "", "speak only this `REVISION`, for example 2025-11-25")
	set.StringVar(&f.output, "output", "text", "`text|json`; json prints one document, with results as the server sent them")
	set.DurationVar(&f.timeout, "timeout", time.Minute, "how long a server may take without an answer or progress; 0 means forever")
	set.StringArrayVar(&f.env, "env", nil, "set a variable for the server, as `K=V` (repeatable)")
	set.StringArrayVar(&f.headers, "header", nil, "send a header `K:V` with every request to a URL (repeatable)")
	set.StringVar(&f.token, "token", "", "send this access `TOKEN` to a URL instead of logging in; @FILE reads it from a file; the default is the variable "+tokenVariable)
	set.StringArrayVar(&f.roots, "root", nil, "offer a folder `DIR` to the server as a root (repeatable)")
	set.BoolVar(&f.trace, "trace", false, "show every message on standard error, and what the server writes there")
	set.StringVar(&f.logLevel, "log-level", "", "ask the server for log messages from this `LEVEL` on: "+levelNames())
	set.StringArrayVar(&f.answers, "answer", nil, "answer a field of a form that the server asks for, as `name=value` (repeatable)")
	set.StringVar(&f.sampler, "sampler", "", "run `CMD` when the server asks for a model: it reads the request as JSON on standard input, and prints the text of the answer")
}

// passStderr reports whether the server's standard error is shown.
func (f *flags) passStderr() bool { return f.trace || f.logLevel == string(mcp.LevelDebug) }

// json reports whether results are printed as JSON.
func (f *flags) json() bool { return f.output == "json" }

// check refuses values that make no sense, before a server is started.
func (f *flags) check() error {
	if f.output != "text" && f.output != "json" {
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
		answers[name] = value
	}
	return answers, nil
}

// mcpRoots returns the folders to offer; nil offers none.
func (f *flags) mcpRoots() ([]*mcp.Root, error) {
	var roots []*mcp.Root
	for _, dir := range f.roots {
		path, err := folder(dir)
		if err != nil {
			return nil, err
		}
		roots = append(roots, &mcp.Root{URI: fileURI(path), Name: filepath.Base(path)})
	}
	return roots, nil
}

// folder returns the absolute path of a folder that exists.
func folder(dir string) (string, error) {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return "", usagef("--root %q is not a folder", dir)
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

// ownFlagsOnly hides and refuses the flags for talking to a server, for a
// command that talks to none.
func ownFlagsOnly(cmd *cobra.Command) {
	cmd.SetUsageTemplate(strings.Replace(cmd.UsageTemplate(), "{{if .HasAvailableInheritedFlags}}", "{{if false}}", 1))
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		var wrong error
		cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) {
			if f.Changed {
				wrong = usagef("--%s has no effect on %q: it takes only flags of its own", f.Name, cmd.CommandPath())
			}
		})
		return wrong
	}
}
