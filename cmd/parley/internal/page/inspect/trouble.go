package inspect

import (
	"net/http"

	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
)

// explain says why there is no connection, and what can be done about it.
func (c *Connection) explain(err error) *web.Error {
	return web.Errorf(http.StatusBadGateway, "failed", "%v", err)
}
