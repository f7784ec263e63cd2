// Parley speaks the Model Context Protocol: it serves a reference server and
// talks to servers of any revision. See "parley --help".
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/parley-mcp/parley/cmd/parley/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(cli.Run(ctx, cli.IO{
		In:         os.Stdin,
		Out:        os.Stdout,
		Err:        os.Stderr,
		LookupEnv:  os.LookupEnv,
		IsTerminal: isTerminal,
		Executable: os.Executable,
	}, os.Args[1:]))
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
