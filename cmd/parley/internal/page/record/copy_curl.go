package record

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/cmd/parley/internal/shellwords"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/sse"
	"github.com/parley-mcp/parley/mcp"
)

// Curl returns a request as a command line of curl, with the headers and the body that
// were sent. For a command it is a line that writes the message to its standard input.
func (r *Recorder) Curl(number uint64, t *target.Target, secrets bool) (Copy, error) {
	o, err := r.original(number, t, secrets)
	if err != nil {
		return Copy{}, err
	}
	if t.URL == "" {
		return o.pipe()
	}
	if o.header == nil {
		return Copy{}, fmt.Errorf("%w: the HTTP request of exchange %d was dropped to make room", ErrNoForm, number)
	}
	return o.curl(), nil
}

func (o *original) curl() Copy {
	method := http.MethodPost
	if o.x.Stream {
		method = o.x.Method
	}
	lines := []string{"curl -sS -N -X " + shellwords.Quote(method) + " " + shellwords.Quote(o.url())}
	for _, name := range slices.Sorted(maps.Keys(o.header)) {
		for _, value := range o.header[name] {
			if value == "" { // curl takes "Name:" for a header to leave out
				lines = append(lines, "-H "+shellwords.Quote(name+";"))
				continue
			}
			lines = append(lines, "-H "+o.pair(name, ": ", value, o.headerIsSecret(name, value)))
		}
	}
	if o.frame != nil {
		lines = append(lines, "--data-raw "+shellwords.Quote(string(o.lens.Frame(o.frame.Raw))))
	}
	if o.x.session != "" {
		o.note("It is part of a session, which the server may have ended since: initialize opens another one, whose Mcp-Session-Id has to be used.")
	}
	if method == http.MethodPost && !slices.ContainsFunc(o.header["Accept"], func(v string) bool { return strings.Contains(v, sse.ContentType) }) {
		o.note("Over HTTP+SSE messages are posted to an address that the server names in the first event of its stream: put it in the place of the URL. The answer comes on the stream.")
	}
	return o.done(strings.Join(lines, " \\\n  "))
}

// pipe writes what the server needs to have read to answer the request.
func (o *original) pipe() (Copy, error) {
	if o.frame == nil {
		return Copy{}, fmt.Errorf("%w: exchange %d has no message", ErrNoForm, o.x.Number)
	}
	var frames []*Frame
	if _, session := o.revision(); session && o.x.Method != mcp.MethodInitialize {
		opening, err := o.openingFrames()
		if err != nil {
			return Copy{}, err
		}
		frames = opening
	}
	lines := []string{"printf '%s\\n'"}
	for _, f := range append(frames, o.frame) {
		lines = append(lines, "  "+shellwords.Quote(string(o.lens.Frame(f.Raw))))
	}
	o.note("The server is a command, which curl does not reach: this writes the message to its standard input.")
	if len(frames) > 0 {
		o.note("The session is opened first, as it was then.")
	}
	if o.target.Dir != "" {
		o.note("Run it in %s.", o.target.Dir)
	}
	return o.done(strings.Join(lines, " \\\n") + " |\n  " + o.command()), nil
}

// openingFrames returns what the client sent to open the session.
func (o *original) openingFrames() ([]*Frame, error) {
	opening := o.opening()
	var frames []*Frame
	for n := opening.First; n != 0 && n <= opening.Last; n++ {
		f, err := o.r.Frame(n)
		if err != nil {
			return nil, err
		}
		if f.Exchange == opening.Number && f.Direction == mcp.Sent && f.Kind != HTTP {
			frames = append(frames, f)
		}
	}
	if len(frames) == 0 {
		return nil, fmt.Errorf("%w: the beginning of the session was dropped to make room", ErrNoForm)
	}
	return frames, nil
}
