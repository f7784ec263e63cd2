package main

import (
	"context"
	"errors"
	"strings"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// notes are what the server offers: tools that change notes, and the notes as
// resources.
type notes struct {
	store *store
	srv   *server.Server
}

// newServer returns a server of all notes of a store.
func newServer(ctx context.Context, s *store) (*server.Server, error) {
	n := notes{store: s, srv: server.New(mcp.Implementation{Name: "notes", Version: "1.0.0"}, &server.Options{
		Instructions:  "Notes of the user. Find them by find_notes, read them as resources, and keep what is to be remembered by add_note.",
		Subscriptions: true,
		ToolError:     toolError,
	})}
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(false)}
	adds := &mcp.ToolAnnotations{DestructiveHint: new(false), OpenWorldHint: new(false)}
	destroys := &mcp.ToolAnnotations{DestructiveHint: new(true), IdempotentHint: true, OpenWorldHint: new(false)}
	server.AddTool(n.srv, mcp.Tool{Name: "find_notes", Description: "Finds notes by words in them", Annotations: reads}, n.find)
	server.AddTool(n.srv, mcp.Tool{Name: "add_note", Description: "Adds a note", Annotations: adds}, n.add)
	server.AddTool(n.srv, mcp.Tool{Name: "edit_note", Description: "Replaces the text of a note", Annotations: destroys}, n.edit)
	server.AddTool(n.srv, mcp.Tool{Name: "delete_note", Description: "Deletes a note", Annotations: destroys}, n.remove)
	server.AddPrompt(n.srv, mcp.Prompt{Name: "sum_up", Description: "Sums up notes"}, n.sumUp)
	n.srv.CompletePrompt("sum_up", "words", n.titles)
	all, err := s.find(ctx, "")
	for _, one := range all {
		n.list(one)
	}
	return n.srv, err
}

// toolError keeps what went wrong in the database from the model.
func toolError(_ context.Context, _ *mcp.Exchange, err error) string {
	if errors.Is(err, errNoNote) {
		return err.Error()
	}
	return "the notes cannot be reached at the moment"
}

// list makes a note a resource. Clients are told that there is one more.
func (n *notes) list(one note) {
	n.srv.AddResource(mcp.Resource{URI: one.uri(), Name: one.Title, MIMEType: "text/plain"},
		func(ctx context.Context, _ *server.Call, uri string) (*mcp.ReadResourceResult, error) {
			now, err := n.store.one(ctx, `SELECT id, title, text FROM notes WHERE id = ?`, one.ID)
			if errors.Is(err, errNoNote) {
				err = mcp.ErrResourceNotFound
			}
			return server.Contents(mcp.TextResource(uri, "text/plain", now.Text)), err
		})
}

type search struct {
	Words string `json:"words,omitempty" description:"what the notes contain; nothing finds all"`
}

type found struct {
	Notes []note `json:"notes"`
}

func (n *notes) find(ctx context.Context, _ *server.Call, in search) (found, error) {
	all, err := n.store.find(ctx, in.Words)
	return found{all}, err
}

func (n *notes) add(ctx context.Context, call *server.Call, in struct {
	Title string `json:"title" minLength:"1" maxLength:"100"`
	Text  string `json:"text" maxLength:"100000"`
},
) (note, error) {
	added, err := n.store.one(ctx, `INSERT INTO notes (title, text) VALUES (?, ?) RETURNING id, title, text`, in.Title, in.Text)
	if err == nil {
		n.list(added)
		call.AddContent(&mcp.ResourceLink{URI: added.uri(), Name: added.Title})
	}
	return added, err
}

func (n *notes) edit(ctx context.Context, _ *server.Call, in struct {
	ID   int64  `json:"id"`
	Text string `json:"text" maxLength:"100000"`
},
) (note, error) {
	edited, err := n.store.one(ctx, `UPDATE notes SET text = ? WHERE id = ? RETURNING id, title, text`, in.Text, in.ID)
	if err == nil {
		n.srv.ResourceUpdated(edited.uri())
	}
	return edited, err
}

func (n *notes) remove(ctx context.Context, _ *server.Call, in struct {
	ID int64 `json:"id"`
},
) (note, error) {
	removed, err := n.store.one(ctx, `DELETE FROM notes WHERE id = ? RETURNING id, title, text`, in.ID)
	if err == nil {
		n.srv.RemoveResources(removed.uri())
	}
	return removed, err
}

// sumUp is a prompt that brings the notes along.
func (n *notes) sumUp(ctx context.Context, _ *server.Call, in search) (*mcp.GetPromptResult, error) {
	all, err := n.store.find(ctx, in.Words)
	messages := []*mcp.PromptMessage{mcp.UserMessage(mcp.Text("Sum up these notes of mine in three sentences."))}
	for _, one := range all {
		messages = append(messages, mcp.UserMessage(&mcp.EmbeddedResource{Resource: mcp.TextResource(one.uri(), "text/plain", one.Text)}))
	}
	return &mcp.GetPromptResult{Messages: messages}, err
}

// titles completes what to search for by the titles that begin so.
func (n *notes) titles(ctx context.Context, _ *server.Call, c server.Completing) (mcp.Completion, error) {
	all, err := n.store.find(ctx, c.Prefix)
	var titles []string
	for _, one := range all {
		if strings.HasPrefix(strings.ToLower(one.Title), strings.ToLower(c.Prefix)) {
			titles = append(titles, one.Title)
		}
	}
	return mcp.Completion{Values: titles}, err
}
