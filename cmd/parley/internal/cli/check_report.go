package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/parley-mcp/parley/internal/check/report"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/internal/redact"
)

// reporting are the flags about how verdicts are shown.
type reporting struct {
	format        string
	file          string
	baseline      string
	writeBaseline string

	known verdict.Baseline
}

func (r *reporting) register(set *pflag.FlagSet) {
	set.StringVar(&r.format, "output", "text", "`"+strings.Join(report.Formats(), "|")+"`")
	set.StringVar(&r.file, "report", "", "write the report to this `FILE` ; standard output then has the text")
	set.StringVar(&r.baseline, "baseline", "", "accept the failures in this `FILE`, each with its reason: they do not set the exit code")
	set.StringVar(&r.writeBaseline, "write-baseline", "", "write the failures to this `FILE`, with reasons to fill in")
}

// check returns an error if a value makes no sense, and reads the baseline: it is
// better to know before a server is asked anything.
func (r *reporting) check() error {
	if !slices.Contains(report.Formats(), r.format) {
		return usagef("--output %q is no format of reports; there are %s", r.format, strings.Join(report.Formats(), ", "))
	}
	if r.baseline == "" {
		return nil
	}
	f, err := os.Open(r.baseline)
	if err != nil {
		return usagef("--baseline: %v", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	if r.known, err = verdict.ReadBaseline(f); err != nil {
		return usagef("--baseline %s: %v", r.baseline, err)
	}
	return nil
}

// showReport grades a report and shows it. What it returns sets the exit code.
func (a *app) showReport(ctx context.Context, r *verdict.Report, how *reporting) error {
	report.Redact(r, a.redactor())
	r.Grade()
	how.known.Apply(r)
	if how.writeBaseline != "" {
		if err := writeFile(how.writeBaseline, func(w io.Writer) error { return verdict.WriteBaseline(w, r, how.known) }); err != nil {
			return err
		}
	}
	options := report.Options{Width: a.width(), Colour: a.out.colours}
	if how.file != "" {
		if err := writeFile(how.file, func(w io.Writer) error { return report.Write(w, how.format, r, report.Options{}) }); err != nil {
			return err
		}
		return a.judgement(ctx, r, report.Write(a.out, "text", r, options))
	}
	return a.judgement(ctx, r, report.Write(a.out, how.format, r, options))
}

// judgement is the error whose exit code says what a report says.
func (a *app) judgement(ctx context.Context, r *verdict.Report, err error) error {
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case r.Exit() == verdict.ExitFailed:
		return &failure{code: codeCheck}
	case r.Exit() == verdict.ExitNotRun:
		return &failure{code: codeFailed, err: errors.New("nothing could be judged"), hint: "the report says why, row by row"}
	default:
		return nil
	}
}

// redactor knows the secrets that this run was given.
func (a *app) redactor() *redact.Redactor {
	header, err := a.flags.header()
	if err != nil {
		header = http.Header{} // it was refused before
	}
	token, _ := a.token() // likewise
	return redact.New(header, token)
}

// width is how many columns there are, or 0 if nobody knows.
func (a *app) width() int {
	f, ok := a.io.Out.(*os.File)
	if !ok {
		return 0
	}
	w, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return w
}

// writeFile writes a file, or leaves what was there.
func writeFile(name string, write func(io.Writer) error) error {
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	return os.WriteFile(name, text.Bytes(), 0o600)
}
