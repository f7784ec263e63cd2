package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/policy"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/who"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// policyCase is a question to policies as people write it.
type policyCase struct {
	Name        string               `json:"name"`
	Principal   string               `json:"principal"`
	Claims      json.RawMessage      `json:"claims"`
	Scopes      []string             `json:"scopes"`
	View        string               `json:"view"`
	Method      string               `json:"method"`
	Backend     string               `json:"backend"`
	Tool        string               `json:"tool"`
	Prompt      string               `json:"prompt"`
	Resource    string               `json:"resource"`
	Annotations *mcp.ToolAnnotations `json:"annotations"`
	Arguments   json.RawMessage      `json:"arguments"`
	// Expect is "allow", "approval" for what is allowed if a human approves it, or "deny".
	Expect string `json:"expect"`
}

// question asks what the case says of a gateway.
func (p *policyCase) question(c *config.Config) (*policy.Question, error) {
	q := &policy.Question{Peer: p.peer(c), View: p.View, Backend: p.Backend, Annotations: p.Annotations, Arguments: p.Arguments}
	if err := p.subject(q); err != nil {
		return nil, err
	}
	b, err := find(c, q)
	if err != nil {
		return nil, err
	}
	if q.Kind == mcp.ToolFeature {
		q.Annotations = overridden(b, q.Name, q.Annotations)
	}
	if q.Kind != 0 {
		q.Shown = b.Shown(q.Kind, q.Name)
	}
	return q, nil
}

// peer is who asks, with what the gateway knows of those who have a token.
func (p *policyCase) peer(c *config.Config) *mcp.Peer {
	revisions, issuer := mcp.Revisions(), ""
	if c.Auth.Issuer != nil {
		issuer = c.Auth.Issuer.URL
	}
	peer := &mcp.Peer{Revision: revisions[len(revisions)-1], Authorization: who.Named(p.Principal, issuer).Authorization()}
	if a := peer.Authorization; a != nil {
		peer.Principal, a.Claims, a.Scopes = a.Principal(), p.Claims, p.Scopes
	}
	return peer
}

// subject says what a question is about.
func (p *policyCase) subject(q *policy.Question) error {
	for _, subject := range []struct {
		kind         mcp.FeatureKind
		name, method string
	}{
		{mcp.ToolFeature, p.Tool, mcp.MethodCallTool},
		{mcp.PromptFeature, p.Prompt, mcp.MethodGetPrompt},
		{mcp.ResourceFeature, p.Resource, mcp.MethodReadResource},
	} {
		switch {
		case subject.name == "":
		case q.Kind != 0:
			return errors.New("it can be about one of tool, prompt and resource")
		default:
			q.Kind, q.Name, q.Method = subject.kind, subject.name, subject.method
		}
	}
	q.Method = cmp.Or(p.Method, q.Method)
	if mcp.MethodNamed(q.Method) == nil {
		return errors.New("it is about nothing: name a tool, a prompt, a resource or a method")
	}
	return nil
}

// find returns the backend that a question is about. Where none is named, the name is the one
// that clients see, which says whose it is.
func find(c *config.Config, q *policy.Question) (*naming.Backend, error) {
	var rules []naming.Rules
	for _, b := range c.Backends {
		rules = append(rules, b.Rules())
	}
	names, err := naming.New(rules)
	if err != nil {
		return nil, err
	}
	switch b := names.Backend(q.Backend); {
	case b != nil:
		return b, nil
	case q.Backend != "":
		return nil, fmt.Errorf("there is no backend %q", q.Backend)
	case q.Kind == 0:
		return nil, errors.New("say which backend it is about")
	}
	b, own, known := names.Own(q.Kind, q.Name)
	if !known {
		return nil, fmt.Errorf("%q does not say whose it is: name the backend, too, or use the name that clients see", q.Name)
	}
	q.Backend, q.Name = b.Name(), own
	return b, nil
}

// overridden returns the annotations that a tool has in lists: what the configuration makes
// it say, in place of what it says itself.
func overridden(b *naming.Backend, name string, said *mcp.ToolAnnotations) *mcp.ToolAnnotations {
	entry, err := wire.Marshal(mcp.Tool{Name: name, Annotations: said})
	if err != nil {
		return said
	}
	var tool mcp.Tool
	if entry, err = b.Entry(mcp.MethodListTools, entry); err != nil || wire.Unmarshal(entry, &tool) != nil {
		return said
	}
	return tool.Annotations
}
