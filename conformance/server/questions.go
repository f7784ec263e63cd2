package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

type samplingArgs struct {
	Prompt string `json:"prompt" description:"What to ask the model"`
}

type elicitationArgs struct {
	Message string `json:"message" description:"What to ask the user"`
}

type userForm struct {
	Username string `json:"username" description:"The name of the user"`
	Email    string `json:"email" description:"The address of the user" format:"email"`
}

// defaultsForm has a field of each primitive type, with a default.
type defaultsForm struct {
	Name     string  `json:"name" description:"Name" default:"John Doe"`
	Age      int     `json:"age" description:"Age" default:"30"`
	Score    float64 `json:"score" description:"Score" default:"95.5"`
	Status   string  `json:"status" description:"Status" enum:"active,inactive,pending" default:"active"`
	Verified bool    `json:"verified" description:"Whether the user was verified" default:"true"`
}

// addQuestions adds the tools with which the suite tests the questions of
// servers in a session. They also work without one.
func addQuestions(s *server.Server) {
	server.AddTool(s, mcp.Tool{Name: "test_sampling", Description: "Asks the client's model."},
		func(ctx context.Context, call *server.Call, in samplingArgs) (string, error) {
			reply, err := server.SampleText(ctx, call, "reply", in.Prompt, 100)
			return "LLM response: " + reply, err
		})
	server.AddTool(s, mcp.Tool{Name: "test_elicitation", Description: "Asks the user who they are."},
		func(ctx context.Context, call *server.Call, in elicitationArgs) (string, error) {
			user, err := server.Elicit[userForm](ctx, call, "user", in.Message)
			return fmt.Sprintf("User response: %+v", user), err
		})
	addForm[defaultsForm](s, "test_elicitation_sep1034_defaults", "Asks with a form that has defaults.", "profile", "Please check these details.")
	addTool(s, "test_elicitation_sep1330_enums", "Asks with a form that has every kind of choice.", chooseAll)
	addForm[userForm](s, "test_streaming_elicitation", "Asks the user something where no request may be sent to the client.", "user", "Who are you?")
	addTool(s, "test_missing_capability", "Asks the client's model, which the client may not have declared.",
		func(ctx context.Context, call *server.Call) (string, error) {
			return server.SampleText(ctx, call, "reply", "Say something.", 100)
		})
}

// addForm adds a tool that has one form filled in.
func addForm[T any](s *server.Server, name, description, key, message string) {
	addTool(s, name, description, func(ctx context.Context, call *server.Call) (string, error) {
		filled, err := server.Elicit[T](ctx, call, key, message)
		return fmt.Sprintf("The form was filled in: %+v", filled), err
	})
}

// choices has every shape of an enumeration. server.Elicit has no tag for the
// form of legacyEnum, which is deprecated.
const choices = `{
	"type": "object",
	"properties": {
		"untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
		"titledSingle": {
			"type": "string",
			"oneOf": [
				{"const": "value1", "title": "First Option"},
				{"const": "value2", "title": "Second Option"},
				{"const": "value3", "title": "Third Option"}
			]
		},
		"legacyEnum": {
			"type": "string",
			"enum": ["opt1", "opt2", "opt3"],
			"enumNames": ["Option One", "Option Two", "Option Three"]
		},
		"untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
		"titledMulti": {
			"type": "array",
			"items": {
				"anyOf": [
					{"const": "value1", "title": "First Choice"},
					{"const": "value2", "title": "Second Choice"},
					{"const": "value3", "title": "Third Choice"}
				]
			}
		}
	}
}`

// chooseAll asks with a form that is written by hand.
func chooseAll(ctx context.Context, call *server.Call) (string, error) {
	answers, err := call.Exchange().Back.Input(ctx, mcp.InputRequest{
		Key:    "choices",
		Method: mcp.MethodElicit,
		Params: &mcp.ElicitParams{Mode: mcp.ElicitForm, Message: "Please choose.", RequestedSchema: json.RawMessage(choices)},
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("The choices are: %s", answers), nil
}
