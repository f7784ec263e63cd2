package tasksuite_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/parley-mcp/parley/integrationtests/tasksuite"
	"github.com/parley-mcp/parley/server/taskstore"
)

// No goroutine outlives the tests.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTasksInMemory(t *testing.T) {
	tasksuite.Run(t, func(*testing.T) taskstore.Store { return taskstore.NewMemory() })
}
