package serverprobe

import (
	"bytes"
	"unicode/utf8"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

// Probes that others name.
const (
	oneLine      = "stdio/one-message-a-line"
	onlyMessages = "stdio/only-messages-on-stdout"
)

// standardStreams judge what goes over the standard streams of a process, and
// how a process ends.
var standardStreams = []Probe{
	{
		Info: probe.Info{
			ID: oneLine, Rows: []string{"26.basic.transports.stdio-001", "2511.basic.transports-006"},
			Does:    "Looks for lines that are a part of a message.",
			Accepts: "A whole message in each line; newlines in texts are escaped.",
			Mend:    "Write each message as one line, without indentation.",
		},
		Needs: []string{needsStdio},
		Watch: func(x *X, w *probe.Watch) {
			parts := x.brokenLines()
			for _, m := range x.Received(func(m *peer.Message) bool { return m.Batch == nil }) {
				if parts[m] {
					w.Fault(m, "", "the line is a part of a message")
				} else if m.Bad == nil {
					w.Saw(m)
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: onlyMessages, Rows: []string{"26.basic.transports.stdio-005", "2511.basic.transports-010"},
			Does:    "Looks for lines that are no message at all.",
			Accepts: "None: logs go to the standard error.",
			Mend:    "Write logs, and whatever else is no message, to the standard error.",
		},
		Needs: []string{needsStdio},
		Watch: func(x *X, w *probe.Watch) {
			parts := x.brokenLines()
			for _, m := range x.Received(func(m *peer.Message) bool { return m.Batch == nil }) {
				_, isObject := m.Value.(map[string]any)
				_, isArray := m.Value.([]any)
				switch {
				case parts[m] || m.Cut > 0 || m.Bad != nil && !utf8.Valid(m.Raw):
				case m.Bad != nil || !isObject && !isArray:
					w.Fault(m, "", "the line is no message")
				default:
					w.Saw(m)
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "stdio/streams", Rows: []string{"2511.basic.transports-081"},
			Does:    "Writes requests to the standard input of the server and reads its standard output.",
			Accepts: "Messages.",
		},
		Needs: []string{needsStdio},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received((*peer.Message).IsResponse) {
				w.Saw(m)
			}
		},
	},
	{
		Info: probe.Info{
			ID: "stdio/exits-with-its-input", Rows: []string{"26.basic.transports.stdio-016"},
			Does:    "Closes the standard input of the server.",
			Accepts: "The process ends within two seconds.",
			Mend:    "End the process when reading from the standard input reports its end.",
		},
		Needs: []string{needsStdio},
		Run: func(x *X) probe.Finding {
			c, err := x.Open(nil)
			if err != nil {
				return unreachable(err)
			}
			defer c.Leave()
			r := c.Do(x.Ctx, peer.Frame(x.harmless()))
			if r.Response == nil {
				return unanswered(r)
			}
			switch ended, known := c.Hangup(); {
			case !known:
				return probe.Unverified("there is no process to be watched")
			case !ended:
				return probe.Fail(probe.Of(r.Sent, r.Response), "the process was still there two seconds after its input had ended")
			default:
				return probe.Pass(probe.Of(r.Sent, r.Response)...)
			}
		},
	},
	{
		Info: probe.Info{
			ID: "stdio/no-http-authorization", Rows: []string{"26.basic.index-038", "2511.basic-023"},
			Does:    "Speaks to the server without a token.",
			Accepts: "Answers.",
		},
		Needs: []string{needsStdio},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received((*peer.Message).IsResponse) {
				if code, ok := m.Code(); ok && code == 401 {
					w.Fault(m, "/error", "the server wants to be authorized as over HTTP")
				} else {
					w.Saw(m)
				}
			}
		},
	},
}

// brokenLines are the lines that are messages only together with those beside
// them.
func (x *X) brokenLines() map[*peer.Message]bool {
	broken := map[*peer.Message]bool{}
	pending := map[int][]*peer.Message{}
	for _, m := range x.Received(func(m *peer.Message) bool { return m.Batch == nil }) {
		if m.Bad == nil && !isFragment(m) {
			pending[m.Conn] = nil
			continue
		}
		lines := append(pending[m.Conn], m)
		pending[m.Conn] = lines
		for from := range lines {
			if len(lines)-from < 2 {
				break
			}
			if isMessage(lines[from:]) {
				for _, part := range lines[from:] {
					broken[part] = true
				}
				pending[m.Conn] = nil
				break
			}
		}
	}
	return broken
}

// isFragment reports whether a line is JSON that could be a part of a message,
// such as a text or a number on a line of its own.
func isFragment(m *peer.Message) bool {
	_, isObject := m.Value.(map[string]any)
	_, isArray := m.Value.([]any)
	return !isObject && !isArray
}

func isMessage(lines []*peer.Message) bool {
	var all [][]byte
	for _, m := range lines {
		all = append(all, m.Raw)
	}
	v, err := peer.Decode(bytes.Join(all, []byte("\n")))
	if err != nil {
		// Some write the newline of a text as it is.
		v, err = peer.Decode(bytes.Join(all, []byte(`\n`)))
	}
	_, ok := v.(map[string]any)
	return err == nil && ok
}
