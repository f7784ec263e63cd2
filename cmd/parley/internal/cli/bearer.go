package cli

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"os"
	"strings"
)

// bearer lets only requests through that have a token; "" lets all through.
//
// Spec: 2026-07-28 basic/authorization#token-requirements.
func bearer(token string, next http.Handler) http.Handler {
	if token == "" {
		return next
	}
	want := sha256.Sum256([]byte(token)) // of one length, so that nothing can be told from the time it takes
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(strings.TrimSpace(given)))
		if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a bearer token is needed", http.StatusUnauthorized)
			return
		}
		r = r.Clone(r.Context())
		r.Header.Del("Authorization") // nobody further in needs it
		next.ServeHTTP(w, r)
	})
}

// readBearer reads a token from the file that --bearer names.
func readBearer(flag string) (string, error) {
	file, ok := strings.CutPrefix(flag, "@")
	if !ok {
		return "", usagef("--bearer takes @FILE: other users of this machine could read it here")
	}
	content, err := os.ReadFile(file) //nolint:gosec // the user named it
	if err != nil {
		return "", usagef("--bearer: %v", err)
	}
	token := strings.TrimSpace(string(content))
	if len(token) < 16 || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", usagef("--bearer: %s does not hold a token: it must have at least 16 characters, and no spaces", file)
	}
	return token, nil
}
