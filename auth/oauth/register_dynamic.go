package oauth

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/safehttp"
	"github.com/parley-mcp/parley/internal/wire"
)

var isLoopback = safehttp.IsLoopback

// registrationRequest is client metadata (RFC 7591, section 2).
type registrationRequest struct {
	Name            string   `json:"client_name"`
	URI             string   `json:"client_uri,omitempty"`
	LogoURI         string   `json:"logo_uri,omitempty"`
	RedirectURIs    []string `json:"redirect_uris,omitempty"`
	GrantTypes      []string `json:"grant_types"`
	ResponseTypes   []string `json:"response_types,omitempty"`
	AuthMethod      string   `json:"token_endpoint_auth_method"`
	ApplicationType string   `json:"application_type"`
	Scope           string   `json:"scope,omitempty"`
	SoftwareID      string   `json:"software_id,omitempty"`
	SoftwareVersion string   `json:"software_version,omitempty"`
	DPoP            bool     `json:"dpop_bound_access_tokens,omitempty"`
}

// registrationRequest returns the metadata to register with.
//
// Spec: 2026-07-28 basic/authorization#refresh-tokens.
func (c *Client) registrationRequest(m *serverMetadata, redirect string) *registrationRequest {
	meta := c.opts.Metadata
	r := &registrationRequest{
		Name: meta.Name, URI: meta.URI, LogoURI: meta.LogoURI,
		AuthMethod: wantedMethod(m.AuthMethods), ApplicationType: c.applicationType(redirect),
		Scope: strings.Join(meta.Scopes, " "), SoftwareID: meta.SoftwareID, SoftwareVersion: meta.SoftwareVersion, DPoP: c.opts.DPoP,
	}
	if redirect == "" {
		r.GrantTypes = []string{grantJWT}
		return r
	}
	r.RedirectURIs = []string{redirect}
	r.GrantTypes = []string{grantCode, grantRefresh}
	r.ResponseTypes = []string{"code"}
	return r
}

// wantedMethod prefers having no secret: a program that is distributed to many
// cannot keep one.
func wantedMethod(supported []string) string {
	for _, m := range []string{AuthNone, AuthBasic, AuthPost} {
		if slices.Contains(supported, m) {
			return m
		}
	}
	return AuthNone
}

// registrationResponse is the result of a registration (RFC 7591, section 3.2).
type registrationResponse struct {
	ClientID      string   `json:"client_id"`
	Secret        string   `json:"client_secret"`
	SecretExpires float64  `json:"client_secret_expires_at"`
	AuthMethod    string   `json:"token_endpoint_auth_method"`
	RedirectURIs  []string `json:"redirect_uris"`
}

// errorResponse is an error of the server (RFC 7591, section 3.2.2).
type errorResponse struct {
	Code        string `json:"error"`
	Description string `json:"error_description"`
}

func (c *Client) registerNow(ctx context.Context, m *serverMetadata, redirect string) (dynamicClient, error) {
	var none dynamicClient
	asked := c.registrationRequest(m, redirect)
	body, err := wire.Marshal(asked)
	if err != nil {
		return none, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.RegistrationEndpoint, bytes.NewReader(body))
	if err != nil {
		return none, requestError("registration", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return none, requestError("registration with "+m.Issuer, err)
	}
	defer resp.Body.Close()
	answer, err := c.read(resp.Body)
	if err != nil {
		return none, requestError("registration with "+m.Issuer, err)
	}
	if resp.StatusCode/100 != 2 {
		var e errorResponse
		_ = wire.Unmarshal(answer, &e) // the status is enough without it
		return none, &ResponseError{"registration", m.Issuer, resp.StatusCode, plain(e.Code), plain(e.Description)}
	}
	made, err := readRegistration(answer, asked, redirect)
	if err != nil {
		return none, fmt.Errorf("registration with %s: %w", m.Issuer, err)
	}
	c.opts.Logger.InfoContext(ctx, "registered with the authorization server", "issuer", m.Issuer)
	return made, nil
}

// readRegistration reads the response. Members that it lacks are as requested.
func readRegistration(answer []byte, asked *registrationRequest, redirect string) (dynamicClient, error) {
	var r registrationResponse
	if err := wire.Unmarshal(answer, &r); err != nil || r.ClientID == "" {
		return dynamicClient{}, fmt.Errorf("the answer holds no client ID")
	}
	s := dynamicClient{ClientID: r.ClientID, Secret: r.Secret, Method: r.AuthMethod, Redirects: []string{}}
	if redirect != "" {
		s.Redirects = []string{redirect}
	}
	if len(r.RedirectURIs) > 0 && redirect != "" && !slices.Contains(r.RedirectURIs, redirect) {
		return s, fmt.Errorf("it is for other redirect URIs than %q", redirect)
	}
	if r.SecretExpires > 0 {
		s.Expires = time.Unix(int64(r.SecretExpires), 0)
	}
	switch {
	case s.Method != "":
	case s.Secret == "":
		s.Method = AuthNone
	case asked.AuthMethod != AuthNone:
		s.Method = asked.AuthMethod
	default:
		s.Method = AuthBasic
	}
	client := s.registration()
	return s, client.checkMethod()
}
