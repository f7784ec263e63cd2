package cli

import (
	"os"
	"strings"
)

// tokenVariable is the variable of the environment that holds an access token.
const tokenVariable = "PARLEY_TOKEN" //nolint:gosec // a name, not a secret

// hasOwnCredentials reports whether the user named credentials, which go before
// those of a login.
func (a *app) hasOwnCredentials() bool {
	token, _ := a.token() // it has been read before
	header, _ := a.flags.header()
	return token != "" || header.Get("Authorization") != ""
}

// token returns the access token that the user named, or "".
func (a *app) token() (string, error) {
	token, from := a.flags.token, "--token"
	if token == "" {
		token, _ = a.io.LookupEnv(tokenVariable)
		from = tokenVariable
	}
	if file, ok := strings.CutPrefix(token, "@"); ok && a.flags.token != "" {
		content, err := os.ReadFile(file) //nolint:gosec // the user named it
		if err != nil {
			return "", usagef("--token: %v", err)
		}
		token, from = string(content), file
	}
	token = strings.TrimSpace(token)
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", usagef("%s does not hold a token: it has spaces, or characters that no header can carry", from)
	}
	return token, nil
}
