package main

import (
	"context"
	"fmt"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

type twoArgs struct {
	Arg1 string `json:"arg1" description:"The first argument"`
	Arg2 string `json:"arg2" description:"The second argument"`
}

type resourceArgs struct {
	ResourceURI string `json:"resourceUri" description:"The URI of the resource to embed"`
}

type contextForm struct {
	Context string `json:"context" description:"What the prompt is for"`
}

func addPrompts(s *server.Server) {
	addFixedPrompt(s, "test_simple_prompt", "A prompt without arguments.", mcp.Text("This is a simple prompt for testing."))
	server.AddPrompt(s, mcp.Prompt{Name: "test_prompt_with_arguments", Description: "A prompt with two arguments."},
		func(_ context.Context, _ *server.Call, args twoArgs) (*mcp.GetPromptResult, error) {
			return messages(mcp.Textf("Prompt with arguments: arg1='%s', arg2='%s'", args.Arg1, args.Arg2)), nil
		})
	s.CompletePrompt("test_prompt_with_arguments", "arg1", server.CompleteFrom("testValue1", "testValue2"))
	server.AddPrompt(s, mcp.Prompt{Name: "test_prompt_with_embedded_resource", Description: "A prompt that holds a resource."},
		func(_ context.Context, _ *server.Call, args resourceArgs) (*mcp.GetPromptResult, error) {
			return messages(embedded(args.ResourceURI, "text/plain", "Embedded resource content for testing."),
				mcp.Text("Please process the embedded resource above.")), nil
		})
	addFixedPrompt(s, "test_prompt_with_image", "A prompt that holds a picture.",
		picture(), mcp.Text("Please analyze the image above."))
	server.AddPrompt(s, mcp.Prompt{Name: "test_input_required_result_prompt", Description: "A prompt that asks what it is for."}, promptFor)
}

// addFixedPrompt adds a prompt that is always the same.
func addFixedPrompt(s *server.Server, name, description string, blocks ...mcp.Content) {
	server.AddPrompt(s, mcp.Prompt{Name: name, Description: description},
		func(context.Context, *server.Call, struct{}) (*mcp.GetPromptResult, error) {
			return messages(blocks...), nil
		})
}

func messages(blocks ...mcp.Content) *mcp.GetPromptResult {
	r := &mcp.GetPromptResult{}
	for _, b := range blocks {
		r.Messages = append(r.Messages, mcp.UserMessage(b))
	}
	return r
}

func promptFor(ctx context.Context, call *server.Call, _ struct{}) (*mcp.GetPromptResult, error) {
	user, err := server.Elicit[contextForm](ctx, call, "user_context", "What context should the prompt use?")
	if err != nil {
		return nil, err
	}
	return messages(mcp.Text(fmt.Sprintf("Use this context: %s", user.Context))), nil
}
