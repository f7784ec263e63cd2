package spec_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

// tenantKey is the key of what the test's middleware puts into contexts.
type tenantKey struct{}

// tenanted is middleware as users write it: it puts a value into the context of each
// HTTP request.
func tenanted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), tenantKey{}, r.Header.Get("X-Tenant"))))
	})
}

// naming sends a header that the context of the request names.
type naming struct{ http.RoundTripper }

func (n naming) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if name, ok := r.Context().Value(tenantKey{}).(string); ok {
		r.Header.Set("X-Tenant", name)
	}
	return n.RoundTripper.RoundTrip(r)
}

// What middleware put into the context of an HTTP request reaches the handler, in
// every revision, with each request's own values, and its headers can be read.
func TestValuesOfHTTPRequests(t *testing.T) {
	s := server.New(mcp.Implementation{Name: "t", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	server.AddTool(s, mcp.Tool{Name: "whose"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		return fmt.Sprint(ctx.Value(tenantKey{}), " ", call.Header("x-tenant"), " ", ctx.Err()), nil
	})
	for _, m := range mcptest.AllModes() {
		if m.Transport != mcptest.HTTP {
			continue
		}
		t.Run(m.String(), func(t *testing.T) {
			h, err := streamable.New(s, &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}})
			if err != nil {
				t.Fatal(err)
			}
			site := httptest.NewServer(tenanted(h))
			defer site.Close()
			defer h.Close(context.Background())
			transport := &streamable.Client{URL: site.URL, HTTP: &http.Client{Transport: naming{site.Client().Transport}}}
			of := func(tenant string) context.Context { return context.WithValue(t.Context(), tenantKey{}, tenant) }
			c, err := client.Connect(of("nobody"), transport, &client.Options{Logger: mcptest.Quiet(), Revisions: []mcp.Revision{m.Revision}})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			var wg sync.WaitGroup
			for i := range 8 {
				wg.Go(func() {
					tenant := fmt.Sprint("tenant-", i)
					r, err := c.CallTool(of(tenant), "whose", nil)
					if err != nil {
						t.Error(err)
						return
					}
					if got, want := r.Content[0].(*mcp.TextContent).Text, tenant+" "+tenant+" <nil>"; got != want {
						t.Errorf("got %q, want %q", got, want)
					}
				})
			}
			wg.Wait()
		})
	}
}
