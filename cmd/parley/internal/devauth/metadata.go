package devauth

import (
	"net/http"

	"github.com/parley-mcp/parley/internal/dpop"
)

// metadata is the document of RFC 8414. Clients that look for it at the path of
// OpenID Connect get the same one.
//
// Spec: 2026-07-28 basic/authorization/authorization-server-discovery#authorization-server-metadata-discovery.
type metadata struct {
	Issuer                 string   `json:"issuer"`
	Authorization          string   `json:"authorization_endpoint"`
	Token                  string   `json:"token_endpoint"`
	Registration           string   `json:"registration_endpoint"`
	Revocation             string   `json:"revocation_endpoint"`
	Introspection          string   `json:"introspection_endpoint"`
	Keys                   string   `json:"jwks_uri"`
	Scopes                 []string `json:"scopes_supported"`
	ResponseTypes          []string `json:"response_types_supported"`
	ResponseModes          []string `json:"response_modes_supported"`
	Grants                 []string `json:"grant_types_supported"`
	Prompts                []string `json:"prompt_values_supported"`
	Challenges             []string `json:"code_challenge_methods_supported"`
	TokenMethods           []string `json:"token_endpoint_auth_methods_supported"`
	TokenAlgorithms        []string `json:"token_endpoint_auth_signing_alg_values_supported"`
	RevocationMethods      []string `json:"revocation_endpoint_auth_methods_supported"`
	RevocationAlgorithms   []string `json:"revocation_endpoint_auth_signing_alg_values_supported"`
	IntrospectionMethods   []string `json:"introspection_endpoint_auth_methods_supported"`
	IntrospectionAlgorithm []string `json:"introspection_endpoint_auth_signing_alg_values_supported"`
	ProofAlgorithms        []string `json:"dpop_signing_alg_values_supported"`
	Resources              []string `json:"protected_resources"`
	// Spec: 2026-07-28 basic/authorization#authorization-response-validation.
	IssuerInResponse bool `json:"authorization_response_iss_parameter_supported"`
	// Spec: 2026-07-28 basic/authorization/client-registration#advertising-cimd-support.
	Documents bool `json:"client_id_metadata_document_supported"`
}

func (s *Server) describeSelf() metadata {
	return metadata{
		Issuer:                 s.opts.Issuer,
		Authorization:          s.at(pathAuthorize),
		Token:                  s.at(pathToken),
		Registration:           s.at(pathRegister),
		Revocation:             s.at(pathRevoke),
		Introspection:          s.at(pathIntrospect),
		Keys:                   s.at(pathKeys),
		Scopes:                 append(s.scopeNames(), offlineAccess),
		ResponseTypes:          []string{"code"},
		ResponseModes:          []string{"query"},
		Grants:                 []string{grantCode, grantRefresh, grantClient, grantExchange},
		Prompts:                []string{"none", "login", "consent"},
		Challenges:             []string{"S256"},
		TokenMethods:           []string{methodNone, methodBasic, methodPost, methodKey},
		TokenAlgorithms:        assertionAlgorithms(),
		RevocationMethods:      []string{methodNone, methodBasic, methodPost, methodKey},
		RevocationAlgorithms:   assertionAlgorithms(),
		IntrospectionMethods:   []string{methodBasic, methodPost, methodKey},
		IntrospectionAlgorithm: assertionAlgorithms(),
		ProofAlgorithms:        dpop.Algorithms(),
		Resources:              s.opts.Resources,
		IssuerInResponse:       true,
		Documents:              true,
	}
}

func (s *Server) metadata(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "max-age=60")
	writeJSON(w, http.StatusOK, s.describeSelf())
}

func (s *Server) jwks(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "max-age=60")
	writeJSON(w, http.StatusOK, s.signer.document)
}
