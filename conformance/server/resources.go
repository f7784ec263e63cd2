package main

import (
	"context"
	"encoding/json"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

func addResources(s *server.Server) {
	addFixed(s, "static-text", "A text that never changes.",
		mcp.TextResource("test://static-text", "text/plain", "This is the content of the static text resource."))
	addFixed(s, "static-binary", "A picture that never changes.",
		mcp.BlobResource("test://static-binary", "image/png", png()))
	addFixed(s, "watched-resource", "A text that can be watched.",
		mcp.TextResource("test://watched-resource", "text/plain", "Watched resource content."))
	server.AddTemplate(s, mcp.ResourceTemplate{
		URITemplate: "test://template/{id}/data",
		Name:        "template",
		Description: "Data for an identifier.",
		MIMEType:    "application/json",
	}, readTemplate)
}

// addFixed adds a resource whose contents never change.
func addFixed(s *server.Server, name, description string, contents *mcp.ResourceContents) {
	r := mcp.Resource{URI: contents.URI, Name: name, Description: description, MIMEType: contents.MIMEType}
	s.AddResource(r, func(context.Context, *server.Call, string) (*mcp.ReadResourceResult, error) {
		return server.Contents(contents), nil
	})
}

type templateVars struct {
	ID string `uri:"id"`
}

func readTemplate(_ context.Context, _ *server.Call, uri string, vars templateVars) (*mcp.ReadResourceResult, error) {
	data, err := json.Marshal(struct {
		ID   string `json:"id"`
		Test bool   `json:"templateTest"`
		Data string `json:"data"`
	}{vars.ID, true, "Data for ID: " + vars.ID})
	if err != nil {
		return nil, err
	}
	return server.Contents(mcp.TextResource(uri, "application/json", string(data))), nil
}
