package inspect

import (
	"encoding/json"
	"errors"
	"net/http"
	"unicode/utf8"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// skillPart opens skills, with the checks that a host makes.
type skillPart struct{ s *Server }

func (skillPart) prepare(*Connection, *client.Options) {}
func (skillPart) connected(*Connection)                {}
func (skillPart) ended(*Connection)                    {}

func (p skillPart) routes(api *web.API) {
	api.Handle("GET /connections/{c}/skills/entry", onConnection(p.s, p.entry))
	api.Handle("GET /connections/{c}/skills/file", onConnection(p.s, p.file))
	api.Handle("GET /connections/{c}/skills/check", onConnection(p.s, p.check))
	api.Handle("GET /connections/{c}/skills/directory", onConnection(p.s, p.directory))
}

// checked is what came of a check: that of an entry, or of a file.
type checked struct {
	OK    bool              `json:"ok"`
	Check client.SkillCheck `json:"check,omitempty"` // that failed
	File  string            `json:"file,omitempty"`
	Why   string            `json:"why,omitempty"`
}

// verdict says what came of a check. Errors of other kinds are returned: then nothing was
// checked.
func verdict(file string, err error) (checked, error) {
	if err == nil {
		return checked{OK: true, File: file}, nil
	}
	if wrong, ok := errors.AsType[*client.SkillError](err); ok {
		if wrong.File != "" {
			file = wrong.File
		}
		return checked{Check: wrong.Check, File: file, Why: wrong.Err.Error()}, nil
	}
	return checked{}, refused(err)
}

// open gets what the server says of the skill that a request names, and holds it. The
// skill is nil if it does not pass its checks.
func (skillPart) open(c *Connection, r *web.Request) (*client.Skill, *mcp.Skill, checked, error) {
	uri := r.URL.Query().Get("uri")
	if uri == "" {
		return nil, nil, checked{}, &web.Error{Status: http.StatusBadRequest, Code: "no_uri", Field: "uri", Message: "uri is missing: it is that of the skill's SKILL.md"}
	}
	cl, err := c.live()
	if err != nil {
		return nil, nil, checked{}, err
	}
	var opts []client.CallOption
	if r.URL.Query().Get("fresh") != "" {
		opts = append(opts, client.WithFresh())
	}
	entry, err := cl.GetSkill(r.Context(), uri, opts...)
	if err != nil {
		return nil, nil, checked{}, refused(err)
	}
	held, err := cl.HoldSkill(c.ID, entry, nil)
	result, err := verdict("", err)
	return held, entry, result, err
}

// entry shows what a server says of a skill.
func (p skillPart) entry(c *Connection, r *web.Request) (any, error) {
	held, entry, result, err := p.open(c, r)
	if err != nil {
		return nil, err
	}
	raw, err := wire.Marshal(entry)
	if err != nil {
		return nil, err
	}
	shown := struct {
		Entry    json.RawMessage `json:"entry"`
		Check    checked         `json:"check"`
		Approval string          `json:"approval,omitempty"`
	}{Entry: raw, Check: result}
	if held != nil {
		shown.Approval, _ = held.Approval() // a dynamic skill has none
	}
	return shown, nil
}

// file shows a file of a skill, if it passes its checks.
func (p skillPart) file(c *Connection, r *web.Request) (any, error) {
	name := r.URL.Query().Get("file")
	held, _, result, err := p.open(c, r)
	shown := struct {
		Check checked `json:"check"`
		Text  *string `json:"text,omitempty"`
		Blob  []byte  `json:"blob,omitempty"`
		Size  int     `json:"size"`
	}{Check: result}
	if err != nil || held == nil {
		return shown, err
	}
	data, err := held.Read(r.Context(), name)
	if shown.Check, err = verdict(name, err); err != nil || !shown.Check.OK {
		return shown, err
	}
	shown.Size = len(data)
	if utf8.Valid(data) {
		text := string(data)
		shown.Text = &text
	} else {
		shown.Blob = data
	}
	return shown, nil
}

// check reads all files of a skill and says which pass their checks.
func (p skillPart) check(c *Connection, r *web.Request) (any, error) {
	held, entry, result, err := p.open(c, r)
	if err != nil {
		return nil, err
	}
	shown := struct {
		Entry checked   `json:"entry"`
		Files []checked `json:"files"`
	}{result, []checked{}}
	if held == nil {
		return shown, nil
	}
	files := entry.Resources.Files
	if entry.Resources.Dynamic {
		files = []mcp.SkillResource{{URI: entry.URI}}
	}
	for _, f := range files {
		_, err := held.Read(r.Context(), f.URI)
		one, err := verdict(f.URI, err)
		if r.Context().Err() != nil {
			return nil, err
		}
		if err != nil {
			one = checked{File: f.URI, Why: err.Error()}
		}
		shown.Files = append(shown.Files, one)
	}
	return shown, nil
}

// maxEntries bounds what is shown of a directory.
const maxEntries = 2000

// directory shows what a server has in a directory now.
func (skillPart) directory(c *Connection, r *web.Request) (any, error) {
	cl, err := c.live()
	if err != nil {
		return nil, err
	}
	shown := struct {
		Entries []*mcp.Resource `json:"entries"`
		More    bool            `json:"more"`
	}{Entries: []*mcp.Resource{}}
	for entry, err := range cl.Directory(r.Context(), r.URL.Query().Get("uri")) {
		if err != nil {
			return nil, refused(err)
		}
		if len(shown.Entries) == maxEntries {
			shown.More = true
			break
		}
		shown.Entries = append(shown.Entries, entry)
	}
	return shown, nil
}
