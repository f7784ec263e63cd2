// Package soak holds no code of the program: it is a test that keeps a server
// and its clients busy while everything around them breaks. Connections are cut
// at random, readers are slow or do not read at all, requests stay half-sent,
// child processes are killed, the store of events is full for a while, lists
// change all the time. What must be true:
//
//   - a call that returns has all that belongs to it, once and in order, also
//     when its stream was cut and resumed
//   - a call that fails has a prefix of that, and nothing twice
//   - afterwards memory and goroutines are what they were
//
// All transports take part. PARLEY_SOAK says for how long, such as "5m"; "make
// soak" sets it. Without it a second has to do, or as long as it takes until
// everything has happened once. What happens when a clock jumps is tested beside
// it, in the time of a testing/synctest bubble.
package soak
