// Package jsonptr escapes the names in JSON pointers, RFC 6901.
package jsonptr

import "strings"

var (
	escape   = strings.NewReplacer("~", "~0", "/", "~1")
	unescape = strings.NewReplacer("~1", "/", "~0", "~")
)

// Escape returns a name as it stands in a JSON pointer.
func Escape(name string) string { return escape.Replace(name) }

// Unescape returns the name that stands in a JSON pointer.
func Unescape(token string) string { return unescape.Replace(token) }
