package devauth

import (
	"net/http"

	"github.com/parley-mcp/parley/internal/wire"
)

// maxForm bounds what is posted, in bytes.
const maxForm = 64 << 10

// oauthError is the error response of an endpoint: one of the codes of OAuth,
// and a description for the developer of the client.
type oauthError struct {
	status      int
	code        string
	description string
}

func fail(code, description string) *oauthError {
	return &oauthError{http.StatusBadRequest, code, description}
}

func (e *oauthError) write(w http.ResponseWriter) {
	writeSecret(w, e.status, struct {
		Code        string `json:"error"`
		Description string `json:"error_description"`
	}{e.code, e.description})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := wire.Marshal(v)
	if err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body) //nolint:gosec // its Content-Type is JSON; a client that is gone does not matter
}

// writeSecret is writeJSON for responses that no cache may keep (RFC 6749,
// section 5.1).
func writeSecret(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Pragma", "no-cache")
	writeJSON(w, status, v)
}

// public lets pages of every origin use an endpoint, which takes one method: it
// ignores cookies, so a page gains nothing from its user's login.
func public(method string, serve http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Expose-Headers", "DPoP-Nonce, WWW-Authenticate, Retry-After")
		switch {
		case r.Method == http.MethodOptions:
			h.Set("Access-Control-Allow-Methods", method)
			h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, DPoP, MCP-Protocol-Version")
			h.Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
		case r.Method != method && (r.Method != http.MethodHead || method != http.MethodGet):
			h.Set("Allow", method+", OPTIONS")
			http.Error(w, "this endpoint takes "+method, http.StatusMethodNotAllowed)
		default:
			serve(w, r)
		}
	})
}

// form reads what was posted. A parameter that occurs twice is an error, except
// for those named (RFC 6749, section 3.2).
func form(w http.ResponseWriter, r *http.Request, repeatable ...string) *oauthError {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return fail("invalid_request", "the body is not a form of at most 64 KiB")
	}
	return once(r.PostForm, repeatable...)
}
