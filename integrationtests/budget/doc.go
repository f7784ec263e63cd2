// Package budget holds no code of the program: it is what a call may cost a
// server. In allocations and bytes, on a stream of lines (over HTTP that is
// measured in transport/streamable), and in function calls, from the transport
// to the user's handler.
package budget
