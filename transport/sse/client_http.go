package sse

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/parley-mcp/parley/mcp"
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

// Is makes an HTTPError match mcp.ErrUnauthorized if its status is 401, and
// mcp.ErrUnavailable if its status says nothing about the request, which may be
// repeated later: 408, 425, 429, or 500 and above.
func (e *HTTPError) Is(target error) bool {
	switch target {
	case mcp.ErrUnauthorized:
		return e.Status == http.StatusUnauthorized
	case mcp.ErrUnavailable:
		switch e.Status {
		case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
			return true
		}
		return e.Status >= http.StatusInternalServerError
	}
	return false
}

func newHTTPError(resp *http.Response) *HTTPError {
	head, _ := io.ReadAll(io.LimitReader(resp.Body, 512)) // as much of it as can be read
	return &HTTPError{
		Method: resp.Request.Method, URL: resp.Request.URL.Redacted(),
		Status: resp.StatusCode, Header: resp.Header, Body: string(head),
	}
}
