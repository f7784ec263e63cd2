// Package spec holds only tests: they go through the pages of the
// specification, rule by rule, with clients and servers over the public API and
// with peers that send exactly what a test says.
package spec
