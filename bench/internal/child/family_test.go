package child

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"testing"
)

func TestParseStat(t *testing.T) {
	pid, parent, err := parseStat([]byte("42 (a) b) (c) S 7 42 42 0 -1"))
	if err != nil || pid != 42 || parent != 7 {
		t.Errorf("parseStat = %d, %d, %v; want 42 and 7", pid, parent, err)
	}
	for _, bad := range []string{"", "42 (a", "42 (a) S", "x (a) S 7"} {
		if _, _, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("%q is no error", bad)
		}
	}
}

// start starts a shell whose child waits, and returns when it does.
func start(t *testing.T) *Child {
	t.Helper()
	c, err := Start("sh", "-c", "(echo ready; exec sleep 60); true")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Stop)
	if line, err := bufio.NewReader(c.Out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("read %q, %v", line, err)
	}
	return c
}

func TestFamilyHasChildren(t *testing.T) {
	c := start(t)
	f := c.Family("")
	defer f.Kill()
	members, err := f.members()
	if err != nil || len(members) != 2 || members[0] != c.cmd.Process.Pid {
		t.Fatalf("members = %d, %v; want the program and its child", members, err)
	}
	alone, err := c.Memory()
	if err != nil {
		t.Fatal(err)
	}
	if all, err := f.Memory(); err != nil || all.Resident <= alone.Resident {
		t.Errorf("the family holds %d bytes, %v; the program alone %d", all.Resident, err, alone.Resident)
	}
	if cpu, err := f.CPU(); err != nil || cpu <= 0 {
		t.Errorf("CPU = %v, %v", cpu, err)
	}
}

func TestFamilyWithoutOneProgram(t *testing.T) {
	c := start(t)
	defer c.Family("").Kill()
	all, err := c.Family("").members()
	if err != nil || len(all) != 2 {
		t.Fatalf("members = %d, %v", all, err)
	}
	child := all[1]
	file, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", child))
	if err != nil {
		t.Fatal(err)
	}
	// Both may be one file, as of a busybox: then nothing is left.
	if some, err := c.Family(file).members(); err != nil || slices.Contains(some, child) {
		t.Errorf("members = %d, %v; the child %d, which is %s, counts", some, err, child, file)
	}
}

func TestKillEndsChildren(t *testing.T) {
	c := start(t)
	c.Family("").Kill()
	c.Stop()
	if members, _ := c.Family("").members(); len(members) > 1 {
		t.Errorf("there are still %d", members)
	}
	if !c.Ended() {
		t.Error("a program that was killed has not ended")
	}
}
