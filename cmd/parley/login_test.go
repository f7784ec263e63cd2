package main

import (
	"bytes"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/cli"
)

// onTerminal runs the program as for a user at a terminal, with credentials
// kept in a folder.
func onTerminal(t *testing.T, credentials string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	own := map[string]string{"PARLEY_CREDENTIALS": credentials, "PARLEY_KEYRING": "off", "NO_COLOR": "1"}
	code = cli.Run(t.Context(), cli.IO{
		In: strings.NewReader(""), Out: &out, Err: &errs,
		LookupEnv: func(name string) (string, bool) {
			if v, ok := own[name]; ok {
				return v, true
			}
			return os.LookupEnv(name)
		},
		IsTerminal: func(any) bool { return true },
		Executable: os.Executable,
	}, args)
	return code, out.String(), errs.String()
}

// On a terminal, a command logs in when it is challenged, and asks for more
// scopes when those it has do not suffice, all within one run.
func TestLogsInWhenChallenged(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the browser is opened by another program there")
	}
	url, stop, err := startHTTP("--auth", "dev", "--user", "ann:secret")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for _, revision := range []string{"2025-03-26", "2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			credentials := t.TempDir() + "/credentials"
			code, out, errs := onTerminal(t, credentials, "call", "--revision", revision, url, "calculate", "expression=1+1")
			if code != 0 || out != "2\n" {
				t.Fatalf("exit code %d, output %q\n%s", code, out, errs)
			}
			if n := strings.Count(errs, "Log in with your browser"); n != 1 {
				t.Errorf("the user was asked %d times:\n%s", n, errs)
			}
			code, out, errs = onTerminal(t, credentials, "call", "--revision", revision, url, "create_basket")
			if code != 0 || !strings.Contains(out, "basket_id") {
				t.Fatalf("with too few rights: exit code %d, output %q\n%s", code, out, errs)
			}
			if n := strings.Count(errs, "Log in with your browser"); n != 1 {
				t.Errorf("for more rights, the user was asked %d times:\n%s", n, errs)
			}
			if _, out, errs = onTerminal(t, credentials, "call", "--revision", revision, url, "create_basket"); strings.Contains(errs, "Log in") {
				t.Errorf("the rights were forgotten: %q\n%s", out, errs)
			}
		})
	}
}

// A development server that was restarted has forgotten everything; a client
// that was logged in registers and logs in again.
func TestLogsInAfterRestart(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the browser is opened by another program there")
	}
	url, stop, err := startHTTP("--auth", "dev", "--user", "ann:secret")
	if err != nil {
		t.Fatal(err)
	}
	credentials := t.TempDir() + "/credentials"
	code, out, errs := onTerminal(t, credentials, "call", url, "calculate", "expression=1+1")
	stop()
	if code != 0 {
		t.Fatalf("exit code %d, output %q\n%s", code, out, errs)
	}
	address := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp")
	if _, stop, err = startHTTP("--auth", "dev", "--user", "ann:secret", "--http", address); err != nil {
		t.Fatal(err)
	}
	defer stop()
	code, out, errs = onTerminal(t, credentials, "call", url, "calculate", "expression=1+1", "--timeout", "20s")
	if n := strings.Count(errs, "Log in with your browser"); code != 0 || n != 1 {
		t.Errorf("exit code %d, output %q, the user was asked %d times\n%s", code, out, n, errs)
	}
}
