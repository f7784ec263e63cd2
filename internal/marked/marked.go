// Package marked makes errors match a kind of error without changing what they say.
package marked

// As returns an error that says what err says, wraps it, and matches kind.
func As(kind, err error) error { return &marked{err, kind} }

type marked struct {
	error
	kind error
}

func (m *marked) Unwrap() error        { return m.error }
func (m *marked) Is(target error) bool { return target == m.kind }
