package oauth

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"net/url"
)

// check returns the code of an authorization response, if the response is the
// answer to this request and comes from the server that the request was sent
// to. The contents of any other response are not revealed.
//
// Spec: 2026-07-28 basic/authorization#authorization-response-validation.
// Spec: 2026-07-28 basic/authorization/security-considerations#open-redirection.
func (p *pending) check(answer url.Values) (string, error) {
	for _, name := range []string{"code", "state", "iss", "error"} {
		if len(answer[name]) > 1 {
			return "", errors.New("the authorization response says something twice, and was discarded")
		}
	}
	if subtle.ConstantTimeCompare([]byte(answer.Get("state")), []byte(p.state)) != 1 {
		return "", errors.New("the authorization response is not the answer to this request (its state differs), and was discarded")
	}
	if err := p.checkIssuer(answer); err != nil {
		return "", err
	}
	if answer.Has("error") {
		return "", &ResponseError{Step: "authorization", Issuer: p.issuer, Code: plain(answer.Get("error")), Description: plain(answer.Get("error_description"), p.state)}
	}
	if answer.Get("code") == "" {
		return "", fmt.Errorf("the authorization response of %s holds no code", p.issuer)
	}
	return answer.Get("code"), nil
}

// checkIssuer compares exactly, by the table of the page.
func (p *pending) checkIssuer(answer url.Values) error {
	switch {
	case answer.Has("iss") && answer.Get("iss") != p.issuer:
		return fmt.Errorf("the authorization response is not from %s, and was discarded", p.issuer)
	case !answer.Has("iss") && p.issRequired:
		return fmt.Errorf("the authorization response does not say that it is from %s (iss), as that server's do, and was discarded", p.issuer)
	}
	return nil
}
