package sse

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

// HTTPError says that a server answered an HTTP request with a status that is not
// a success, and without an error of the protocol in the body.
type HTTPError struct {
	// Method and URL are those of the request, the URL without its password.
	Method, URL string
	// Status is the status code, for example 401.
	Status int
	// Header is the header of the response: WWW-Authenticate says which
	// credentials a 401 or a 403 requires, Retry-After when to try again.
	Header http.Header
	// Body is the beginning of the body, at most 512 bytes.
	Body string
}

// Error names the request and the status, and quotes the beginning of the body.
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
	head, _ := io.ReadAll(io.LimitReader(resp.Body, 512)) // as much of it as can be read
	return &HTTPError{
		Method: resp.Request.Method, URL: resp.Request.URL.Redacted(),
		Status: resp.StatusCode, Header: resp.Header, Body: string(head),
	}
}
