package devauth

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/go-jose/go-jose/v4"
)

// software is a client's description of itself, at registration (RFC 7591) or
// in its document.
type software struct {
	ID           string              `json:"client_id,omitzero"`
	Name         string              `json:"client_name,omitzero"`
	RedirectURIs []string            `json:"redirect_uris,omitzero"`
	Method       string              `json:"token_endpoint_auth_method,omitzero"`
	Grants       []string            `json:"grant_types,omitzero"`
	Responses    []string            `json:"response_types,omitzero"`
	Keys         *jose.JSONWebKeySet `json:"jwks,omitzero"`
	KeysURL      string              `json:"jwks_uri,omitzero"`
	Bound        bool                `json:"dpop_bound_access_tokens,omitzero"`
}

const (
	maxRedirects = 20
	maxName      = 80 // runes
)

// check returns what is wrong with it, and fills in what the server uses for
// members that are missing or not supported.
func (d *software) check() *oauthError {
	if len(d.RedirectURIs) == 0 || len(d.RedirectURIs) > maxRedirects {
		return fail("invalid_redirect_uri", fmt.Sprintf("redirect_uris has to hold 1 to %d URIs", maxRedirects))
	}
	for _, uri := range d.RedirectURIs {
		if err := checkRedirect(uri); err != nil {
			return fail("invalid_redirect_uri", err.Error())
		}
	}
	d.Grants = both([]string{grantCode, grantRefresh}, append(d.Grants, grantCode))
	if len(d.Responses) > 0 && !slices.Contains(d.Responses, "code") {
		return fail("invalid_client_metadata", "response_types has to hold code")
	}
	d.Responses = []string{"code"}
	d.Name = plain(d.Name)
	if err := d.checkKeys(); err != nil {
		return fail("invalid_client_metadata", err.Error())
	}
	return nil
}

func (d *software) checkKeys() error {
	switch d.Method {
	case methodNone, methodBasic, methodPost:
		d.Keys, d.KeysURL = nil, ""
		return nil
	case methodKey:
	default:
		return errors.New("token_endpoint_auth_method has to be none, client_secret_basic, client_secret_post or private_key_jwt")
	}
	if (d.Keys == nil) == (d.KeysURL == "") {
		return errors.New("private_key_jwt needs one of jwks and jwks_uri")
	}
	if d.Keys != nil && slices.ContainsFunc(d.Keys.Keys, func(k jose.JSONWebKey) bool { return !k.IsPublic() || !k.Valid() }) {
		return errors.New("jwks has to hold public keys only")
	}
	if u, err := url.Parse(d.KeysURL); d.KeysURL != "" && (err != nil || u.Scheme != "https") {
		return errors.New("jwks_uri has to be an https URL")
	}
	return nil
}

func (d *software) client(k kind) *client {
	name := d.Name
	if name == "" {
		name = "A program without a name"
	}
	return &client{id: d.ID, name: name, kind: k, method: d.Method, keys: d.Keys, keysURL: d.KeysURL, redirects: d.RedirectURIs, renews: slices.Contains(d.Grants, grantRefresh), bound: d.Bound}
}

// plain removes from a name what could make it look like something else on a
// page: line breaks, other control characters, and marks that change the
// direction of text.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp):
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > maxName {
		s = string(runes[:maxName]) + "…"
	}
	return s
}
