// Package model holds only tests: random clients drive a server through random
// interleavings of requests, batches, cancellations, questions, subscriptions,
// changes and disconnections, in every revision and over every transport:
// frames in memory, lines over pipes, Streamable HTTP in both eras, whose
// responses are cut and resumed, and HTTP+SSE. HTTP is net/http's, over
// connections in memory. Whatever the interleaving, these properties must hold:
//
//   - a request has exactly one response, its own; if it was cancelled, or its
//     client has gone, at most one
//   - messages that belong to a request arrive complete, in order, and before
//     its response
//   - no client or request sees anything of another
//   - changes are notified to those who asked for them, for as long as they ask
//   - when all clients have gone, gracefully or not, nothing is left: no
//     goroutine, no running handler, no session, no subscription
//
// Time is that of a testing/synctest bubble, so a run takes milliseconds and is
// reproducible. A program that breaks a property is shrunk and printed with
// everything that was sent on each connection. PARLEY_SOAK, a duration such as
// "5m", makes the test run for that long.
package model
