package auth

import "github.com/parley-mcp/parley/internal/dpop"

// BoundProofsForTest makes a Guard remember no more than n proofs.
func BoundProofsForTest(g *Guard, n int) { g.proofs = dpop.NewVerifier(dpop.Options{MaxProofs: n}) }
