package naming

import (
	"errors"
	"strings"

	"github.com/parley-mcp/parley/apps"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Subject returns what a client's request is about, as the client names it; kind is 0 if
// it is about nothing that has a name. A completion is about a prompt or a template.
// params must be valid, as those of an exchange are, and Strict.
func Subject(method string, params []byte) (kind mcp.FeatureKind, shown string) {
	if method == mcp.MethodComplete {
		ref := wire.Find(params, "ref")
		is, _ := wire.Text(wire.Find(ref, "type"))
		switch is {
		case mcp.RefPrompt:
			shown, _ = wire.Text(wire.Find(ref, "name"))
			return mcp.PromptFeature, shown
		case mcp.RefResource:
			shown, _ = wire.Text(wire.Find(ref, "uri"))
			return mcp.TemplateFeature, shown
		}
		return 0, ""
	}
	m := mcp.MethodNamed(method)
	if m == nil || m.Subject == "" {
		return 0, ""
	}
	return m.Feature, m.SubjectOf(params)
}

// Params returns the params of a client's request as the backend gets them: about own,
// which is the backend's name for their Subject.
func (b *Backend) Params(method string, params []byte, own string) []byte {
	return rewrite(params, shapeOf(requests, method), func(is what, shown string) (string, bool) {
		if is == subject {
			return own, own != shown
		}
		return strings.CutPrefix(shown, b.name+":") // a task that it belongs to
	})
}

// Result returns the result of a request as clients see it.
func (b *Backend) Result(method string, result []byte) []byte {
	return rewrite(result, shapeOf(results, method), b.rename)
}

// Note returns the params of a notification from the backend as clients see them.
func (b *Backend) Note(method string, params []byte) []byte {
	return rewrite(params, shapeOf(notes, method), b.rename)
}

// Question returns the params of a question from the backend as clients see them.
func (b *Backend) Question(method string, params []byte) []byte {
	return rewrite(params, shapeOf(questions, method), b.rename)
}

// Answer returns a client's answer to a question as the backend gets it.
func (b *Backend) Answer(answer []byte) []byte {
	return rewrite(answer, anything, func(_ what, shown string) (string, bool) {
		return strings.CutPrefix(shown, b.name+":")
	})
}

// Entry returns an entry of a list as clients see it, with what the configuration makes
// it say. method is that of the list.
func (b *Backend) Entry(method string, entry []byte) ([]byte, error) {
	shown := rewrite(entry, entries[method], b.rename)
	if method == mcp.MethodListSkills {
		return shown, nil
	}
	return b.override(EntryName(method, entry)).apply(shown)
}

// EntryName returns how the backend names an entry of a list: what kind it is of depends
// on the list.
func EntryName(method string, entry []byte) (kind mcp.FeatureKind, own string) {
	member := "name"
	switch method {
	case mcp.MethodListTools:
		kind = mcp.ToolFeature
	case mcp.MethodListPrompts:
		kind = mcp.PromptFeature
	case mcp.MethodListTemplates:
		kind, member = mcp.TemplateFeature, "uriTemplate"
	default:
		kind, member = mcp.ResourceFeature, "uri"
	}
	own, _ = wire.Text(wire.Find(entry, member))
	return kind, own
}

// Member returns the member of the result of a list that holds its entries.
func Member(method string) string { return members[method] }

// Failure returns an error of the backend with what it names as clients see it. Its text
// stays as it is.
func (b *Backend) Failure(err error) error {
	var absent *mcp.ResourceNotFoundError
	if errors.As(err, &absent) {
		return &mcp.ResourceNotFoundError{URI: b.showURI(absent.URI)}
	}
	var rpc *jsonrpc.Error
	if errors.As(err, &rpc) && len(rpc.Data) > 0 {
		return &jsonrpc.Error{Code: rpc.Code, Message: rpc.Message, Data: rewrite(rpc.Data, failed, b.rename)}
	}
	return err
}

// Change returns a change of the backend as clients see it.
func (b *Backend) Change(c mcp.Change) mcp.Change {
	switch c.Kind {
	case mcp.ResourceUpdated:
		c.URI = b.Shown(mcp.ResourceFeature, c.URI)
	case mcp.TaskChanged:
		c.URI = b.Shown(mcp.TaskFeature, c.URI)
	case mcp.ToolsChanged, mcp.PromptsChanged, mcp.ResourcesChanged:
	}
	return c
}

// Filter returns what a subscription asks of the backend, in its own names; what is not
// the backend's is left out.
func (n *Names) Filter(b *Backend, f mcp.SubscriptionFilter) mcp.SubscriptionFilter {
	f.ResourceSubscriptions = n.ownAll(b, mcp.ResourceFeature, f.ResourceSubscriptions)
	f.TaskIDs = n.ownAll(b, mcp.TaskFeature, f.TaskIDs)
	return f
}

func (n *Names) ownAll(b *Backend, kind mcp.FeatureKind, shown []string) (owns []string) {
	for _, s := range shown {
		if of, own, _ := n.Own(kind, s); of == b && b.Has(kind, own) {
			owns = append(owns, own)
		}
	}
	return owns
}

// Honoured returns what the backend has granted of a subscription, as clients see it.
func (b *Backend) Honoured(f mcp.SubscriptionFilter) mcp.SubscriptionFilter {
	f.ResourceSubscriptions = b.showAll(mcp.ResourceFeature, f.ResourceSubscriptions)
	f.TaskIDs = b.showAll(mcp.TaskFeature, f.TaskIDs)
	return f
}

func (b *Backend) showAll(kind mcp.FeatureKind, owns []string) (shown []string) {
	for _, own := range owns {
		shown = append(shown, b.Shown(kind, own))
	}
	return shown
}

func shapeOf(shapes map[string]*shape, method string) *shape {
	if s := shapes[method]; s != nil {
		return s
	}
	return anything
}

// rename shows what the backend names.
func (b *Backend) rename(is what, own string) (string, bool) {
	switch is {
	case toolName:
		return b.Shown(mcp.ToolFeature, own), true
	case promptName:
		return b.Shown(mcp.PromptFeature, own), true
	case uri:
		return b.showURI(own), true
	case appURI:
		return b.showURI(own), strings.HasPrefix(own, apps.Scheme)
	case taskID:
		return b.Shown(mcp.TaskFeature, own), true
	case nothing, subject:
	}
	return "", false
}
