package mcp

import "slices"

// Revision is a released revision of the protocol. It is opaque: revisions
// have no order that code could branch on, only properties, and those are
// known to the parts of this module that speak a revision's wire. The zero
// Revision means "none" or "not decided".
type Revision struct{ date string }

// The released revisions.
var (
	Revision20241105 = Revision{"2024-11-05"}
	Revision20250326 = Revision{"2025-03-26"}
	Revision20250618 = Revision{"2025-06-18"}
	Revision20251125 = Revision{"2025-11-25"}
	Revision20260728 = Revision{"2026-07-28"}
)

var released = []Revision{Revision20241105, Revision20250326, Revision20250618, Revision20251125, Revision20260728}

// Revisions returns every revision this module speaks, oldest first.
func Revisions() []Revision { return slices.Clone(released) }

// ParseRevision returns the revision that the protocol names s, for example
// "2025-11-25". It reports false for any other text.
func ParseRevision(s string) (Revision, bool) {
	for _, r := range released {
		if r.date == s {
			return r, true
		}
	}
	return Revision{}, false
}

// String returns the revision's name in the protocol, or "" for none.
func (r Revision) String() string { return r.date }

// IsZero reports whether r is the zero Revision.
func (r Revision) IsZero() bool { return r.date == "" }

// MarshalText returns the revision's name.
func (r Revision) MarshalText() ([]byte, error) { return []byte(r.date), nil }
