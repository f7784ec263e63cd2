// Package budget holds only tests: they bound what a call may cost a server, in
// allocations and bytes on a stream of lines (for HTTP, transport/streamable
// measures that), and in function calls from the transport to the user's
// handler.
package budget
