package mutant

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
)

// carries reports whether a text is in the URL, the headers or the body of a
// request.
func (f *frame) carries(text string) bool {
	if f == nil {
		return false
	}
	if f.url != nil && strings.Contains(f.url.String(), text) || bytes.Contains(f.body, []byte(text)) {
		return true
	}
	for _, values := range f.header {
		if strings.Contains(strings.Join(values, "\n"), text) {
			return true
		}
	}
	return false
}

// document changes a body that is JSON.
func (e edit) document(resp *http.Response) {
	raw, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close() // another one takes its place
	if v, bad := peer.Decode(raw); err == nil && bad == nil {
		if e.verb == "member" {
			fresh, _ := peer.Decode([]byte(e.text)) // it was checked
			v = put(v, split(e.path), fresh)
		} else {
			v = remove(v, split(e.path))
		}
		raw = peer.Encode(v)
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	resp.Header.Del("Content-Length")
}

// location takes a parameter out of the URL that a response redirects to.
func (e edit) location(resp *http.Response) {
	u, err := url.Parse(resp.Header.Get("Location"))
	if err != nil {
		return
	}
	q := u.Query()
	q.Del(e.path)
	u.RawQuery = q.Encode()
	resp.Header.Set("Location", u.String())
}

// Name puts values in place of names, such as $token, in what the switches look
// for: what is known only when a peer runs.
func (m *Mutant) Name(values map[string]string) {
	for n := range m.Switches {
		if value, ok := values[strings.TrimPrefix(m.Switches[n].Carrying, "$")]; ok && strings.HasPrefix(m.Switches[n].Carrying, "$") {
			m.Switches[n].Carrying = value
		}
	}
}

// parameters changes those of a form, or else those of the URL.
func (o *outgoing) parameters(req *http.Request) {
	for _, e := range o.asked.address.params {
		text := &req.URL.RawQuery
		form := ""
		if len(o.bodies) > 0 && len(o.bodies[o.main]) > 0 {
			form = string(o.bodies[o.main])
			text = &form
		}
		q, err := url.ParseQuery(*text)
		if err != nil {
			continue
		}
		q.Set(e.path, e.text)
		if e.verb == "without-param" {
			q.Del(e.path)
		}
		*text = q.Encode()
		if form != "" {
			o.bodies[o.main] = []byte(form)
		}
	}
}
