package gateway_test

import (
	"fmt"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
)

// fill makes tasks of a principal, with IDs that begin with its name.
func fill(o *gateway.Owners, principal string, tasks int) {
	for i := range tasks {
		o.Add(fmt.Sprint(principal, "-", i), principal)
	}
}

// Somebody who makes any number of tasks loses their own, and nobody else's.
func TestOwnersOfMany(t *testing.T) {
	var o gateway.Owners
	fill(&o, "ann", 3)
	fill(&o, "bob", 3*gateway.MaxOwners)
	for _, id := range []string{"ann-0", "ann-2", fmt.Sprint("bob-", 3*gateway.MaxOwners-gateway.MaxOwnedTasks), fmt.Sprint("bob-", 3*gateway.MaxOwners-1)} {
		if o.Admits(id, "eve") {
			t.Errorf("the task %s is anybody's", id)
		}
	}
	if !o.Admits("bob-0", "eve") || !o.Admits(fmt.Sprint("bob-", 3*gateway.MaxOwners-gateway.MaxOwnedTasks-1), "eve") {
		t.Error("more tasks are known of somebody than there should be")
	}
	if !o.Admits("ann-0", "ann") || o.Admits("ann-0", "bob") {
		t.Error("a task is not its owner's alone")
	}
}

// When all together have too many, whoever has most loses the oldest: what somebody else
// has few of stays.
func TestOwnersTogether(t *testing.T) {
	var o gateway.Owners
	fill(&o, "ann", 1)
	busy := gateway.MaxOwners/gateway.MaxOwnedTasks + 2
	for i := range busy {
		fill(&o, fmt.Sprintf("busy%02d", i), gateway.MaxOwnedTasks)
	}
	if o.Admits("ann-0", "eve") {
		t.Error("the task of somebody with one is forgotten")
	}
	known := 0
	for i := range busy {
		for n := range gateway.MaxOwnedTasks {
			if !o.Admits(fmt.Sprintf("busy%02d-%d", i, n), "eve") {
				known++
			}
		}
	}
	if known != gateway.MaxOwners-1 {
		t.Errorf("%d tasks are known besides, want %d", known, gateway.MaxOwners-1)
	}
	if !o.Admits("busy00-0", "eve") || o.Admits("busy00-9999", "eve") {
		t.Error("it is not the oldest that are forgotten")
	}
}

// A server that uses an ID again has the task of whoever has made the last.
func TestOwnersOfOneID(t *testing.T) {
	var o gateway.Owners
	o.Add("1", "ann")
	o.Add("1", "bob")
	if o.Admits("1", "ann") || !o.Admits("1", "bob") {
		t.Error("the task is not that of the last")
	}
	fill(&o, "ann", gateway.MaxOwnedTasks+1)
	if o.Admits("1", "ann") {
		t.Error("the task was still counted as that of the first")
	}
}
