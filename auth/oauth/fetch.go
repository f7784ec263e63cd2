package oauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"github.com/parley-mcp/parley/internal/safehttp"
	"github.com/parley-mcp/parley/internal/wire"
)

// errAbsent says that there is no metadata document at a URL.
var errAbsent = errors.New("no metadata document")

// fetch reads a metadata document into v. Servers that have none say so in
// several ways: with any 4xx status, or with a page for people. version is the
// protocol version for servers that expect it, or "".
func (c *Client) fetch(ctx context.Context, address, version string, v any) error {
	u, err := url.Parse(address)
	if err != nil {
		return errors.New("the URL of a metadata document is malformed")
	}
	if err := c.policy.Check(u); err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	if version != "" {
		req.Header.Set("MCP-Protocol-Version", version)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return requestError("metadata of "+originOf(u), err)
	}
	defer resp.Body.Close()
	body, err := c.read(resp.Body)
	switch {
	case err != nil:
		return requestError("metadata of "+originOf(u), err)
	case resp.StatusCode/100 == 4:
		return errAbsent
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("metadata of %s: status %d %s", originOf(u), resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	if err := wire.Members(body, func(string, []byte) error { return nil }); errors.Is(err, wire.ErrNotObject) {
		return errAbsent
	}
	if err := wire.Unmarshal(body, v); err != nil {
		return fmt.Errorf("the metadata document of %s is malformed", originOf(u))
	}
	return nil
}

// unreachable reports whether there was no response at all, so that another path
// of the same server would not respond either.
func unreachable(err error) bool {
	var network net.Error
	return errors.As(err, &network)
}

// read reads a body of at most the permitted size.
func (c *Client) read(body io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(body, c.opts.MaxBytes+1))
	if err == nil && int64(len(b)) > c.opts.MaxBytes {
		err = safehttp.ErrTooLarge
	}
	return b, err
}

// originOf returns the part of a URL that errors may show.
func originOf(u *url.URL) string { return (&url.URL{Scheme: u.Scheme, Host: u.Host}).String() }
