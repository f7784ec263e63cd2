// Parley speaks the Model Context Protocol: it serves a reference server and
// talks to servers of any revision. See "parley --help".
package main

import (
	"os"

	"golang.org/x/term"

	"github.com/parley-mcp/parley/cmd/parley/internal/cli"
)

func main() {
	var i interrupts
	os.Exit(cli.Run(i.watch(), cli.IO{
		In:             os.Stdin,
		Out:            os.Stdout,
		Err:            os.Stderr,
		LookupEnv:      os.LookupEnv,
		IsTerminal:     isTerminal,
		Executable:     os.Executable,
		CatchInterrupt: i.catch,
		CatchHangup:    catchHangup,
	}, os.Args[1:]))
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
