package streamable

import (
	"net/http"

	"github.com/parley-mcp/parley/internal/httpserve"
)

// CORS lets web pages of the origins, as in Options.Origins, use what next serves: it
// answers the preflights of browsers and sets the headers of CORS on every response. A
// Handler does so itself for its Options.Origins. Put CORS around whatever else answers
// on its behalf: an auth.Guard, which a preflight without a token would not pass, and
// its metadata. It fails if an origin is malformed.
func CORS(origins []string, next http.Handler) (http.Handler, error) {
	g, err := httpserve.NewGuard(nil, origins)
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.CORS(w, r) {
			next.ServeHTTP(w, r)
		}
	}), nil
}
