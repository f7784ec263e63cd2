// Agent is a host: it lets a model use the tools of three servers, one that is a process,
// one at a URL, and one at which its user has to log in. One of them dies on the way.
//
//	go run ./examples/agent
//
// Everything around it is a stand-in, so that it runs anywhere: the model speaks
// Anthropic's Messages API, but from a script, and the user logs in by themselves. For a
// real model, set model to its URL and add the vendor's headers.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"os"
	"os/signal"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/client/host"
	"github.com/parley-mcp/parley/client/host/anthropic"
	"github.com/parley-mcp/parley/examples/agent/standin"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	serve := run
	if standin.IsServer() { // the agent starts this program as one of its servers, too
		serve = standin.ServeNotes
	}
	err := serve(ctx)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	world := standin.Start()
	defer world.Close(ctx)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	quiet := slog.New(slog.DiscardHandler) // what servers do wrong is in their states, too
	login, err := oauth.New(&oauth.Options{
		URL: world.Calendar, Logger: quiet,
		Grant:         &oauth.AuthorizationCode{Receiver: &oauth.Loopback{Open: world.Browse}},
		PreRegistered: map[string]oauth.Credentials{oauth.AnyIssuer: {ClientID: "agent"}},
	})
	if err != nil {
		return err
	}
	defer func() { _ = login.Close() }()

	h, err := host.Open(ctx, map[string]host.Server{
		"notes":    {Command: self, Env: standin.ServerEnv()},
		"weather":  {URL: world.Weather, TrustAnnotations: true},
		"calendar": {URL: world.Calendar, HTTP: &http.Client{Transport: login.Transport(nil)}},
	}, &host.Options{Approve: approve, Client: &client.Options{Logger: quiet}})
	if err != nil {
		return err
	}
	defer func() { _ = h.Close() }()
	if err := h.Ready(ctx); err != nil {
		log.Print(err) // the others can be used
	}

	a := &agent{host: h, model: world.Model}
	if err := a.ask(ctx, "What is on today?"); err != nil {
		return err
	}
	if err := h.Restart(ctx, "notes"); err != nil { // it would come back by itself, a little later
		return err
	}
	for _, s := range h.Servers() {
		fmt.Println(s.Server, "is", s.State)
	}
	return a.ask(ctx, "What do I have to buy?")
}

// approve decides about each call. An agent for people would ask them.
func approve(_ context.Context, r *host.Request) error {
	if r.Tool.Name == "delete" {
		return errors.New("notes must not be deleted")
	}
	return nil
}

// agent is a conversation between a user, a model and tools.
type agent struct {
	host     *host.Host
	model    string // its URL
	messages []anthropic.Message
}

func (a *agent) ask(ctx context.Context, question string) error {
	fmt.Println("user:", question)
	a.messages = append(a.messages, anthropic.User(question))
	for range 20 { // no question is worth more turns
		reply, err := a.complete(ctx)
		if err != nil {
			return err
		}
		a.messages = append(a.messages, reply)
		calls := reply.Calls()
		if len(calls) == 0 {
			fmt.Println("model:", reply.Text())
			return nil
		}
		answers := a.host.Answer(ctx, calls)
		for _, answer := range answers {
			fmt.Println("tool:", answer.Name, "failed:", answer.Result.IsError)
		}
		a.messages = append(a.messages, anthropic.Results(answers))
	}
	return errors.New("the model has found no answer")
}

// complete sends the conversation to the model, with the tools that there are now.
func (a *agent) complete(ctx context.Context) (reply anthropic.Message, err error) {
	tools, unfit := anthropic.Tools(a.host.Tools())
	for _, u := range unfit {
		log.Print(u.Tool.Name, " is left out: ", u.Reason)
	}
	body, err := json.Marshal(map[string]any{"model": "scripted", "max_tokens": 1024, "messages": a.messages, "tools": tools})
	if err != nil {
		return reply, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.model, bytes.NewReader(body))
	if err != nil {
		return reply, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return reply, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return reply, fmt.Errorf("the model says %s", resp.Status)
	}
	return reply, json.NewDecoder(resp.Body).Decode(&reply)
}
