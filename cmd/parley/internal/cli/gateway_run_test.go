package cli

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/backend"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// A gateway is ready once one of its servers has been reached, and as long as one can be,
// as far as is known.
func TestReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		way := &mcptest.Transport{
			Handler: server.New(mcp.Implementation{Name: "s", Version: "1"}, &server.Options{Logger: mcptest.Quiet()}),
			Over:    mcptest.Lines, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()},
		}
		attempts := make(chan error)
		r := &runningGateway{gateway: gateway.New(gateway.Options{Info: mcp.Implementation{Name: "g", Version: "1"}, Logger: mcptest.Quiet()})}
		load := func(idle time.Duration) {
			t.Helper()
			err := r.gateway.Load(gateway.Setup{Servers: []gateway.Server{{
				Rules: naming.Rules{Backend: "s"},
				Backend: backend.Options{Idle: idle, Connect: func(ctx context.Context, _ *mcp.Peer, o *client.Options) (*client.Client, error) {
					if err := <-attempts; err != nil {
						return nil, err
					}
					return client.Connect(ctx, way, o)
				}},
			}}})
			if err != nil {
				t.Fatal(err)
			}
		}
		is := func(when string, ready bool) {
			t.Helper()
			synctest.Wait()
			if err := r.ready(); (err == nil) != ready {
				t.Errorf("%s: %v; it is %+v", when, err, r.gateway.State())
			}
		}
		is("without servers", true)
		load(time.Minute)
		is("before anybody has tried", true)
		looked := make(chan struct{})
		look := func() {
			go func() { // ends with the attempt
				r.gateway.Look(t.Context())
				looked <- struct{}{}
			}()
		}
		look()
		is("at the first attempt", false)
		attempts <- errors.New("no such program")
		<-looked
		is("when it has failed", false)
		<-time.NewTimer(time.Minute).C
		is("when it may be tried again", false)
		look()
		is("when it is tried again", false)
		attempts <- nil
		<-looked
		is("when it is up", true)
		<-time.NewTimer(2 * time.Minute).C
		synctest.Wait()
		if s := r.gateway.State()[0]; s.Status != backend.Idle {
			t.Errorf("when nobody has needed it, it is %+v", s)
		}
		is("when nobody needs it", true)
		_ = r.gateway.Close()
		way.Wait()
	})
}
