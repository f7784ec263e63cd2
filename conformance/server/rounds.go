package main

import (
	"context"
	"fmt"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

type nameForm struct {
	Name string `json:"name" description:"Your name"`
}

type okForm struct {
	OK bool `json:"ok" description:"Whether to go on"`
}

type colorForm struct {
	Color string `json:"color" description:"Your favorite color"`
}

// addRounds adds the tools with which the suite tests calls that take several
// rounds. The SDK sends the state, and refuses one that was changed.
//
// Spec: 2026-07-28 basic/patterns/mrtr.
func addRounds(s *server.Server) {
	addTool(s, "test_input_required_result_elicitation", "Asks for a name.", greet)
	addTool(s, "test_input_required_result_sampling", "Asks the client's model.",
		func(ctx context.Context, call *server.Call) (string, error) {
			return server.SampleText(ctx, call, "capital_question", "What is the capital of France?", 100)
		})
	addTool(s, "test_input_required_result_list_roots", "Asks for the client's roots.",
		func(ctx context.Context, call *server.Call) (string, error) {
			roots, err := server.Roots(ctx, call)
			return fmt.Sprintf("There are %d roots.", len(roots)), err
		})
	addTool(s, "test_input_required_result_request_state", "Asks, and needs its state back.", confirm)
	addTool(s, "test_input_required_result_tampered_state", "Asks, and must get its state back unchanged.", confirm)
	addTool(s, "test_input_required_result_multiple_inputs", "Asks for everything at once.", askAtOnce)
	addTool(s, "test_input_required_result_multi_round", "Asks twice, one after the other.", askTwice)
	addTool(s, "test_input_required_result_capabilities", "Asks for what the client has declared.", askDeclared)
}

func greet(ctx context.Context, call *server.Call) (string, error) {
	user, err := server.Elicit[nameForm](ctx, call, "user_name", "What is your name?")
	return "Hello, " + user.Name + "!", err
}

func confirm(ctx context.Context, call *server.Call) (string, error) {
	answer, err := server.Elicit[okForm](ctx, call, "confirm", "Please confirm.")
	return fmt.Sprintf("state-ok (%t)", answer.OK), err
}

func askAtOnce(ctx context.Context, call *server.Call) (string, error) {
	answers, err := call.Ask(ctx,
		server.Form[nameForm]("user_name", "What is your name?"), greeting(), server.RootsQuestion())
	if err != nil {
		return "", err
	}
	user, err := server.Answer[nameForm](answers, "user_name")
	if err != nil {
		return "", err
	}
	said, err := server.Answer[*mcp.CreateMessageResult](answers, "greeting")
	if err != nil {
		return "", err
	}
	roots, err := server.Answer[[]*mcp.Root](answers, server.RootsKey)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s, %s: there are %d roots.", said.Text(), user.Name, len(roots)), nil
}

func greeting() server.Question {
	return server.SampleQuestion("greeting", &mcp.CreateMessageParams{
		Messages:  []*mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.OneOrMany{mcp.Text("Say hello.")}}},
		MaxTokens: 50,
	})
}

func askTwice(ctx context.Context, call *server.Call) (string, error) {
	user, err := server.Elicit[nameForm](ctx, call, "step1", "Step 1: What is your name?")
	if err != nil {
		return "", err
	}
	favorite, err := server.Elicit[colorForm](ctx, call, "step2", "Step 2: What is your favorite color?")
	if err != nil {
		return "", err
	}
	return user.Name + " likes " + favorite.Color + ".", nil
}

func askDeclared(ctx context.Context, call *server.Call) (string, error) {
	declared := call.Peer().Capabilities
	var questions []server.Question
	if declared.Elicitation.Forms() {
		questions = append(questions, server.Form[nameForm]("user_name", "What is your name?"))
	}
	if declared.Sampling != nil {
		questions = append(questions, greeting())
	}
	if _, err := call.Ask(ctx, questions...); err != nil {
		return "", err
	}
	return fmt.Sprintf("All %d questions were answered.", len(questions)), nil
}
