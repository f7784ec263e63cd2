package server

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// reserved reports whether a method or notification belongs to the protocol, so
// that a server cannot redefine it. Notifications that clients send and that
// reach the server are not reserved: a server may handle them.
func reserved(method string) bool {
	m := mcp.MethodNamed(method)
	return m != nil && (m.FromServer || m.Connection || !m.Notification)
}

// MethodHandler serves requests of a custom method. params is the params object
// exactly as sent, or nil. The result must encode to a JSON object; nil stands
// for an empty one.
type MethodHandler func(ctx context.Context, call *Call, params json.RawMessage) (any, error)

// NotificationHandler serves notifications, which have no response.
type NotificationHandler func(ctx context.Context, call *Call, params json.RawMessage)

// custom is a method or a notification that the protocol does not define.
type custom struct {
	name   string
	method MethodHandler
	note   NotificationHandler
}

// A method and a notification may have the same name.
func customKey(name string, note bool) string {
	if note {
		return "n " + name
	}
	return "m " + name
}

func (c *custom) key() string   { return customKey(c.name, c.note != nil) }
func (c *custom) desc() *custom { return c }

// Extension decodes the settings with which the client declares an extension into
// settings, unless that is nil. If the client does not declare it, the error is an
// *mcp.MissingCapabilityError: the handler of an extension's method returns it,
// and a tool that can do without the extension does so. In revisions before
// 2026-07-28, apps.Extension is the only one that a client can declare.
//
// Spec: 2026-07-28 basic/versioning#extension-negotiation.
func (c *Call) Extension(id string, settings any) error {
	declared, ok := c.x.Peer.Capabilities.Extensions[id]
	if !ok {
		required := mcp.ClientCapabilities{Extensions: map[string]json.RawMessage{id: json.RawMessage("{}")}}
		return &mcp.MissingCapabilityError{Feature: fmt.Sprintf("%q (extension)", id), Required: required}
	}
	if settings == nil {
		return nil
	}
	if err := wire.Unmarshal(declared, settings); err != nil {
		return mcp.InvalidParams("the client's settings of the extension %q: %v", id, err)
	}
	return nil
}

// HandleMethod serves requests of a method that is not part of the protocol,
// for example of an extension. It replaces the method's previous handler, if
// any. It panics when method is empty or belongs to the protocol, or h is nil.
//
// Any client may send the method. If it belongs to an extension, h begins with
// Call.Extension, which refuses clients that do not declare that.
func (s *Server) HandleMethod(method string, h MethodHandler) {
	must(checkCustom("method", method, h == nil))
	s.customs.put(&custom{name: method, method: h})
}

// HandleNotification is HandleMethod for notifications. It may also be used for
// notifications/roots/list_changed, which exists in sessions only.
// Notifications without a handler are ignored.
func (s *Server) HandleNotification(method string, h NotificationHandler) {
	must(checkCustom("notification", method, h == nil))
	s.customs.put(&custom{name: method, note: h})
}

func checkCustom(kind, method string, noHandler bool) error {
	switch {
	case method == "":
		return fmt.Errorf("%s without a name", kind)
	case reserved(method):
		return fmt.Errorf("the %s %q belongs to the protocol", kind, method)
	case noHandler:
		return errNoHandler(kind, method)
	}
	return nil
}

// Handle is HandleMethod with typed params and result. Params that do not
// decode into P are invalid; absent ones leave P as it is.
func Handle[P, R any](s *Server, method string, h func(ctx context.Context, call *Call, params P) (R, error)) {
	must(checkCustom("method", method, h == nil))
	s.HandleMethod(method, func(ctx context.Context, call *Call, _ json.RawMessage) (any, error) {
		var params P
		if err := decodeParams(call.x, &params); err != nil {
			return nil, err
		}
		result, err := h(ctx, call, params)
		if err != nil {
			return nil, err
		}
		return result, nil
	})
}

func (s *Server) serveCustom(ctx context.Context, x *mcp.Exchange) (any, error) {
	note := x.ID.IsZero()
	c, ok := s.customs.get(customKey(x.Method, note))
	if !ok && !note {
		return nil, &mcp.MethodNotFoundError{Method: x.Method}
	}
	call := s.newCall(x)
	defer call.finish(ctx)
	if note {
		if ok {
			c.note(ctx, call, x.Params)
		} else {
			x.Drop(mcp.DropNoTaker, x.Method, nil)
		}
		return nil, nil //nolint:nilnil // a notification has no answer
	}
	result, err := c.method(ctx, call, x.Params)
	if err != nil {
		return nil, err
	}
	return customResult(x.Method, result)
}

// customResult makes sure that a result is an object: any other kind would
// break the client's side of the protocol.
//
// Spec: 2026-07-28 basic#result-responses.
func customResult(method string, result any) (any, error) {
	if result == nil {
		return &mcp.EmptyResult{}, nil
	}
	if raw, ok := result.(json.RawMessage); ok {
		if !isObject(raw) {
			return nil, fmt.Errorf("result of %q is not a JSON object", method)
		}
		return result, nil
	}
	v := reflect.ValueOf(result)
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct && v.Kind() != reflect.Map {
		return nil, fmt.Errorf("result of %q is not an object but a %T", method, result)
	}
	return result, nil
}
