package auth

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-mcp/parley/internal/wellknown"
	"github.com/parley-mcp/parley/internal/wire"
)

// serverMetadata is what a resource server needs of an authorization server's
// metadata (RFC 8414, section 2).
type serverMetadata struct {
	Issuer        string `json:"issuer"`
	Keys          string `json:"jwks_uri"`
	Introspection string `json:"introspection_endpoint"`
	whole         []byte
}

// discover finds the metadata of an issuer. A document of another issuer is
// rejected.
//
// Spec: 2026-07-28 basic/authorization/authorization-server-discovery#authorization-server-metadata-discovery.
func (f *fetcher) discover(ctx context.Context, issuer string) (*serverMetadata, error) {
	var failed []error
	for _, at := range wellknown.Issuers(f.issuer) {
		m, err := f.metadata(ctx, at, issuer)
		if err == nil {
			return m, nil
		}
		failed = append(failed, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, fmt.Errorf("no metadata of the issuer %s: %w", issuer, errors.Join(failed...))
}

func (f *fetcher) metadata(ctx context.Context, at, issuer string) (*serverMetadata, error) {
	a, err := f.get(ctx, at)
	if err != nil {
		return nil, err
	}
	m := &serverMetadata{whole: a.body}
	if err := wire.Unmarshal(a.body, m); err != nil {
		return nil, fmt.Errorf("%s is malformed: %w", at, err)
	}
	if m.Issuer != issuer {
		return nil, fmt.Errorf("%s is the metadata of another issuer, %q", at, cut(m.Issuer))
	}
	return m, nil
}

// cut bounds foreign text in an error.
func cut(s string) string {
	if len(s) > 200 {
		return s[:200] + "..."
	}
	return s
}
