package reference

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// The name is mirrored into a header. With it, a gateway could tell who may switch which tool
// without reading the body.
type featureArgs struct {
	Name    string `json:"name" description:"The tool to add or remove" enum:"roll_dice,make_id" header:"Feature"`
	Enabled bool   `json:"enabled" description:"Whether the tool should be there"`
}

// addFeatureSwitch adds a tool that changes the list of tools, which is the
// same for all clients.
func (r *reference) addFeatureSwitch() {
	server.AddTool(r.srv, mcp.Tool{
		Name:        "set_feature",
		Title:       "Switch a tool on or off",
		Description: "Adds or removes an optional tool of this server, for all of its clients, which are notified that the list of tools has changed.",
		Annotations: &mcp.ToolAnnotations{IdempotentHint: true, DestructiveHint: new(false), OpenWorldHint: new(false)},
	}, func(_ context.Context, _ *server.Call, in featureArgs) (string, error) {
		if !in.Enabled {
			r.srv.RemoveTools(in.Name)
			return fmt.Sprintf("The tool %q is off.", in.Name), nil
		}
		r.enable(in.Name)
		return fmt.Sprintf("The tool %q is on.", in.Name), nil
	})
}

func (r *reference) enable(name string) {
	switch name {
	case "roll_dice":
		server.AddTool(r.srv, mcp.Tool{
			Name:        name,
			Title:       "Roll dice",
			Description: "Rolls dice and returns what each shows, and the sum.",
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(false)},
		}, rollDice)
	case "make_id":
		server.AddTool(r.srv, mcp.Tool{
			Name:        name,
			Title:       "Random identifier",
			Description: "Returns an identifier of 128 random bits that nobody can guess, as 32 hexadecimal digits.",
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(false)},
		}, func(context.Context, *server.Call, struct{}) (string, error) { return newID(""), nil })
	}
}

type diceArgs struct {
	Count int `json:"count" description:"How many dice" default:"1" minimum:"1" maximum:"100"`
	Sides int `json:"sides" description:"How many sides each has" default:"6" minimum:"2" maximum:"1000"`
}

type rolled struct {
	Dice []int `json:"dice"`
	Sum  int   `json:"sum"`
}

func rollDice(_ context.Context, _ *server.Call, in diceArgs) (*rolled, error) {
	out := &rolled{Dice: make([]int, in.Count)}
	for i := range out.Dice {
		out.Dice[i] = 1 + rand.IntN(in.Sides) //nolint:gosec // a game
		out.Sum += out.Dice[i]
	}
	return out, nil
}
