package config

import (
	"errors"
	"net"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/parley-mcp/parley/internal/loopback"
)

// Listen says where clients reach the gateway.
type Listen struct {
	// HTTP is the address to listen on; "" means standard input and output.
	HTTP string
	// PublicURL is the origin at which clients reach the gateway, if that is not its
	// own address.
	PublicURL string
	// Hosts, Origins and Proxies are who may send requests, and whose word counts for it.
	Hosts, Origins, Proxies []string
	// Cert and Key are files for HTTPS.
	Cert, Key string
}

// listening is the section of a configuration.
type listening struct {
	*Listen

	c *Config
}

func (l *listening) keys() []key {
	words := func(into *[]string) value { return list[string]{into, pattern, 0} }
	return []key{
		{
			name: "http", value: address{word{&l.HTTP, notEmpty}, l.c}, example: "127.0.0.1:7331",
			doc: "The address to serve HTTP on: Streamable HTTP at /mcp, a view at /mcp/NAME. A port alone is on the loopback.",
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

// isLocal reports whether an address can be reached only from this machine. A port
// alone is on the loopback.
func isLocal(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		_, err := strconv.ParseUint(addr, 10, 16)
		return err == nil
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
}

func (i *Issuer) keys() []key {
	return []key{
		{name: "url", required: true, value: word{&i.URL, isURL}, example: "https://login.example.com", doc: "Its issuer identifier."},
		{name: "audience", value: word{&i.Audience, notEmpty}, example: "https://mcp.example.com/mcp", doc: "Whom tokens must be for. The default is the URL of the gateway."},
		{name: "keys", value: word{&i.KeysURL, isURL}, example: "https://login.example.com/keys", doc: "Where its keys are, if its metadata does not say."},
		{name: "scopes", value: list[string]{&i.Scopes, pattern, 0}, example: "[mcp]", doc: "The scopes that tokens must have."},
	}
}
