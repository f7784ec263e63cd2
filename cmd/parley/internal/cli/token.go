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
	return readToken(token, from)
}

// readToken returns a token that was given, or that is in a file, if a flag names
// one with @.
func readToken(given, from string) (string, error) {
	token := given
	if file, ok := strings.CutPrefix(given, "@"); ok && strings.HasPrefix(from, "--") {
		content, err := os.ReadFile(file) //nolint:gosec // the user named it
		if err != nil {
			return "", usagef("%s: %v", from, err)
		}
		token, from = string(content), file
	}
	token = strings.TrimSpace(token)
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", usagef("%s does not hold a token: it has spaces, or characters that no header can carry", from)
	}
	return token, nil
}
