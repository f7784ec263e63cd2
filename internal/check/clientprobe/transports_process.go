package clientprobe

import (
	"slices"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

const (
	closesInput = "stdio/closes-input-first"
	endsServer  = "stdio/ends-what-does-not-exit"

	rowShutdown = "26.basic.transports.stdio-015"
)

var transportsProcess = []Probe{
	{
		Info: probe.Info{
			ID: "stdio/minds-no-stderr", Rows: []string{"26.basic.transports.stdio-004", "2511.basic.transports-009"},
			Does:    "Writes to standard error what looks like errors, before it answers well.",
			Accepts: "That the client goes on.",
			Mend:    "Take what a server writes to standard error for its log, whatever it says.",
		},
		Needs: []string{needsStdio}, In: []string{"noisy"},
		Watch: func(x *X, w *probe.Watch) {
			x.carriesOn(w, x.firstAnswer(), "lines on standard error")
		},
	},
	{
		Info: probe.Info{
			ID: closesInput, Rows: []string{"2511.basic.lifecycle-020", rowShutdown},
			Does:    "Is a process that stays, and notes when its input ends and when it is told to end.",
			Accepts: "That the input ends first.",
			Mend:    "Close the standard input of the server, and wait, before you send it a signal.",
		},
		Needs: []string{needsStdio}, In: []string{"stubborn"},
		Watch: eachEnding(func(_ *X, w *probe.Watch, e ending) {
			switch {
			case e.closed && (!e.told || e.inputEnded < e.terminated):
				w.Saw(e.last)
			case e.closed && e.inputEnded-e.terminated < atOnce:
				// Which of the two was first can't be told.
			case e.told:
				w.Fault(e.last, "", "the server got a signal to end while its input was open")
			case e.forced:
				w.Fault(e.last, "", "the server was killed while its input was open")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: endsServer, Rows: []string{"2511.basic.lifecycle-021", rowShutdown},
			Does:    "Is a process that stays when its input has ended.",
			Accepts: "A signal to end, after a while. Where there are no signals, and in revisions without sessions, also an end by force.",
			Mend:    "Send SIGTERM to a server that does not exit within a reasonable time after its input has ended.",
			After:   []string{closesInput},
		},
		Needs: []string{needsStdio}, In: []string{"stubborn"},
		Watch: eachEnding(func(x *X, w *probe.Watch, e ending) {
			switch {
			case !e.closed:
			case e.told && max(e.terminated-e.inputEnded, e.inputEnded-e.terminated) < atOnce:
				w.Fault(e.last, "", "the server got a signal to end as soon as its input had ended, and no time to exit")
			case e.told, e.forced && (x.Stateless || !e.signals):
				w.Saw(e.last)
			case e.forced:
				w.Fault(e.last, "", "the server was killed without a signal to end before")
			case x.Ending.Err == nil:
				w.Fault(e.last, "", "the client has ended, and the server that did not exit is still there")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "stdio/kills-what-stays", Rows: []string{"2511.basic.lifecycle-022", rowShutdown},
			Does:    "Is a process that stays when it is told to end.",
			Accepts: "That it is ended by force.",
			Mend:    "Kill a server that does not exit within a reasonable time after SIGTERM.",
			After:   []string{closesInput, endsServer},
		},
		Needs: []string{needsStdio}, In: []string{"stubborn"},
		Watch: eachEnding(func(x *X, w *probe.Watch, e ending) {
			switch {
			case !e.told:
			case e.forced:
				w.Saw(e.last)
			case x.Ending.Err == nil:
				w.Fault(e.last, "", "the client has ended, and the server that did not heed its signal is still there")
			}
		}),
	},
}

// atOnce is how close together two steps are between which nobody has waited.
const atOnce = 20 * time.Millisecond

// ending is how a client has ended one process: what it did, and when.
type ending struct {
	last                           *peer.Message // that it has sent
	signals                        bool
	closed, told, forced           bool
	inputEnded, terminated, killed time.Duration
}

// eachEnding looks at the end of each process that the client has used; one that it
// only asked for its revisions may be of no more use to it. It sees nothing of a client
// that had to be ended itself, because its servers end with it.
func eachEnding(look func(*X, *probe.Watch, ending)) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		if x.Ending.Late {
			w.Nothing(probe.Unverified("the client had not ended when its time was over"))
			return
		}
		w.Nothing(probe.Unverified("the client did not come as far as to end the server in this way"))
		for _, l := range x.Lines() {
			said := x.Received(func(m *peer.Message) bool { return m.Conn == l.Number })
			used := func(m *peer.Message) bool { return m.Method != "server/discover" }
			if l.process == nil || !slices.ContainsFunc(said, used) {
				continue
			}
			e := ending{last: said[len(said)-1], signals: l.process.signals}
			e.inputEnded, e.closed = l.process.first(inputEnded)
			e.terminated, e.told = l.process.first(terminated)
			e.killed, e.forced = l.process.first(killed)
			look(x, w, e)
		}
	}
}
