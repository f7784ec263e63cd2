package audit

import "time"

// State is how a log is.
type State struct {
	Path     string
	Level    Level
	Required bool
	// Lines is how many were written since it was opened.
	Lines int
	// Err is why it cannot be written, since Since, and Missing how many lines were not; nil
	// if it can be.
	Err     error
	Since   time.Time
	Missing int
}

// State returns how the log is.
func (l *Log) State() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := State{Path: l.opts.Path, Level: l.opts.Level, Required: l.opts.Required, Lines: l.lines, Missing: l.missing}
	if l.failing != nil {
		s.Err, s.Since = l.failing, l.since
	}
	return s
}

// Ready returns why nothing may be done now: the log is required, and cannot be written.
func (l *Log) Ready() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opts.Required && l.resume() != nil {
		return refusal()
	}
	return nil
}

// Follow goes on with the file that is at the path, at once. Otherwise that takes a second:
// somebody may have moved the one before.
func (l *Log) Follow() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.out.follow(0); err != nil {
		l.tell(err)
	}
}

// resume sees whether the log can be written, and tries if it could not. The first line that
// can be written again says how many are missing.
func (l *Log) resume() error {
	if l.failing != nil {
		return l.try(&line{Time: time.Now().UTC(), Outcome: "resumed"})
	}
	err := l.out.follow(looking)
	l.tell(err)
	return err
}

// tell says once that the log cannot be written, and once that it can be again.
func (l *Log) tell(err error) {
	switch {
	case err != nil && l.failing == nil:
		l.since = time.Now()
		l.opts.Logger.Error("the audit log cannot be written", "file", l.opts.Path, "error", err, "refusing", l.opts.Required)
	case err == nil && l.failing != nil:
		l.opts.Logger.Warn("the audit log is written again", "file", l.opts.Path, "missing", l.missing)
	}
	l.failing = err
}
