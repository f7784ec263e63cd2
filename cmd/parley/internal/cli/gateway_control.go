package cli

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/control"
)

// controlFolder is where running gateways are found. It is not the runtime folder of the
// session: a host may start a gateway without the environment of the user's terminal.
func (a *app) controlFolder() string {
	dir := a.stateFolder()
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "gateways")
}

// openControl lets commands of this user speak to the gateway. Without, it still serves.
func (r *runningGateway) openControl() {
	dir := r.a.controlFolder()
	if dir == "" {
		r.logger.Warn(`there is no folder for the socket of this gateway, so commands such as "parley gateway status" cannot speak to it`)
		return
	}
	s, err := control.Listen(control.Options{Dir: dir, File: r.file, Logger: r.logger})
	if err != nil {
		r.logger.Warn(`commands such as "parley gateway status" cannot speak to this gateway`, "error", err)
		return
	}
	r.control = s
	s.Handle("GET /status", control.Answer(r.status))
	r.approvals.serve(s)
}

// gatewaysOf finds the gateways of a file that run, or all of this user if file is "".
func (a *app) gatewaysOf(file string) ([]*control.Client, error) {
	dir := a.controlFolder()
	if dir == "" {
		return nil, usagef("there is no folder for the sockets of gateways; XDG_STATE_HOME can name one")
	}
	found, err := control.Find(dir, file)
	switch {
	case err != nil:
		return nil, &failure{code: codeFailed, err: err}
	case len(found) > 0:
		return found, nil
	case file == "":
		return nil, &failure{code: codeNotRunning, err: errors.New("no gateway runs"), hint: `"parley gateway FILE --http ADDR" starts one`}
	}
	return nil, &failure{code: codeNotRunning, err: fmt.Errorf("no gateway of %s runs", file), hint: `"parley gateway status" without a file shows those of all files`}
}
