package audit

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/DeRuina/timberjack"
)

// output is where lines go.
type output interface {
	io.WriteCloser
	// follow sees that what is at the path is what is written to, unless that is younger
	// than lately.
	follow(lately time.Duration) error
}

// file is the file of a log. Others may move or remove it, as logrotate does: what is then
// written to it is lost, sooner or later.
type file struct {
	opts *Options
	out  *timberjack.Logger
	// held is what out writes to, until it begins another file by itself.
	held   os.FileInfo
	looked time.Time // when held was at the path
}

// looking is how long lines may go to a file that is not at the path any more.
const looking = time.Second

// Write implements io.Writer.
func (f *file) Write(line []byte) (int, error) {
	if err := f.follow(looking); err != nil {
		return 0, err
	}
	return f.out.Write(line)
}

// Close implements io.Closer.
func (f *file) Close() error { return f.out.Close() }

// follow implements output. A file that out has begun by itself is opened once more, too,
// which does no harm: out does not say when it has.
func (f *file) follow(lately time.Duration) error {
	if lately > 0 && time.Since(f.looked) < lately {
		return nil
	}
	f.looked = time.Time{} // if it fails, the next line looks again
	if now, err := os.Stat(f.opts.Path); err != nil || f.held == nil || !os.SameFile(now, f.held) {
		if err := f.reopen(); err != nil {
			return err
		}
	}
	f.looked = time.Now()
	return nil
}

// reopen goes on with the file that is at the path.
func (f *file) reopen() error {
	out, held, err := f.open()
	if err != nil {
		return err
	}
	before := f.out
	f.out, f.held = out, held
	if before == nil {
		return nil
	}
	if err := before.Close(); err != nil {
		f.opts.Logger.Error("the end of the audit log that was here before may be lost", "file", f.opts.Path, "error", err)
	}
	return nil
}

// open opens the path, and returns what file that is: one that is there before and after
// was there in between, too.
func (f *file) open() (*timberjack.Logger, os.FileInfo, error) {
	for range 3 {
		before, missing := os.Stat(f.opts.Path)
		out := f.writer()
		_, err := out.Write(nil) // opens it
		after, gone := os.Stat(f.opts.Path)
		if err == nil && missing == nil && gone == nil && os.SameFile(before, after) {
			return out, after, nil
		}
		_ = out.Close() // nothing was written
		if err != nil {
			return nil, nil, err
		}
	}
	return nil, nil, fmt.Errorf("%s is replaced again and again", f.opts.Path)
}

func (f *file) writer() *timberjack.Logger {
	o := f.opts
	return &timberjack.Logger{Filename: o.Path, MaxSize: o.MaxMiB, MaxBackups: o.KeepFiles, MaxAge: o.KeepDays, FileMode: 0o600}
}
