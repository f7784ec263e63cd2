package main

import (
	"context"
	"encoding/base64"
	"log/slog"
	"time"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// newFixture returns the server that the suite tests. Its features have the
// names, arguments and answers that the scenarios of the suite expect; features
// that only one of the two eras can test are there in both.
func newFixture(logger *slog.Logger) *server.Server {
	s := server.New(mcp.Implementation{Name: "parley-conformance", Version: "1.0.0"}, &server.Options{
		Instructions:  "A server for the official conformance suite.",
		Logger:        logger,
		Logging:       true,
		Subscriptions: true,
		Cache: map[string]server.CacheHint{
			mcp.MethodDiscover:      {TTL: time.Minute, Scope: mcp.CachePublic},
			mcp.MethodListTemplates: {TTL: time.Minute, Scope: mcp.CachePublic},
			mcp.MethodReadResource:  {TTL: time.Second, Scope: mcp.CachePrivate},
		},
		// The suite counts three notifications of a call that takes less than
		// the default interval.
		ProgressInterval: -1,
	})
	addContent(s)
	addReports(s)
	addQuestions(s)
	addRounds(s)
	addSwitches(s)
	addTasks(s)
	addSkills(s)
	addResources(s)
	addPrompts(s)
	return s
}

// addTool adds a tool without arguments.
func addTool[Out any](s *server.Server, name, description string, h func(ctx context.Context, call *server.Call) (Out, error)) {
	server.AddTool(s, mcp.Tool{Name: name, Description: description},
		func(ctx context.Context, call *server.Call, _ struct{}) (Out, error) { return h(ctx, call) })
}

// pause waits, unless the call is cancelled meanwhile.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// png is a picture of one pixel.
func png() []byte {
	return decoded("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==")
}

// wav is a sound of zero length.
func wav() []byte { return decoded("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=") }

func decoded(constant string) []byte {
	data, err := base64.StdEncoding.DecodeString(constant)
	if err != nil {
		panic(err)
	}
	return data
}
