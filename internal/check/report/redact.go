package report

import (
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/internal/redact"
)

// Redact takes secrets out of all that a report says, in place. Doing so twice does no
// harm.
func Redact(rep *verdict.Report, r *redact.Redactor) {
	for _, s := range []*string{&rep.Target, &rep.Name, &rep.Version, &rep.Partial} {
		*s = r.Text(*s)
	}
	for i := range rep.Notes {
		rep.Notes[i] = r.Text(rep.Notes[i])
	}
	for i := range rep.Runs {
		for j := range rep.Runs[i].Verdicts {
			redactVerdict(&rep.Runs[i].Verdicts[j], r)
		}
	}
}

func redactVerdict(v *verdict.Verdict, r *redact.Redactor) {
	v.Why, v.Mend = r.Text(v.Why), r.Text(v.Mend)
	for i := range v.Evidence {
		e := &v.Evidence[i]
		e.Head, e.Text, e.Pointer = r.Head(e.Head), r.Text(e.Text), r.Text(e.Pointer)
		if e.Cut > 0 {
			e.Text = r.End(e.Text)
		}
	}
}
