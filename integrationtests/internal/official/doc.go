// Package official checks wire traffic against the JSON schemas that are
// published with each revision of the Model Context Protocol.
//
// It exists for tests. The schemas are not part of this repository, so they
// are read at run time from a directory that [Find] locates; a test that finds
// none should skip. [Open] compiles one revision, [Schema.Check] validates a
// single value, and a [Recorder] validates a whole conversation frame by frame.
//
// The published schemas leave every object open, so a member that a later
// revision introduced passes validation against an earlier one.
// [Schema.Unknown] closes that gap: it lists the members that the definitions
// of a revision do not mention, and a Recorder treats those as errors.
package official
