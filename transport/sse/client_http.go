package sse

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

// HTTPError says that a server answered a request with a status that is no
// success, and without a message of the protocol that would say more.
type HTTPError struct {
	// Method and URL are what was asked; the URL has no password.
	Method, URL string
	// Status is the status code, for example 401.
	Status int
	// Header is the header of the answer: WWW-Authenticate says what
	// credentials a 401 or a 403 wants, Retry-After when to come back.
	Header http.Header
	// Body is the beginning of the body, at most 512 bytes.
	Body string
}

// Error names the request, the status, and the first words of the body.
func (e *HTTPError) Error() string {
	s := fmt.Sprintf("%s %q: the server answered %d %s", e.Method, e.URL, e.Status, http.StatusText(e.Status))
	if words := strings.TrimSpace(e.Body); words != "" {
		s += fmt.Sprintf(": %q", words)
	}
	if e.Status == http.StatusUnauthorized {
		s += "; it wants credentials, which go into the header Authorization"
	}
	return s
}

func newHTTPError(resp *http.Response) *HTTPError {
	head, _ := io.ReadAll(io.LimitReader(resp.Body, 512)) // what there is of it
	return &HTTPError{
		Method: resp.Request.Method, URL: resp.Request.URL.Redacted(),
		Status: resp.StatusCode, Header: resp.Header, Body: string(head),
	}
}
