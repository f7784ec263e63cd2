package httpserve

import (
	"fmt"
	"net/http"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/mcp"
)

// FieldVersion is the header that names the revision of a request. In the canonical
// form of an http.Header it is KeyVersion.
const (
	FieldVersion = "MCP-Protocol-Version"
	KeyVersion   = "Mcp-Protocol-Version"
)

// CheckVersion returns nil if the version header of a request names a revision with
// sessions that is allowed, or is absent, as with older clients; or else what is
// wrong with it.
//
// Spec: 2025-11-25 basic/transports#protocol-version-header.
func CheckVersion(r *http.Request, allowed []mcp.Revision) error {
	values := r.Header[KeyVersion]
	if len(values) == 0 || len(values) == 1 && (values[0] == "" || offers(allowed, values[0])) {
		return nil
	}
	return fmt.Errorf("%s %q is not a revision of a session here", FieldVersion, values)
}

func offers(allowed []mcp.Revision, version string) bool {
	v, ok := mcp.ParseRevision(version)
	return ok && !era.StatelessRevision(v) && revision.Permits(allowed, v)
}
