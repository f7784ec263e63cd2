// Package nextrevision holds a test that a revision to come is spoken by its
// rows in the tables alone. It has a package of its own because the made-up
// revision is known to the whole process.
package nextrevision
