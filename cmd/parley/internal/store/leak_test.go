package store_test

import (
	"testing"

	"go.uber.org/goleak"
)

// No goroutine outlives the tests. The process is also the one that the crash tests
// kill.
func TestMain(m *testing.M) {
	child()
	goleak.VerifyTestMain(m)
}
