package server

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/parley-mcp/parley/internal/mirror"
	"github.com/parley-mcp/parley/internal/schema"
)

// checkRange refuses integers that not every reader of the header would read as the
// same number. The arguments have been validated otherwise.
//
// Spec: 2026-07-28 server/tools#x-mcp-header.
func (t *tool) checkRange(args json.RawMessage) error {
	for _, b := range t.headers {
		value, given := mirror.Argument(args, b.Path)
		if b.Type != "integer" || !given {
			continue
		}
		if _, ok := schema.Mirrored(string(value)); !ok {
			return fmt.Errorf("%q: it is mirrored in a header, so it must be from %d to %d", strings.Join(b.Path, "."), -schema.MaxMirrored, schema.MaxMirrored)
		}
	}
	return nil
}
