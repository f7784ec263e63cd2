// Package driver is what the client programs of the comparison have in common:
// they connect, and then make as many calls as each line of standard input
// says, so that the generator can measure what these calls cost.
package driver

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"reflect"
	"strconv"

	"github.com/parley-mcp/parley/bench/payload"
)

// Config says what to connect to.
type Config struct {
	// URL is the server's; "" means a server in this process.
	URL string
	Era payload.Era
}

// Call calls the tool "echo".
type Call func(ctx context.Context, args payload.Echo) (payload.Echo, error)

// Main runs the program. connect returns the function that makes a call.
func Main(connect func(context.Context, Config) (Call, error)) {
	var c Config
	flag.StringVar(&c.URL, "url", "", "URL of the server; empty for one in this process")
	flag.StringVar((*string)(&c.Era), "era", string(payload.Stateless), "the era to speak: stateless or session")
	flag.Parse()
	ctx := context.Background()
	call, err := connect(ctx, c)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Fprintln(os.Stdout, "ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		n, err := strconv.Atoi(in.Text())
		if err == nil {
			err = repeat(ctx, call, n)
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Fprintln(os.Stdout, "done")
	}
}

func repeat(ctx context.Context, call Call, n int) error {
	args := payload.Small()
	for range n {
		got, err := call(ctx, args)
		if err != nil {
			return err
		}
		if !reflect.DeepEqual(got, args) {
			return fmt.Errorf("the answer is %+v, not %+v", got, args)
		}
	}
	return nil
}
