// Package soak holds only tests: they keep a server and its clients busy while
// everything around them breaks. Connections are cut at random, readers are
// slow or do not read at all, requests stay half-sent, child processes are
// killed, the event store is full at times, and lists change all the time. What
// must hold:
//
//   - a call that returns has received everything that belongs to it, once and in
//     order, even if its stream was cut and resumed
//   - a call that fails has received a prefix of that, and nothing twice
//   - afterwards, memory and goroutines are back to what they were
//
// All transports take part. PARLEY_SOAK says for how long, such as "5m"; "make
// soak" sets it. Without it, the test takes a second, or as long as it takes
// until everything has happened once. What happens when a clock jumps is tested
// separately, in the time of a testing/synctest bubble.
package soak
