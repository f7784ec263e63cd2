package card

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/httpcall"
)

// Resolve returns the URL of an endpoint, and the headers to send to it, with the values of
// its variables and headers, by name: a header is looked up under its name, and the
// placeholders in its value under theirs. Where there is no value, the default counts. It
// fails with a *MissingError if a value is missing that is needed, and if a value is not what
// the card asks for. Other values are ignored.
//
// A card is the word of somebody else: do not send it secrets that are meant for another
// server.
func (r *Remote) Resolve(values map[string]string) (endpoint string, header http.Header, err error) {
	if endpoint, err = fill(r.URL, r.Variables, values); err != nil {
		return "", nil, err
	}
	u, err := httpcall.ParseURL(endpoint)
	if err != nil {
		return "", nil, err
	}
	if u.User != nil {
		return "", nil, fmt.Errorf("the URL of the endpoint holds a user name: %s", u.Redacted())
	}
	header = http.Header{}
	for i := range r.Headers {
		h := &r.Headers[i]
		value, err := h.resolve(values)
		if err != nil {
			return "", nil, err
		}
		if value != "" {
			header.Set(h.Name, value)
		}
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}).String(), header, nil
}

// MissingError says that a value is needed to connect to an endpoint.
type MissingError struct {
	// Name is that of the variable or the header.
	Name string
	// Input describes the value.
	Input Input
}

// Error names the value, and what the card says about it.
func (e *MissingError) Error() string {
	text := fmt.Sprintf("the endpoint needs a value for %.100q", e.Name)
	if e.Input.Description != "" {
		text += fmt.Sprintf(": %.300s", e.Input.Description)
	}
	return text
}

// ofClients reports whether a card has no say in a header: it is one of the connection, or
// of the protocol.
func ofClients(header string) bool {
	name := strings.ToLower(header)
	return strings.HasPrefix(name, "mcp-") || slices.Contains([]string{
		"host", "content-length", "connection", "transfer-encoding", "te", "trailer", "upgrade", "accept", "content-type",
	}, name)
}

func (h *Header) resolve(values map[string]string) (string, error) {
	if !headerName.MatchString(h.Name) || ofClients(h.Name) {
		return "", fmt.Errorf("the card sets the header %.100q, which is not up to it", h.Name)
	}
	value, err := "", error(nil)
	if h.Value != "" {
		value, err = fill(h.Value, h.Variables, values)
	} else {
		value, err = h.pick(h.Name, values)
	}
	if strings.ContainsAny(value, "\r\n\x00") {
		return "", fmt.Errorf("the value of the header %.100q has a line break", h.Name)
	}
	return value, err
}

// fill replaces the placeholders in a text.
func fill(text string, variables map[string]Input, values map[string]string) (string, error) {
	var fault error
	filled := placeholder.ReplaceAllStringFunc(text, func(m string) string {
		name := m[1 : len(m)-1]
		in := variables[name]
		in.Required = true // nothing can stand in its place
		value, err := in.pick(name, values)
		if err != nil && fault == nil {
			fault = err
		}
		return value
	})
	return filled, fault
}

// pick returns the value of an input; "" if it has none and needs none.
func (in *Input) pick(name string, values map[string]string) (string, error) {
	value := first(in.Value, values[name], in.Default)
	switch {
	case value == "" && in.Required:
		return "", &MissingError{Name: name, Input: *in}
	case value == "":
		return "", nil
	case !in.chosen(value):
		return "", fmt.Errorf("the value for %.100q is none of the choices: %.500s", name, strings.Join(in.Choices, ", "))
	case !in.formed(value):
		return "", fmt.Errorf("the value for %.100q is no %s", name, in.Format)
	}
	return value, nil
}
