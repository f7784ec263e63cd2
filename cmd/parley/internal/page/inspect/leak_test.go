package inspect

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain makes a server of this program if a test started it as one. No goroutine outlives
// the tests.
func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		serveTest()
		return
	}
	goleak.VerifyTestMain(m)
}
