// Package spec holds no code of the program: it goes through the pages of the
// specification, rule by rule, with clients and servers over the public API
// and with peers that say exactly what a test says.
package spec
