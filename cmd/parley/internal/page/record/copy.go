package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/cmd/parley/internal/shellwords"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// Copy is a request in the form of something else that can send it.
type Copy struct {
	Text string `json:"text"`
	// Notes say what to know before using it.
	Notes []string `json:"notes"`
}

// ErrNoForm says that a request cannot be had in the form that was asked for.
var ErrNoForm = errors.New("there is no such form of it")

// original is a request as it was recorded, with what is needed to send it again.
type original struct {
	r      *Recorder
	lens   Lens
	target *target.Target
	x      Exchange
	frame  *Frame              // its message; nil for a stream
	header map[string][]string // of its HTTP request, nil without HTTP
	params json.RawMessage
	vars   []string // the variables that stand for secrets
	notes  []string
}

func (r *Recorder) original(number uint64, t *target.Target, secrets bool) (*original, error) {
	x, err := r.Exchange(number)
	if err != nil {
		return nil, err
	}
	if x.Asker != mcp.ClientSide {
		return nil, fmt.Errorf("%w: exchange %d is a question of the server", ErrNoForm, number)
	}
	o := &original{r: r, lens: r.Lens(secrets), target: t, x: x}
	begin := x.First
	if x.Request != 0 {
		if o.frame, err = r.Frame(x.Request); err != nil {
			return nil, err
		}
		o.params = wire.Find(o.frame.Raw, "params")
		begin = x.Request
	}
	if request, _ := r.call(begin); request != nil {
		o.header = request.Header
	}
	return o, nil
}

// call returns the beginnings of the HTTP request that a frame is part of and of its
// response, nil if there is none.
func (r *Recorder) call(number uint64) (request, response *Frame) {
	r.mu.RLock()
	var heads []uint64
	if h := r.head(number); h != nil && h.HTTP != 0 {
		if call := r.links.calls[h.HTTP]; call != nil {
			heads = slices.Clone(call.heads)
		}
	}
	r.mu.RUnlock()
	for _, n := range heads {
		f, err := r.Frame(n)
		switch {
		case err != nil: // it was dropped to make room
		case f.Status == 0:
			request = f
		default:
			response = f
		}
	}
	return request, response
}

// note adds a note, once.
func (o *original) note(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(o.notes, n) {
		o.notes = append(o.notes, n)
	}
}

// done returns the copy, with what applies to all kinds.
func (o *original) done(text string) Copy {
	if len(o.vars) > 0 {
		o.note("Secrets are left out: set %s before you run it, or copy it with secrets.", strings.Join(o.vars, ", "))
	}
	if o.frame != nil && string(o.lens.Frame(o.frame.Raw)) != string(o.frame.Raw) {
		o.note("The message has secrets, which are left out: copy it with secrets to have it whole.")
	}
	return Copy{text, append([]string{}, o.notes...)}
}

// variable returns the name of a variable that stands for a secret.
func (o *original) variable(name string) string {
	v := strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		}
		return '_'
	}, name)
	if v == "" || v[0] >= '0' && v[0] <= '9' {
		v = "_" + v
	}
	if !slices.Contains(o.vars, v) {
		o.vars = append(o.vars, v)
	}
	return v
}

// pair puts what a shell is to pass on as name, between and value. A value that is
// secret becomes a variable.
func (o *original) pair(name, between, value string, secret bool) string {
	if secret {
		return shellwords.Quote(name+between) + `"$` + o.variable(name) + `"`
	}
	return shellwords.Quote(name + between + value)
}

// headerIsSecret reports whether the value of a header is masked.
func (o *original) headerIsSecret(name, value string) bool {
	return o.lens.Header(http.Header{name: {value}})[name][0] != value
}

// command returns the target's command as a shell takes it.
func (o *original) command() string {
	var words []string
	for _, kv := range o.target.Env {
		name, value, _ := strings.Cut(kv, "=")
		words = append(words, o.pair(name, "=", value, !o.lens.secrets))
	}
	if len(words) > 0 {
		words = slices.Insert(words, 0, "env")
	}
	shown := o.target.Command
	if !o.lens.secrets {
		shown = o.target.MaskedCommand()
	}
	if !slices.Equal(shown, o.target.Command) {
		o.note("The command has what may be secrets, which are left out: copy it with secrets to have it whole.")
	}
	for _, w := range shown {
		words = append(words, shellwords.Quote(w))
	}
	return strings.Join(words, " ")
}

// url returns the URL of the target.
func (o *original) url() string {
	if o.lens.secrets {
		return o.target.URL
	}
	shown := o.target.MaskedURL()
	if strings.Contains(shown, target.Hidden) {
		o.note("The URL has what may be secrets, which are left out: copy it with secrets to have it whole.")
	}
	return shown
}

// revision returns the revision that the exchange speaks, and whether in a session.
func (o *original) revision() (rev string, session bool) {
	if v, ok := wire.Text(wire.Find(wire.Find(o.params, "_meta"), mcp.MetaProtocolVersion)); ok {
		return v, false
	}
	opening := o.opening()
	if opening.Answer == 0 {
		return "", true
	}
	answer, err := o.r.Frame(opening.Answer)
	if err != nil {
		return "", true
	}
	rev, _ = wire.Text(wire.Find(wire.Find(answer.Raw, "result"), "protocolVersion"))
	return rev, true
}

// opening returns the exchange that opened the session.
func (o *original) opening() Exchange {
	o.r.mu.RLock()
	defer o.r.mu.RUnlock()
	if x := o.r.links.opened[o.x.Connection]; x != nil {
		return *x
	}
	return Exchange{}
}
