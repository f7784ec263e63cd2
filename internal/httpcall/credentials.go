package httpcall

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
)

// credentialed is implemented by the RoundTrippers that say which credentials they
// add to a request.
type credentialed interface {
	Credentials(ctx context.Context) (id string, known bool)
}

// Carried returns an identifier of the credentials that rt adds to a request with
// this context; "" means none. It is known for an *http.Transport, which adds none,
// and for a RoundTripper that has a method Credentials.
func Carried(ctx context.Context, rt http.RoundTripper) (id string, known bool) {
	switch rt := rt.(type) {
	case nil:
		return Carried(ctx, http.DefaultTransport)
	case *http.Transport:
		return "", true
	case credentialed:
		return rt.Credentials(ctx)
	}
	return "", false
}

// Credentials returns an identifier of the credentials of a request to u with these
// headers and this context, from which they cannot be computed; "" means that it has
// none. known is false if something on the way may add others.
func Credentials(ctx context.Context, c *http.Client, u *url.URL, header http.Header) (id string, known bool) {
	added, known := Carried(ctx, c.Transport)
	if !known {
		return "", false
	}
	own := []string{added, u.User.String(), header.Get("Authorization"), header.Get("Cookie")}
	if c.Jar != nil {
		for _, cookie := range c.Jar.Cookies(u) {
			own = append(own, cookie.String())
		}
	}
	if !some(own) {
		return "", true
	}
	// fmt writes a map in the order of its keys. Any header may be a credential.
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q", own, header))
	return hex.EncodeToString(sum[:]), true
}

func some(list []string) bool {
	for _, s := range list {
		if s != "" {
			return true
		}
	}
	return false
}
