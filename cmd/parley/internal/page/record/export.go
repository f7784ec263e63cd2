package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
)

// JSONLines writes the frames that a filter wants, each as one line of JSON: a Detail.
func (r *Recorder) JSONLines(ctx context.Context, w io.Writer, f Filter, l Lens) error {
	return r.eachFrame(ctx, f, func(frame *Frame) error {
		return writeLine(w, l.Detail(frame))
	})
}

// writeLine writes JSON in one line; what is raw in it may have had several.
func writeLine(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// eachFrame calls do with the frames that a filter wants, in order. Those that are
// dropped to make room meanwhile are left out.
func (r *Recorder) eachFrame(ctx context.Context, f Filter, do func(*Frame) error) error {
	runs, _, err := r.Find(ctx, f)
	if err != nil {
		return err
	}
	for _, run := range runs {
		for n := run[0]; n <= run[1]; n++ {
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			frame, err := r.Frame(n)
			if errors.Is(err, ErrGone) {
				continue
			}
			if err != nil {
				return err
			}
			if err := do(frame); err != nil {
				return err
			}
		}
	}
	return nil
}
