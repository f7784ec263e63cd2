package child

import (
	"bufio"
	"errors"
	"strings"
	"testing"
)

func TestParseStatus(t *testing.T) {
	m, err := parseStatus([]byte("Name:\tx\nVmPeak:\t  99 kB\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n"))
	if err != nil || m.Peak != 2<<20 || m.Resident != 1<<20 {
		t.Errorf("parseStatus = %+v, %v", m, err)
	}
	if _, err := parseStatus([]byte("Name:\tx\n")); err == nil {
		t.Error("a status without memory is no error")
	}
}

func TestChild(t *testing.T) {
	c, err := Start("sh", "-c", "echo oops >&2; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo done; read line")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stop()
	if line, err := bufio.NewReader(c.Out).ReadString('\n'); line != "done\n" {
		t.Fatalf("read %q, %v", line, err)
	}
	if cpu, err := c.CPU(); err != nil || cpu <= 0 {
		t.Errorf("CPU = %v, %v", cpu, err)
	}
	if m, err := c.Memory(); err != nil || m.Resident <= 0 || m.Peak < m.Resident {
		t.Errorf("Memory = %+v, %v", m, err)
	}
	if err := c.Explain(errors.New("broken")); !strings.Contains(err.Error(), "oops") {
		t.Errorf("Explain does not quote the program: %v", err)
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	var tl tail
	_, _ = tl.Write([]byte(strings.Repeat("a", tailSize)))
	_, _ = tl.Write([]byte("end"))
	if s := tl.String(); len(s) != tailSize || !strings.HasSuffix(s, "aend") {
		t.Errorf("kept %d bytes, ending in %q", len(s), s[len(s)-4:])
	}
}
