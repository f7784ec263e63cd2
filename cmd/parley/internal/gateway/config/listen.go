package config

import (
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/internal/loopback"
	"github.com/parley-mcp/parley/internal/webserver"
)

// Listen says where clients reach the gateway.
type Listen struct {
	// HTTP is the address to listen on; "" means standard input and output.
	HTTP string
	// Path is that of the endpoint; each view is at a path below it.
	Path string
	// PublicURL is the origin at which clients reach the gateway, if that is not its
	// own address.
	PublicURL string
	// Hosts, Origins and Proxies are who may send requests, and whose word counts for it.
	Hosts, Origins, Proxies []string
	// Cert and Key are files for HTTPS.
	Cert, Key string
	// Grace is how long running calls may go on when the gateway is told to end.
	Grace time.Duration
	// Metrics is an address at which Prometheus finds metrics, or MetricsPage; "" is none.
	Metrics string
}

// ViewPath is the path of a view.
func (l *Listen) ViewPath(name string) string { return strings.TrimSuffix(l.Path, "/") + "/" + name }

// listening is the section of a configuration.
type listening struct {
	*Listen

	c *Config
}

func (l *listening) keys() []key {
	words := func(into *[]string) value { return list[string]{into, pattern, 0} }
	return []key{
		{
			name: "http", value: address{word{&l.HTTP, isPlace}, l.c}, example: "127.0.0.1:7331",
			doc: "The address to serve HTTP on. A port alone is on the loopback.",
		},
		{
			name: "path", value: endpoint{word{&l.Path, isPath}, l.c}, example: "/tools",
			doc: "The path of the endpoint. A view is at PATH/NAME. Clients of 2024-11-05 reach the whole at /sse.",
		},
		{
			name: "public_url", value: word{&l.PublicURL, isURL}, example: "https://mcp.example.com",
			doc: "The origin at which clients reach the gateway, if that is not its own address.",
		},
		{
			name: "allow_hosts", value: words(&l.Hosts), example: "[mcp.example.com]",
			doc: "Accept requests for these hosts.",
		},
		{
			name: "allow_origins", value: words(&l.Origins), example: "[https://app.example.com]",
			doc: "Let pages of these origins use the gateway.",
		},
		{
			name: "trusted_proxies", value: words(&l.Proxies), example: "[10.0.0.0/8]",
			doc: "Believe the X-Forwarded-For and Forwarded of the proxies in these networks.",
		},
		{name: "tls_cert", value: word{&l.Cert, notEmpty}, with: "tls_key", example: "cert.pem", doc: "Serve HTTPS with the certificate in this file."},
		{name: "tls_key", value: word{&l.Key, notEmpty}, with: "tls_cert", example: "key.pem", doc: "The key of the certificate."},
		{
			name: "grace", value: period{&l.Grace, webserver.GracePeriod, 0, time.Hour}, example: "20s",
			doc: "How long running calls may go on when the gateway is told to end, and those in a view, or at a server, that goes away or changes. With 0, they are cancelled at once.",
		},
		{
			name: "metrics", value: word{&l.Metrics, isMetrics}, example: "127.0.0.1:9464",
			doc: "Where Prometheus finds metrics: at " + MetricsPage + " of an address of their own, without a login; or, if it is " + MetricsPage + ", beside the endpoint, for whoever may use the gateway.",
		},
	}
}

// address is an address to listen on.
type address struct {
	word

	c *Config
}

func (v address) read(r *reader, n *yaml.Node, at where) {
	if n.ShortTag() == "!!int" { // a port alone
		*v.into = n.Value
		if !isPlace.check(n.Value) {
			r.fault(n, at, "%.40q does not fit; it must be %s", n.Value, isPlace.is)
		}
	} else {
		v.word.read(r, n, at)
	}
	r.later = append(r.later, func() {
		if !isLocal(*v.into) && v.c.Auth.isEmpty() {
			v.c.warn(r.mistake(n.Line, n.Column, at, errors.New("this address can be reached from other machines; say in auth who may use the gateway: bearer, issuer, or none for everybody")))
		}
	})
}

func (v address) schema() schema { return schema{"type": []string{"string", "integer"}} }

// isPlace is the rule of where clients reach the gateway.
var isPlace = rule{
	is:    "an address such as 127.0.0.1:7331, or a port alone, up to 65535",
	check: func(s string) bool { return isAddress(s) || isPort(s) },
}

func isPort(s string) bool {
	_, err := strconv.ParseUint(s, 10, 16)
	return err == nil
}

// endpoint is a path to serve at. Below it are the views.
type endpoint struct {
	word

	c *Config
}

const defaultPath = "/mcp"

// taken are the paths that have a page already.
var taken = []string{"/sse", "/healthz", "/readyz", MetricsPage}

var isPath = matching("a path such as /mcp, of letters, digits and . _ ~ -, which does not end in /", `^(/|(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+)$`)

func (v endpoint) preset()          { *v.into = defaultPath }
func (v endpoint) fallback() string { return defaultPath }

func (v endpoint) read(r *reader, n *yaml.Node, at where) {
	v.word.read(r, n, at)
	r.later = append(r.later, func() {
		paths := []string{*v.into}
		for _, view := range v.c.Views {
			paths = append(paths, v.c.Listen.ViewPath(view.Name))
		}
		for _, p := range paths {
			if slices.Contains(taken, p) {
				r.fault(n, at, "the gateway has another page at %s; choose another path", p)
			}
		}
	})
}

// isLocal reports whether an address can be reached only from this machine. A port
// alone is on the loopback.
func isLocal(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return isPort(addr)
	}
	return host == "" || loopback.Is(host)
}

// Auth says what the gateway demands of its clients. Nothing is set if the file says
// nothing: then everybody may use it who reaches it on the loopback.
type Auth struct {
	// None says that everybody may use the gateway who reaches it.
	None bool
	// Bearer is the token that clients must have.
	Bearer Text
	// Issuer is the authorization server that their tokens must come from; nil for none.
	Issuer *Issuer

	same string // identifies the token
}

func (a *Auth) isEmpty() bool { return !a.None && a.Bearer.IsZero() && a.Issuer == nil }

func (a *Auth) oneOf() (names []string, must bool) {
	return []string{"none", "bearer", "issuer"}, true
}

func (a *Auth) keys() []key {
	return []key{
		{
			name: "none", value: boolean{&a.None}, example: "true",
			doc: "Let everybody use the gateway who reaches its address. On a loopback address that is so without this key.",
		},
		{
			name: "bearer", value: secret{&a.Bearer, token}, example: `"${file:/run/secrets/gateway-token}"`,
			doc: "The token that every client must send.",
		},
		{
			name: "issuer", value: maybe[Issuer]{&a.Issuer, func(into *Issuer) value { return object{into} }},
			doc: "Have clients log in at an authorization server. Each user is a principal.",
		},
	}
}

var token = rule{is: "a token of at least 16 characters, without spaces", check: isToken}

// isToken reports whether a text can be a token that nobody guesses.
func isToken(s string) bool {
	const short = 16
	for _, c := range []byte(s) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return len(s) >= short
}

// Issuer is an authorization server.
type Issuer struct {
	URL, Audience, KeysURL string
	Scopes                 []string

	client *identity
}

// PreRegistered returns what the gateway is there itself, by the issuer, with secrets as
// they are at this moment; nil if the file does not say.
func (i *Issuer) PreRegistered() (map[string]oauth.Credentials, error) {
	if i.client == nil {
		return nil, nil //nolint:nilnil // it registers
	}
	client, err := i.client.reveal()
	return map[string]oauth.Credentials{i.URL: client}, err
}

// identity tells one from another, but for what is in files; nil is none.
func (i *Issuer) identity() string {
	if i == nil {
		return ""
	}
	parts := []any{i.URL, i.Audience, i.KeysURL, i.Scopes}
	if c := i.client; c != nil {
		parts = append(parts, c.id, c.keyID, c.secret.raw(), c.key.raw())
	}
	return digest(parts...)
}

func (i *Issuer) keys() []key {
	return []key{
		{name: "url", required: true, value: word{&i.URL, isURL}, example: "https://login.example.com", doc: "Its issuer identifier."},
		{name: "audience", value: word{&i.Audience, notEmpty}, example: "https://mcp.example.com/mcp", doc: "Whom tokens must be for. The default is the URL of the gateway."},
		{name: "keys", value: word{&i.KeysURL, isURL}, example: "https://login.example.com/keys", doc: "Where its keys are, if its metadata does not say."},
		{name: "scopes", value: list[string]{&i.Scopes, pattern, 0}, example: "[mcp]", doc: "The scopes that tokens must have."},
		{
			name: "client", value: maybe[identity]{&i.client, func(into *identity) value {
				into.public = true
				return object{into}
			}},
			doc: "What the gateway itself is there, if it cannot register itself. It has users log in there in their browsers, before they log in at backends. Register it with the redirect URI /connect/_callback at the gateway's public URL.",
		},
	}
}
