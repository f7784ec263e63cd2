package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGatewayMetrics: metrics are there when they are asked for, for whoever may use the
// gateway.
func TestGatewayMetrics(t *testing.T) {
	const token = "a-token-that-nobody-guesses"
	dir := t.TempDir()
	env := func(name string) (string, bool) {
		if name == "XDG_STATE_HOME" {
			return dir, true
		}
		return os.LookupEnv(name)
	}
	status := func(listen, bearer string) (int, string) {
		file := filepath.Join(dir, "gateway.yaml")
		text := "version: 1\nauth: {bearer: " + token + "}\nlisten: {" + listen + "}\nbackends: {a: {url: \"http://127.0.0.1:1/mcp\", start: demand}}\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		url, stop, err := startServing(env, "gateway", file, "--http", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if code := stop(); code != 0 {
				t.Errorf("ended with %d", code)
			}
		}()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.TrimSuffix(url, "/mcp")+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+bearer)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		page, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(page)
	}
	if code, _ := status("", token); code != http.StatusNotFound {
		t.Errorf("not asked for: %d", code)
	}
	if code, _ := status("metrics: /metrics", "wrong"); code != http.StatusUnauthorized {
		t.Errorf("with a wrong token: %d", code)
	}
	code, page := status("metrics: /metrics", token)
	if code != http.StatusOK || !strings.Contains(page, `parley_gateway_backend_status{parley_backend="a",parley_status="idle"} 1`) {
		t.Errorf("%d\n%s", code, page)
	}
}
