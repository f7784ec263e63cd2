package devauth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// kind is how the server came to know a client, which decides how far the
// client's description of itself can be trusted.
type kind int

const (
	configured kind = iota // named by whoever runs the server
	enrolled               // registered by itself; nobody has checked anything
	documented             // identified by the URL of its document
)

// client is a client as the server knows it. It does not change.
type client struct {
	id        string
	name      string
	kind      kind
	method    string // of authentication; methodPost and methodBasic are the same
	secret    [sha256.Size]byte
	keys      *jose.JSONWebKeySet
	keysURL   string
	redirects []string
	own       []string // scopes for itself
	asks      bool     // may introspect the tokens of others
	resource  string   // that it is, and whose tokens it may have exchanged
	renews    bool     // it has registered that it uses refresh tokens
	bound     bool     // it takes only tokens that are bound to a key (RFC 9449, section 5.2)
}

// hasSecret reports whether a secret is the client's.
func (c *client) hasSecret(s string) bool {
	sum := sha256.Sum256([]byte(s))
	return (c.method == methodBasic || c.method == methodPost) && subtle.ConstantTimeCompare(sum[:], c.secret[:]) == 1
}

// public reports whether the client cannot authenticate.
func (c *client) public() bool { return c.method == methodNone }

// clients are all that the server knows.
type clients struct {
	most      int
	documents *documents
	named     map[string]*client
	arrivals  interface{ Allow() bool } // of clients that register

	mu       sync.Mutex
	enrolled map[string]*enrolment
}

type enrolment struct {
	client *client
	used   time.Time
}

func newClients(o Options) (*clients, error) {
	known := &clients{most: o.MaxClients, documents: newDocuments(o), named: map[string]*client{}, enrolled: map[string]*enrolment{}, arrivals: newLimiter()}
	for _, c := range o.Clients {
		made, err := c.client()
		if err != nil {
			return nil, fmt.Errorf("client %q: %w", c.ID, err)
		}
		if known.named[c.ID] != nil {
			return nil, fmt.Errorf("client %q: it is listed twice", c.ID)
		}
		known.named[c.ID] = made
	}
	return known, nil
}

func (c *Client) client() (*client, error) {
	made := &client{id: c.ID, name: c.Name, method: methodNone, keys: c.Keys, redirects: c.RedirectURIs, own: c.Scopes, asks: c.Introspect, resource: c.Exchange}
	switch {
	case c.ID == "":
		return nil, errors.New("it has no ID")
	case c.Secret != "" && c.Keys != nil:
		return nil, errors.New("it has a secret and keys; it can have one of the two")
	case c.Secret != "":
		made.method, made.secret = methodBasic, sha256.Sum256([]byte(c.Secret))
	case c.Keys != nil:
		made.method = methodKey
	case c.Scopes != nil || c.Introspect || c.Exchange != "":
		return nil, errors.New("scopes of its own, introspection and exchange need a secret or keys")
	}
	if made.name == "" {
		made.name = c.ID
	}
	for _, uri := range c.RedirectURIs {
		if err := checkRedirect(uri); err != nil {
			return nil, fmt.Errorf("redirect URI %q: %w", uri, err)
		}
	}
	return made, nil
}

var errUnknownClient = errors.New("this authorization server does not know the client_id; a server that was restarted has forgotten all registrations: log out in the program, and log in again")

// find returns a client by its client_id. If the client_id is a URL, it fetches
// the document there, unless it is cached.
func (c *clients) find(ctx context.Context, id string) (*client, error) {
	if known := c.named[id]; known != nil {
		return known, nil
	}
	if isDocument(id) {
		return c.documents.client(ctx, id)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.enrolled[id]
	if known == nil {
		return nil, errUnknownClient
	}
	known.used = time.Now()
	return known.client, nil
}

// needsFetch reports whether find may have to fetch a document.
func (c *clients) needsFetch(id string) bool { return c.named[id] == nil && isDocument(id) }

// enrol adds a client, and removes the least recently used one if there is no
// room.
func (c *clients) enrol(made *client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.enrolled) >= c.most {
		delete(c.enrolled, c.stalest())
	}
	c.enrolled[made.id] = &enrolment{made, time.Now()}
}

func (c *clients) stalest() (id string) {
	var since time.Time
	for other, e := range c.enrolled {
		if id == "" || e.used.Before(since) {
			id, since = other, e.used
		}
	}
	return id
}

// isDocument reports whether a client_id is the URL of a document.
//
// Spec: 2026-07-28 basic/authorization/client-registration#implementation-requirements.
func isDocument(id string) bool { return strings.HasPrefix(id, "https://") }
