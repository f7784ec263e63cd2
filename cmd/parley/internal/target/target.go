// Package target says how a server is named and how it is reached: by a URL, by
// the command that starts it, or by the name of an entry in a configuration file.
// It reads configuration files and never writes them. It asks nobody and prints
// nothing: what it needs of the outside world is in Environment and Connection.
package target

import (
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/transport/sse"
	"github.com/parley-mcp/parley/transport/stdio"
	"github.com/parley-mcp/parley/transport/streamable"
)

// Target is a server and how it is reached: at a URL, or behind a command.
type Target struct {
	// Entry is the entry of a configuration file that names the server, or nil.
	Entry *Entry

	URL     string
	Command []string // the program and its arguments, if there is no URL
	// Env is set for the command, in addition to the environment, as KEY=VALUE.
	Env []string
	// Dir is the command's working directory; "" means that of this process.
	Dir string
	// Header is sent with every request to the URL.
	Header http.Header
	// Over is the transport to the URL; "" means whichever the server speaks.
	Over Over
	// Revision is the only one to speak; zero means any.
	Revision mcp.Revision
	// Secrets are values that must not be shown wherever they stand, besides what looks
	// like a secret: those of inputs that say so.
	Secrets []string
}

// Over names a transport to a URL.
type Over string

// The transports to a URL.
const (
	OverAny  Over = ""
	OverHTTP Over = "http" // Streamable HTTP
	OverSSE  Over = "sse"  // HTTP+SSE, of 2024-11-05
)

// IsURL reports whether an argument names a server at a URL.
func IsURL(s string) bool {
	s = strings.ToLower(s)
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}

// String returns the URL or the command line, without the values of secrets.
func (t *Target) String() string {
	if t.URL != "" {
		return t.MaskedURL()
	}
	return strings.Join(t.MaskedCommand(), " ")
}

// MaskedURL returns the URL without what may be a secret, or is one.
func (t *Target) MaskedURL() string {
	masked := MaskURL(t.URL)
	for _, secret := range t.Secrets {
		masked = strings.NewReplacer(secret, Hidden, url.PathEscape(secret), Hidden).Replace(masked)
	}
	return masked
}

// MaskedCommand returns the command without what may be a secret, or is one.
func (t *Target) MaskedCommand() []string {
	masked := MaskArgs(t.Command)
	for i := range masked {
		for _, secret := range t.Secrets {
			masked[i] = strings.ReplaceAll(masked[i], secret, Hidden)
		}
	}
	return masked
}

// Connection says how to reach a target, in addition to what the target says.
type Connection struct {
	// Header is sent to a URL. It replaces the headers of the same name that the
	// target has.
	Header http.Header
	// Token is the access token for a URL; "" means the Authorization of Header.
	Token string
	// Login returns the HTTP client that logs in at a URL. It is called only if
	// there is no Authorization, and may return nil for the default client.
	Login func(url string) (*http.Client, error)
	// HTTP makes the requests to a URL if Login does not; nil means the default client.
	HTTP *http.Client
	// Env is added to a command's, as KEY=VALUE.
	Env []string
	// CleanEnv gives a command no environment but the target's and Env; see
	// stdio.Command.
	CleanEnv bool
	// Stderr receives the standard error of a command; nil discards it.
	Stderr io.Writer
	// Grace is how long a command may take to end; 0 means the default of
	// stdio.Command.
	Grace  time.Duration
	Logger *slog.Logger
}

// Transport returns the transport to a target. This is the only place that knows
// which transports there are.
func (t *Target) Transport(c Connection) (mcp.Transport, error) {
	switch {
	case t.URL != "":
		return t.overHTTP(c)
	case len(t.Command) > 0:
		return &stdio.Command{Args: t.Command, Env: slices.Concat(t.Env, c.Env), CleanEnv: c.CleanEnv, Dir: t.Dir, Stderr: c.Stderr, Grace: c.Grace}, nil
	}
	return nil, errors.New("no server named")
}

func (t *Target) overHTTP(c Connection) (mcp.Transport, error) {
	header := t.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	maps.Copy(header, c.Header)
	if c.Token != "" {
		header.Set("Authorization", "Bearer "+c.Token)
	}
	web, err := c.web(header, t.URL)
	if err != nil {
		return nil, err
	}
	if t.Over == OverSSE {
		return &sse.Client{URL: t.URL, Header: header, HTTP: web}, nil
	}
	return &streamable.Client{URL: t.URL, Header: header, HTTP: web, NoSSEFallback: t.Over == OverHTTP, Logger: c.Logger}, nil
}

// web returns the HTTP client for a URL; nil stands for the default one.
func (c *Connection) web(header http.Header, address string) (*http.Client, error) {
	if header.Get("Authorization") != "" || c.Login == nil {
		return c.HTTP, nil
	}
	return c.Login(address)
}
