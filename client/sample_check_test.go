package client_test

import (
	"strings"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
)

func TestCheckSample(t *testing.T) {
	said := mcp.OneOrMany{mcp.Text("x")}
	for want, r := range map[string]*mcp.CreateMessageResult{
		"":             {Role: mcp.RoleAssistant, Content: said},
		"no content":   {Role: mcp.RoleAssistant},
		"the role":     {Role: "robot", Content: said},
		"content[0]":   {Content: mcp.OneOrMany{&mcp.ResourceLink{URI: "a://b", Name: "b"}}},
		"not possible": {Content: mcp.OneOrMany{&mcp.EmbeddedResource{}}},
	} {
		err := client.CheckSample(r)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}
