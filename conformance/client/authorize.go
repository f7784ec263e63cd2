package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/parley-mcp/parley/auth/oauth"
)

// given is what the suite passes along for the scenarios of authorization.
type given struct {
	ClientID      string       `json:"client_id"`
	Secret        oauth.Secret `json:"client_secret"`
	Issuer        string       `json:"issuer"`
	Key           string       `json:"private_key_pem"`
	Algorithm     string       `json:"signing_algorithm"`
	IDPClientID   string       `json:"idp_client_id"`
	IDPToken      oauth.Secret `json:"idp_id_token"`
	IDPIssuer     string       `json:"idp_issuer"`
	TokenEndpoint string       `json:"idp_token_endpoint"`
	JWT           oauth.Secret `json:"valid_jwt"`
}

func readGiven() (*given, error) {
	var g given
	if s := os.Getenv("MCP_CONFORMANCE_CONTEXT"); s != "" {
		if err := json.Unmarshal([]byte(s), &g); err != nil {
			return nil, fmt.Errorf("MCP_CONFORMANCE_CONTEXT: %w", err)
		}
	}
	return &g, nil
}

// login returns the OAuth client that authorizes the client in a scenario.
func login(scenario, server string, logger *slog.Logger) (*oauth.Client, error) {
	g, err := readGiven()
	if err != nil {
		return nil, err
	}
	grant, err := grantFor(scenario, g)
	if err != nil {
		return nil, err
	}
	o := oauth.Options{
		URL: server, Grant: grant, Logger: logger,
		ClientMetadataURL: "https://conformance-test.local/client-metadata.json",
		Metadata:          oauth.Metadata{Name: "Parley conformance client"},
		DPoP:              strings.HasPrefix(scenario, "auth/dpop"),
	}
	if scenario == "auth/pre-registration" {
		o.PreRegistered = map[string]oauth.Credentials{g.Issuer: {ClientID: g.ClientID, Secret: g.Secret}}
	}
	return oauth.New(&o)
}

// grantFor returns the grant that a scenario is about. Where the suite does not
// say which authorization server its credentials are for, there is only one
// server.
func grantFor(scenario string, g *given) (oauth.Grant, error) {
	client := oauth.Credentials{ClientID: g.ClientID, Secret: g.Secret}
	switch scenario {
	case "auth/client-credentials-basic":
		return &oauth.ClientCredentials{Issuer: oauth.AnyIssuer, Client: client}, nil
	case "auth/client-credentials-jwt":
		key, err := oauth.ParseSigningKey(g.Algorithm, []byte(g.Key), "")
		client.Key = key
		return &oauth.ClientCredentials{Issuer: oauth.AnyIssuer, Client: client}, err
	case "auth/enterprise-managed-authorization":
		return &oauth.EnterpriseManaged{
			TokenEndpoint: g.TokenEndpoint, Provider: oauth.Credentials{ClientID: g.IDPClientID}, ProviderIssuer: g.IDPIssuer,
			Subject: func(context.Context) (oauth.Secret, string, error) { return g.IDPToken, oauth.TokenTypeID, nil },
			Issuer:  oauth.AnyIssuer, Client: client,
		}, nil
	case "auth/wif-jwt-bearer":
		return &oauth.WorkloadIdentity{
			Issuer:    oauth.AnyIssuer,
			Assertion: func(context.Context, oauth.Audience) (oauth.Secret, error) { return g.JWT, nil },
		}, nil
	}
	return &oauth.AuthorizationCode{Receiver: visitor{}}, nil
}

// visitor is the user and the browser in one: it opens the page, and takes the
// answer from the redirect.
type visitor struct{}

// Listen implements oauth.Receiver.
func (visitor) Listen(context.Context, []string) (oauth.Reception, error) { return visitor{}, nil }

// RedirectURI implements oauth.Reception.
func (visitor) RedirectURI() string { return "http://localhost:3000/callback" }

// Close implements oauth.Reception.
func (visitor) Close() error { return nil }

// Receive implements oauth.Reception.
func (visitor) Receive(ctx context.Context, r oauth.AuthorizationRequest) (url.Values, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL, nil)
	if err != nil {
		return nil, err
	}
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer browser.CloseIdleConnections()
	resp, err := browser.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	to, err := resp.Location()
	if err != nil {
		return nil, fmt.Errorf("the authorization page answered %d without a redirect: %w", resp.StatusCode, err)
	}
	return to.Query(), nil
}

// refused inverts the outcome in scenarios where the client has to refuse:
// there, only going on is an error.
func refused(scenario string, err error) error {
	switch scenario {
	case "auth/iss-supported-missing", "auth/iss-wrong-issuer", "auth/iss-unexpected", "auth/iss-normalized",
		"auth/metadata-issuer-mismatch", "auth/resource-mismatch", "auth/scope-retry-limit":
		if err == nil {
			return errors.New("the client went on, and should have refused")
		}
		return nil
	}
	return err
}
