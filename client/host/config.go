package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/jsonc"
	"github.com/parley-mcp/parley/internal/ref"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/transport/sse"
	"github.com/parley-mcp/parley/transport/stdio"
	"github.com/parley-mcp/parley/transport/streamable"
)

// Server says how a server is reached: by Command, by URL, or by Transport. The members
// with names in JSON are those of the configuration files of most programs.
type Server struct {
	// Command is the program that is the server, with Args, in the folder Dir. It gets Env
	// and what programs need to run at all, as with stdio.Command.CleanEnv.
	Command string            `json:"command,omitzero"`
	Args    []string          `json:"args,omitzero"`
	Env     map[string]string `json:"env,omitzero"`
	Dir     string            `json:"cwd,omitzero"`

	// URL is that of the server; Headers are added to each request.
	URL     string            `json:"url,omitzero"`
	Headers map[string]string `json:"headers,omitzero"`
	// Type says how the server is spoken to: "stdio", "http", "streamable-http" or "sse".
	// "" leaves that to Command and URL.
	Type string `json:"type,omitzero"`
	// Disabled leaves the server out.
	Disabled bool `json:"disabled,omitzero"`

	// HTTP makes the requests to URL. One whose Transport is that of an oauth.Client lets
	// the user log in. nil means a new http.Client.
	HTTP *http.Client `json:"-"`
	// Transport reaches the server in any other way, in place of Command and URL.
	Transport mcp.Transport `json:"-"`
	// TrustAnnotations says that what the server says of its tools is believed, such as
	// that they only read. Whoever runs the server decides what that is.
	//
	// Spec: 2026-07-28 server/tools#data-types.
	TrustAnnotations bool `json:"-"`

	err error // why the entry of a configuration cannot be used
}

// ParseConfig reads a configuration as most programs have it: a JSON object whose member
// "mcpServers", or "servers", has a Server for each name. Other members are ignored.
// Comments and commas after the last of something are fine. In texts, ${NAME} and ${env:NAME} are
// replaced by what lookup returns for NAME, and ${NAME:-TEXT} by TEXT if that is nothing;
// nil means os.LookupEnv.
//
// The error is about the file as a whole. An entry that is wrong, or names a variable that
// is not set, costs only itself: it is a server that is down, with an Err that says why.
func ParseConfig(data []byte, lookup func(name string) (string, bool)) (map[string]Server, error) {
	var file struct {
		MCPServers map[string]json.RawMessage `json:"mcpServers"`
		Servers    map[string]json.RawMessage `json:"servers"`
	}
	if err := wire.Unmarshal(jsonc.Plain(data), &file); err != nil {
		return nil, fmt.Errorf("this is not a configuration of servers: %w", err)
	}
	if file.MCPServers == nil && file.Servers == nil {
		return nil, errors.New(`this is not a configuration of servers: it has neither "mcpServers" nor "servers"`)
	}
	if lookup == nil {
		lookup = os.LookupEnv
	}
	entries := make(map[string]json.RawMessage, len(file.MCPServers)+len(file.Servers))
	maps.Copy(entries, file.Servers)
	maps.Copy(entries, file.MCPServers)
	servers := make(map[string]Server, len(entries))
	for name, entry := range entries {
		var s Server
		if err := wire.Unmarshal(entry, &s); err != nil {
			s = Server{err: fmt.Errorf("its entry cannot be read: %w", err)}
		}
		s.expand(lookup)
		servers[name] = s
	}
	return servers, nil
}

// expand replaces references.
func (s *Server) expand(lookup func(string) (string, bool)) {
	in := func(member, text string) string {
		value, err := ref.Replace(text, func(r string) (string, error) { return ref.Variable(r, lookup) })
		if err != nil && s.err == nil {
			s.err = fmt.Errorf("%s: %w", member, err)
		}
		return value
	}
	s.Command, s.Dir, s.URL, s.Type = in("command", s.Command), in("cwd", s.Dir), in("url", s.URL), in("type", s.Type)
	for i, arg := range s.Args {
		s.Args[i] = in("args", arg)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		s.Env[name] = in("env: "+name, s.Env[name])
	}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		s.Headers[name] = in("headers: "+name, s.Headers[name])
	}
}

// reach returns the transport to the server.
func (s *Server) reach() (mcp.Transport, error) {
	if s.err != nil {
		return nil, s.err
	}
	ways := 0
	for _, set := range []bool{s.Command != "", s.URL != "", s.Transport != nil} {
		if set {
			ways++
		}
	}
	switch {
	case ways != 1:
		return nil, errors.New("a server is reached by a command, by a URL, or by a transport: give one of them")
	case s.Transport != nil:
		return s.Transport, nil
	case s.Command != "":
		return s.process()
	}
	return s.site()
}

func (s *Server) process() (mcp.Transport, error) {
	if s.Type != "" && s.Type != "stdio" {
		return nil, fmt.Errorf("type %q is not for a command: leave it out", s.Type)
	}
	env := make([]string, 0, len(s.Env))
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return nil, fmt.Errorf("env: %q cannot be the name of a variable", name)
		}
		env = append(env, name+"="+s.Env[name])
	}
	return &stdio.Command{Args: append([]string{s.Command}, s.Args...), Env: env, CleanEnv: true, Dir: s.Dir}, nil
}

func (s *Server) site() (mcp.Transport, error) {
	u, err := url.Parse(s.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("its URL is none that begins with http:// or https://")
	}
	header := make(http.Header, len(s.Headers))
	for name, value := range s.Headers {
		if name == "" || strings.ContainsAny(name, " :\r\n\x00") || strings.ContainsAny(value, "\r\n\x00") {
			return nil, fmt.Errorf("headers: %q cannot be sent", name)
		}
		header.Set(name, value)
	}
	switch s.Type {
	case "", "http", "streamable-http", "streamableHttp":
		return &streamable.Client{URL: s.URL, HTTP: s.HTTP, Header: header}, nil
	case "sse":
		return &sse.Client{URL: s.URL, HTTP: s.HTTP, Header: header}, nil
	}
	return nil, fmt.Errorf(`type %q is not for a URL: there are "http" and "sse"`, s.Type)
}
