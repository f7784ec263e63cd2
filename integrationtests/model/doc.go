// Package model holds no code of the program: it is a test in which random
// clients drive a server through random interleavings of requests, batches,
// cancellations, questions, subscriptions, changes and disconnections, in
// every revision and over every transport: frames in memory, lines over pipes,
// Streamable HTTP in both eras, whose responses are cut and resumed, and
// HTTP+SSE. HTTP is that of net/http, over connections in memory. Whatever the
// interleaving, these things must be true:
//
//   - a request has one answer, its own; one that was cancelled, or whose
//     client has gone, has at most one
//   - what belongs to a request comes whole, in order, and before its answer
//   - nothing of one request or client is seen by another
//   - changes are told to those who asked, as long as they do
//   - when all clients have gone, with or without a word, nothing is left: no
//     goroutine, no handler that runs, no session, no subscription
//
// Time is that of a testing/synctest bubble, so a run is a matter of
// milliseconds and can be repeated. A program that breaks a rule is shrunk, and
// printed with what was said on each connection. PARLEY_SOAK, a duration such
// as "5m", makes it go on for so long.
package model
