package main

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/stdio"
)

// wrapper starts a server as package runners do, and waits for it, whatever it is told.
func wrapper(file string) {
	signal.Ignore(syscall.SIGTERM)
	_ = os.WriteFile(file, []byte(strconv.Itoa(os.Getpid())), 0o600) // the test waits for it
	cmd := exec.Command("fixture", "pid", file+".child")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr //nolint:forbidigo // that of a server
	_ = cmd.Run()                                                      // it says on standard error what is wrong
}

// stubborn is a server that ends neither with its input nor when it is told to.
func stubborn(file string) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGPIPE)
	_ = os.WriteFile(file, []byte(strconv.Itoa(os.Getpid())), 0o600)                          // the test waits for it
	_ = stdio.Serve(context.Background(), full(), &mcp.ServeOptions{Logger: mcptest.Quiet()}) // it goes on in any case
	<-time.NewTimer(time.Hour).C
}
