package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/mcp"
)

// Clients that declare different things never share a connection, and those that declare
// the same always do.
func TestKeys(t *testing.T) {
	b := unconnected(t)
	taken := map[string]string{}
	for i, peer := range declarations() {
		text, err := json.Marshal(peer)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			key := b.Key(&peer)
			if other, ok := taken[key]; ok && other != string(text) {
				t.Errorf("%d: %s has the key of %s", i, text, other)
			}
			taken[key] = string(text)
		}
	}
}

// unconnected returns a bridge whose server nobody can connect to.
func unconnected(t *testing.T) *bridge.Bridge {
	t.Helper()
	b, err := bridge.New(t.Context(), bridge.Options{Share: bridge.SharePrincipal, OnDemand: true, Connect: func(context.Context, *mcp.Peer, *client.Options) (*client.Client, error) {
		return nil, errors.ErrUnsupported
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// What clients declare is not kept, however long it is.
func TestKeysAreSmall(t *testing.T) {
	b := unconnected(t)
	long := strings.Repeat("x", 256<<10)
	before := heap()
	for n := range 32 {
		settings := json.RawMessage(fmt.Sprintf(`{"n":%d,"text":%q}`, n, long))
		b.Key(&mcp.Peer{Principal: "ann", Capabilities: mcp.ClientCapabilities{Extensions: map[string]json.RawMessage{"com.example/x": settings}}})
	}
	if grown := heap() - before; grown > 2<<20 {
		t.Errorf("the keys of 32 clients that declare 256 KiB each take %d KiB", grown>>10)
	}
	runtime.KeepAlive(b)
}

// heap returns how many bytes are in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// declarations are peers that differ, by every member that capabilities have.
func declarations() []mcp.Peer {
	all := []mcp.Peer{{}, {Principal: "ann"}, {Principal: `ann"true`}}
	for _, settings := range []string{`{}`, `{"a":1}`} {
		for _, name := range []string{"com.example/a", "com.example/b"} {
			all = append(all,
				mcp.Peer{Capabilities: mcp.ClientCapabilities{Extensions: map[string]json.RawMessage{name: json.RawMessage(settings)}}},
				mcp.Peer{Capabilities: mcp.ClientCapabilities{Extensions: map[string]json.RawMessage{name: json.RawMessage(settings), "com.example/c": json.RawMessage(`{}`)}}})
		}
	}
	for _, path := range pathsIn(reflect.TypeFor[mcp.ClientCapabilities](), nil) {
		var c mcp.ClientCapabilities
		set(reflect.ValueOf(&c).Elem(), path)
		all = append(all, mcp.Peer{Capabilities: c})
	}
	return all
}

// pathsIn are the ways to everything in a struct that can be there or not.
func pathsIn(t reflect.Type, above []int) (paths [][]int) {
	for i := range t.NumField() {
		f := t.Field(i)
		path := append(above[:len(above):len(above)], i)
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if f.Type.Kind() != reflect.Struct {
			paths = append(paths, path)
		}
		if inner.Kind() == reflect.Struct {
			paths = append(paths, pathsIn(inner, path)...)
		}
	}
	return paths
}

// set puts something into a struct at the end of a path.
func set(v reflect.Value, path []int) {
	for _, i := range path {
		if v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		v = v.Field(i)
		switch v.Kind() { //nolint:exhaustive // capabilities are made of these
		case reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Map:
			v.Set(reflect.ValueOf(map[string]json.RawMessage{"x": json.RawMessage(`{}`)}))
		}
	}
}
