package oauth

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"golang.org/x/oauth2"
)

// ResponseError is an error that an authorization server returned.
type ResponseError struct {
	// Step is what was requested: "authorization", "token", "refresh",
	// "registration", "token exchange" or "revocation".
	Step string
	// Issuer is the authorization server.
	Issuer string
	// Status is the status of the HTTP response, or 0.
	Status int
	// Code is the error code, for example "access_denied"; "" if there is none.
	Code string
	// Description is the server's explanation, for people.
	Description string
}

// Error returns all of it.
func (e *ResponseError) Error() string {
	s := fmt.Sprintf("%s: %s refused", e.Step, e.Issuer)
	switch {
	case e.Code == "" && e.Status != 0:
		s += fmt.Sprintf(" with status %d %s", e.Status, http.StatusText(e.Status))
	case e.Code != "":
		s += ": " + e.Code
	}
	if e.Description != "" {
		s += " (" + e.Description + ")"
	}
	return s
}

// isFinal reports whether an error is a refusal by an authorization server that
// the same request would meet again.
func isFinal(err error) bool {
	var r *ResponseError
	return errors.As(err, &r) && (r.Code != "" || r.Status/100 == 4) && r.Status/100 != 5 && r.Status != http.StatusTooManyRequests &&
		r.Code != "temporarily_unavailable" && r.Code != "server_error"
}

// requestError describes a failed request without its URL, whose query could
// hold anything.
func requestError(what string, err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return fmt.Errorf("%s: %w", what, err)
}

// tokenError converts an error of package oauth2, which contains the whole
// response.
func tokenError(step, issuer string, err error, secrets []string) error {
	var r *oauth2.RetrieveError
	if !errors.As(err, &r) {
		var u *url.Error
		if errors.As(err, &u) {
			return requestError(step+" at "+issuer, err)
		}
		return fmt.Errorf("%s: the answer of %s is not a token response", step, issuer)
	}
	return &ResponseError{step, issuer, r.Response.StatusCode, plain(r.ErrorCode, secrets...), plain(r.ErrorDescription, secrets...)}
}
