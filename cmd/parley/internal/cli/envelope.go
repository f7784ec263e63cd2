package cli

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/transport/streamable"
)

// envelope is an error as --output json shows it: the last line of standard
// error. docs/cli.md documents it.
type envelope struct {
	Error problem `json:"error"`
}

type problem struct {
	Code    code           `json:"code"`
	Exit    int            `json:"exit"`
	Message string         `json:"message"`
	Hint    string         `json:"hint,omitzero"`
	RPC     *jsonrpc.Error `json:"rpc,omitzero"`    // what the server answered
	HTTP    *httpProblem   `json:"http,omitzero"`   // the status the URL answered with
	Scopes  []string       `json:"scopes,omitzero"` // the rights that are needed
	Run     []string       `json:"run,omitzero"`    // the command that mends it
	Stderr  string         `json:"stderr,omitzero"` // the end of what the server's command wrote there
	Stdout  []string       `json:"stdout,omitzero"` // what it wrote there that is not the protocol
}

type httpProblem struct {
	Status int `json:"status"`
	// Challenge is the header WWW-Authenticate.
	Challenge string `json:"challenge,omitzero"`
}

// envelope returns a failure as one line of JSON.
func (a *app) envelope(f *failure) []byte {
	p := problem{Code: f.code, Exit: f.code.exit(), Hint: f.hint}
	p.Message, p.Stderr = lastWords(f.err)
	if f.code.telling() {
		heard, junk, _ := a.heard.words()
		p.Stderr, p.Stdout = or(p.Stderr, heard), junk
	}
	_ = errors.As(f.err, &p.RPC) // nil is right if it is none
	var refused *streamable.HTTPError
	if errors.As(f.err, &refused) {
		p.HTTP = &httpProblem{refused.Status, strings.Join(refused.Header.Values("WWW-Authenticate"), ", ")}
	}
	if f.mend != nil {
		p.Scopes, p.Run = f.mend.scopes, f.mend.run
	}
	raw, err := wire.Marshal(envelope{p})
	if err != nil { // the server's data is no JSON, or its text no UTF-8
		p.RPC = nil
		raw, _ = json.Marshal(envelope{p})
	}
	return raw
}

// wantsJSON reports whether the arguments ask for JSON. It is for errors, also
// those about arguments that could not be parsed.
func wantsJSON(args []string) bool {
	found := ""
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if value, ok := strings.CutPrefix(arg, "--output="); ok {
			found = value
		} else if arg == "--output" && i+1 < len(args) {
			found = args[i+1]
		}
	}
	return found == "json"
}
