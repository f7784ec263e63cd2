// Package observe holds no code of the program: it tests what an mcp.Tap sees.
// In every mode, each message is seen once by the side that sends it and once by
// the one that receives it; and for each reason for which a message can be
// dropped, there is a test that provokes it.
package observe
