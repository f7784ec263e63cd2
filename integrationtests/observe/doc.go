// Package observe holds only tests, of what an mcp.Tap sees. In every mode, each
// message is seen once by the sending side and once by the receiving side; and
// for each reason for which a message can be dropped, a test provokes the drop.
package observe
