package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// launch is how a gateway is run in front of servers.
type launch struct {
	// dir is an empty folder, addr where to listen, urls the servers, and
	// server the command of one that is reached on its standard streams.
	dir, addr string
	urls      []string
	server    []string

	// args are the arguments of the program, env more variables.
	args, env []string
	// path is where clients find it, and header what they have to send.
	path, header string
	// register tells the running gateway of its servers, until a time.
	register func(until time.Time) error
}

func (l *launch) port() string {
	_, port, _ := net.SplitHostPort(l.addr)
	return port
}

// write writes a file and returns its path.
func (l *launch) write(name, text string) (string, error) {
	file := filepath.Join(l.dir, name)
	return file, os.WriteFile(file, []byte(text), 0o600)
}

// directly sends clients to the server.
func directly(l *launch) error {
	rest := strings.TrimPrefix(l.urls[0], "http://")
	l.addr, l.path = rest[:strings.Index(rest, "/")], "/mcp"
	return nil
}

func prepareReverseProxy(l *launch) error {
	l.args = []string{"-http", l.addr, "-to", strings.TrimSuffix(l.urls[0], "/mcp")}
	return nil
}

// prepareParley raises the bound on sessions, which the whole load of one
// machine would reach.
func prepareParley(l *launch) error {
	var b strings.Builder
	b.WriteString("version: 1\nbackends:\n")
	for i, url := range l.urls {
		fmt.Fprintf(&b, "  b%d: {url: %q}\n", i, url)
	}
	file, err := l.write("gateway.yaml", b.String())
	l.args = []string{file, "--http", l.addr, "--max-sessions", "1000000", "--log-level", "error"}
	return err
}

func prepareVMCP(l *launch) error {
	var b strings.Builder
	b.WriteString("name: bench\ngroupRef: bench\nincomingAuth: {type: anonymous}\noutgoingAuth: {source: inline, default: {type: unauthenticated}}\n")
	b.WriteString("aggregation: {conflictResolution: prefix, conflictResolutionConfig: {prefixFormat: \"{workload}_\"}}\nbackends:\n")
	for i, url := range l.urls {
		fmt.Fprintf(&b, "  - {name: b%d, url: %q, transport: streamable-http}\n", i, url)
	}
	file, err := l.write("vmcp.yaml", b.String())
	l.args = []string{"serve", "--config", file, "--host", "127.0.0.1", "--port", l.port()}
	l.env = []string{"HOME=" + l.dir, "XDG_CONFIG_HOME=" + l.dir, "XDG_STATE_HOME=" + l.dir, "XDG_DATA_HOME=" + l.dir}
	return err
}

func prepareRust(l *launch) error {
	var b strings.Builder
	fmt.Fprintf(&b, "[proxy]\nname = \"bench\"\nversion = \"1.0.0\"\nseparator = \"__\"\n[proxy.listen]\nhost = \"127.0.0.1\"\nport = %s\n[observability]\nlog_level = \"error\"\n", l.port())
	for i, url := range l.urls {
		fmt.Fprintf(&b, "[[backends]]\nname = \"b%d\"\ntransport = \"http\"\nurl = %q\n", i, url)
	}
	file, err := l.write("proxy.toml", b.String())
	l.path = "/"
	l.args = []string{"--config", file}
	return err
}

func preparePunkpeye(l *launch) error {
	l.args = append([]string{"--host", "127.0.0.1", "--port", l.port(), "--server", "stream", "--"}, l.server...)
	return nil
}

// prepareSupergateway has it keep sessions: without, it would start the server
// anew for each request.
func prepareSupergateway(l *launch) error {
	l.args = []string{"--stdio", strings.Join(l.server, " "), "--outputTransport", "streamableHttp", "--stateful", "--port", l.port(), "--logLevel", "none"}
	return nil
}

func prepareFastMCP(l *launch) error {
	l.args = append([]string{l.port()}, l.urls...)
	return nil
}

func prepareSparfenyuk(l *launch) error {
	l.path = "/mcp/"
	l.args = append([]string{"--host", "127.0.0.1", "--port", l.port(), "--log-level", "ERROR", "--"}, l.server...)
	return nil
}

// prepareContextForge trusts a header for who the user is, since its login is
// not what is measured, lets it reach the loopback, and has it limit nobody: by default
// it takes 100 requests a minute.
func prepareContextForge(l *launch) error {
	l.path, l.header = "/mcp/", "X-Authenticated-User: admin@example.com\r\n"
	l.args = []string{"--host", "127.0.0.1", "--port", l.port()}
	l.env = []string{
		"HOME=" + l.dir, "DATABASE_URL=sqlite:///" + filepath.Join(l.dir, "mcp.db"), "CACHE_TYPE=memory",
		"JWT_SECRET_KEY=" + rand.Text() + rand.Text(), "AUTH_ENCRYPTION_SECRET=" + rand.Text() + rand.Text(),
		"AUTH_REQUIRED=false", "MCP_REQUIRE_AUTH=false", "ALLOW_UNAUTHENTICATED_ADMIN=true", "MCP_CLIENT_AUTH_ENABLED=false",
		"TRUST_PROXY_AUTH=true", "TRUST_PROXY_AUTH_DANGEROUSLY=true", "SSRF_ALLOW_LOCALHOST=true", "SSRF_ALLOW_PRIVATE_NETWORKS=true",
		"RATE_LIMITING_ENABLED=false",
	}
	l.register = func(until time.Time) error {
		for i, url := range l.urls {
			if time.Now().After(until) {
				return fmt.Errorf("it has been told of only %d servers of %d in %s", i, len(l.urls), longest)
			}
			if err := l.post("/gateways", map[string]string{"name": fmt.Sprintf("b%d", i), "url": url, "transport": "STREAMABLEHTTP", "visibility": "public"}); err != nil {
				return err
			}
		}
		return nil
	}
	return nil
}

// prepareTBXark has the one path that clients use be that of the first server.
func prepareTBXark(l *launch) error {
	l.path = "/b0/mcp"
	file, err := l.write("config.json", fmt.Sprintf(`{
  "mcpProxy": {"baseURL": "http://%s", "addr": %q, "name": "bench", "version": "1.0.0", "type": "streamable-http", "options": {"logEnabled": false}},
  "mcpServers": {"b0": {"url": %q, "transportType": "streamable-http"}}
}`, l.addr, l.addr, l.urls[0]))
	l.args = []string{"--config", file, "--expand-env=false"}
	return err
}

// post calls the gateway's own interface.
func (l *launch) post(path string, body any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequest(http.MethodPost, "http://"+l.addr+path, bytes.NewReader(b))
	if err != nil {
		return err
	}
	name, value, _ := strings.Cut(strings.TrimSpace(l.header), ": ")
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(name, value)
	resp, err := (&http.Client{Timeout: time.Minute}).Do(req)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, 300))
	if resp.StatusCode >= 300 {
		err = fmt.Errorf("status %s for %s: %s", resp.Status, path, text)
	}
	return errors.Join(err, resp.Body.Close())
}
