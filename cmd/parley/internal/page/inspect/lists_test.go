package inspect

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// saidList is a list as the API shows it.
type saidList struct {
	Items []struct{ Name string }
	Error *web.Error
}

// A list is kept, is fetched again when the server says that it has changed, and stays
// when it cannot be fetched.
func TestLists(t *testing.T) {
	for _, revision := range bothEnds {
		t.Run(revision, func(t *testing.T) {
			s, base, srv := withCalls(t, revision)
			tools := must[saidList](s, "GET", base+"/lists/tools", nil)
			if len(tools.Items) != 4 || tools.Error != nil {
				t.Fatalf("the tools are %+v", tools)
			}
			if prompts := must[saidList](s, "GET", base+"/lists/prompts", nil); len(prompts.Items) != 0 || prompts.Error != nil {
				t.Errorf("a server without prompts has %+v", prompts)
			}
			server.AddTool(srv, mcp.Tool{Name: "new"}, func(context.Context, *server.Call, struct{}) (string, error) { return "", nil })
			if tools = must[saidList](s, "GET", base+"/lists/tools?fresh=1", nil); len(tools.Items) != 5 {
				t.Errorf("after one was added there are %d tools", len(tools.Items))
			}
			must[json.RawMessage](s, "POST", base+"/disconnect", nil)
			tools = must[saidList](s, "GET", base+"/lists/tools?fresh=1", nil)
			if len(tools.Items) != 5 || tools.Error == nil {
				t.Errorf("without a connection the tools are %+v, want the last ones and an error", tools)
			}
			if e := s.refused("GET", base+"/lists/nonsense", nil); e.Code != "no_list" {
				t.Errorf("an unknown list: %+v", e)
			}
		})
	}
}
