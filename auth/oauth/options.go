package oauth

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Options configure a Client. New copies them; the slices and maps in them must
// not be changed afterwards.
type Options struct {
	// URL is the URL of the MCP server, for example "https://example.com/mcp".
	// Tokens are sent to its origin only. Required.
	URL string
	// Store keeps tokens and registrations. nil means NewMemoryStore(). Tokens
	// from grants without a user are not stored: such grants can obtain new
	// ones.
	Store Store
	// Grant is how tokens are obtained. nil means &AuthorizationCode{}: the user
	// logs in with the browser.
	Grant Grant
	// Scopes are asked for in addition to those of a challenge. Where a
	// challenge names none, they are asked for instead of all scopes that the
	// server supports.
	Scopes []string
	// PreRegistered are clients that exist already, by the issuer identifier of
	// the authorization server that knows them. The one for AnyIssuer is used
	// with issuers that have no entry; it must not have a secret.
	PreRegistered map[string]Credentials
	// ClientMetadataURL is the URL of this program's Client ID Metadata
	// Document: https, with a path. "" means that it has none.
	ClientMetadataURL string
	// Metadata describes this program when it has to register. That happens without a
	// suitable entry of PreRegistered and without ClientMetadataURL, or if the
	// authorization server takes none. Revision 2026-07-28 deprecates dynamic client
	// registration (docs/deprecated.md).
	Metadata Metadata
	// DPoP has all tokens bound to a key (RFC 9449) and refuses others. Without
	// it, tokens are bound to a key only for servers that demand it.
	DPoP bool
	// HTTP makes the requests of discovery, registration and for tokens, for
	// example with certificates of a company. nil means a client that does not
	// let servers lead it into private networks; a client of your own has to
	// see to that itself. Redirects to other origins are refused in any case.
	HTTP *http.Client
	// AllowPrivate allows authorization servers on this machine and in private
	// networks, even for MCP servers that are elsewhere.
	AllowPrivate bool
	// AllowHTTP allows http without encryption beyond this machine. Everybody
	// on the way can read the tokens then: it is for tests.
	AllowHTTP bool
	// Logger receives reports of the steps, never of secrets. nil means
	// slog.Default().
	Logger *slog.Logger
	// MaxBytes bounds one document that a server sends. 0 means 1 MiB.
	MaxBytes int64
	// RequestTimeout bounds one OAuth request. 0 means 30 seconds.
	RequestTimeout time.Duration
	// FlowTimeout bounds an authorization, including everything that the user
	// does. 0 means 10 minutes.
	FlowTimeout time.Duration
	// Leeway is how long before its expiry a token is renewed. 0 means 30
	// seconds.
	Leeway time.Duration
	// Cooldown is how long the user is not asked again after an authorization
	// that failed or did not help. 0 means one minute; Login does not wait for
	// it.
	Cooldown time.Duration
	// MaxAttempts is how many times a token is obtained for one request. 0
	// means 3.
	MaxAttempts int
}

// String keeps secrets out of logs: behind a pointer, package fmt would show some
// of them in spite of their type.
func (o Options) String() string { return "OAuth options" }

// GoString implements fmt.GoStringer.
func (o Options) GoString() string { return o.String() }

// Metadata says what a program is (RFC 7591, section 2).
type Metadata struct {
	// Name is what users see. "" means "MCP client".
	Name string
	// URI is a page about the program, and LogoURI its logo; each may be "".
	URI, LogoURI string
	// ApplicationType is "native" or "web". "" means native with redirect URIs
	// on this machine, and web with others.
	ApplicationType string
	// SoftwareID and SoftwareVersion identify the software, or are "".
	SoftwareID, SoftwareVersion string
	// Scopes are the scopes that the registration is restricted to. nil leaves
	// it open, so that more can be requested later.
	Scopes []string
}

func (o Options) withDefaults() (Options, error) {
	if o.Store == nil {
		o.Store = NewMemoryStore()
	}
	if o.Grant == nil {
		o.Grant = &AuthorizationCode{}
	}
	if err := o.Grant.check(); err != nil {
		return o, fmt.Errorf("oauth.Options.Grant: %w", err)
	}
	if !o.Grant.interactive() {
		o.Store = NewMemoryStore()
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Metadata.Name == "" {
		o.Metadata.Name = "MCP client"
	}
	if t := o.Metadata.ApplicationType; t != "" && t != typeNative && t != typeWeb {
		return o, fmt.Errorf("oauth.Options.Metadata.ApplicationType is %q, want %q or %q", t, typeNative, typeWeb)
	}
	for issuer, client := range o.PreRegistered {
		if client.ClientID == "" {
			return o, fmt.Errorf("oauth.Options.PreRegistered[%q] has no ClientID", issuer)
		}
		if issuer == AnyIssuer && (client.Secret != "" || client.Key != nil) {
			return o, errors.New("oauth.Options.PreRegistered[AnyIssuer] must not have a secret or a key; say which issuer they are for")
		}
	}
	setDefault(&o.MaxBytes, 1<<20)
	setDefault(&o.RequestTimeout, 30*time.Second)
	setDefault(&o.FlowTimeout, 10*time.Minute)
	setDefault(&o.Leeway, 30*time.Second)
	setDefault(&o.Cooldown, time.Minute)
	setDefault(&o.MaxAttempts, 3)
	return o, checkClientMetadataURL(o.ClientMetadataURL)
}

// preRegistered returns the pre-registered client for an issuer.
func (o *Options) preRegistered(issuer string) (Credentials, bool) {
	client, ok := o.PreRegistered[issuer]
	if !ok {
		client, ok = o.PreRegistered[AnyIssuer]
	}
	return client, ok
}

func setDefault[T int | int64 | time.Duration](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}

// checkClientMetadataURL refuses what no authorization server would accept.
//
// Spec: 2026-07-28 basic/authorization/client-registration#implementation-requirements.
func checkClientMetadataURL(s string) error {
	if s == "" {
		return nil
	}
	u, err := url.Parse(s)
	if err != nil {
		return errors.New("oauth.Options.ClientMetadataURL is malformed")
	}
	if u.Scheme != "https" || u.Host == "" || u.Path == "" || u.Path == "/" || u.Fragment != "" || u.User != nil ||
		strings.Contains(u.Path+"/", "/../") || strings.Contains(u.Path+"/", "/./") {
		return fmt.Errorf("oauth.Options.ClientMetadataURL, %q, must be https with a path, without dot segments, fragment or user", u.Redacted())
	}
	return nil
}
