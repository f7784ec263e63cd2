// Package nextrevision tests that a future revision works through its rows in
// the tables alone. It is a package of its own because the made-up revision is
// known to the whole process.
package nextrevision
