package store_test

import (
	"testing"

	"github.com/parley-mcp/parley/integrationtests/tasksuite"
	"github.com/parley-mcp/parley/server/taskstore"
)

// Tasks do with a file what they do with memory.
func TestTasksInAFile(t *testing.T) {
	tasksuite.Run(t, func(t *testing.T) taskstore.Store { return open(t, fresh(t)) })
}
