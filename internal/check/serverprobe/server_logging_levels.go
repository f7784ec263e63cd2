package serverprobe

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

// withLevel returns params that ask a stateless server for log messages.
func withLevel(params map[string]any, level string) map[string]any {
	c := maps.Clone(params)
	if c == nil {
		c = map[string]any{}
	}
	c["_meta"] = map[string]any{mcp.MetaLogLevel: level}
	return c
}

const (
	respectsLevel = "logging/respects-level"
	lowestLevel   = "debug"
)

// atLevel makes sure that log messages of a level and above come of a call: the
// level goes with the request, or is set before. It returns the number of the
// newest message before the call, and its params.
func (c *Conn) atLevel(tool *Callable, level string) (before int, params map[string]any) {
	params = call(tool.Name, tool.Arguments)
	if c.x.Stateless {
		params = withLevel(params, level)
	} else {
		c.Call(mcp.MethodSetLevel, map[string]any{"level": level})
	}
	return c.Log.Len(), params
}

// callAt calls a tool so that log messages of a level and above come.
func (x *X) callAt(c *Callable, level string) (before int, r *peer.Reply) {
	before, params := x.Main.atLevel(c, level)
	return before, x.Main.Finish(mcp.MethodCallTool, params)
}

// logsOf are the log messages of all levels that a call of a tool leads to.
func (x *X) logsOf(c *Callable) []*peer.Message {
	if s := x.slow; s != nil && s.logging != nil && s.logging.tool.Name == c.Name && s.logging.heard {
		return s.logging.logs
	}
	before, _ := x.callAt(c, lowestLevel)
	return x.logsSince(before)
}

// logsSince are the log messages that came after the n-th message.
func (x *X) logsSince(n int) []*peer.Message {
	var all []*peer.Message
	for _, m := range x.logs() {
		if m.Number > n {
			all = append(all, m)
		}
	}
	return all
}

// mostLoggers is how many tools are called to find those that log.
const mostLoggers = 20

// runLevels calls every tool with the lowest level, and those that logged with
// one above the lowest that came.
func runLevels(x *X) probe.Finding {
	logged := false
	for _, c := range x.quickest() {
		lowest, highest := span(x.logsOf(c))
		if lowest < 0 {
			continue
		}
		logged = true
		level := mcp.LevelEmergency
		if lowest < highest {
			level = levelOf(highest)
		}
		before, r := x.callAt(c, string(level))
		for _, m := range x.logsSince(before) {
			if s := severity(m); s >= 0 && s < level.Severity() {
				return probe.Fail(append(probe.Of(r.Sent), probe.Of(m)...), "a message of the level %s came, and %s was asked for", m.Text("params/level"), level)
			}
		}
		if r.Response != nil {
			return probe.Pass(probe.OfReply(r)...)
		}
	}
	if logged {
		return probe.Unverified("no tool that logs could be called again")
	}
	return probe.Unverified("no tool that may be called logs anything")
}

// quickest are the tools that may be called, those first that answered the
// survey first: only if none of them logs the slow ones are called again.
func (x *X) quickest() []*Callable {
	took := map[string]time.Duration{}
	for _, a := range x.Results(mcp.MethodCallTool) {
		name := a.Request.Text("params/name")
		took[name] = max(took[name], a.Response.At-a.Request.At)
	}
	var all []*Callable
	for n := range x.Offer.Callable {
		all = append(all, &x.Offer.Callable[n])
	}
	slices.SortStableFunc(all, func(a, b *Callable) int {
		return cmp.Compare(about(took[a.Name]), about(took[b.Name]))
	})
	return all[:min(mostLoggers, len(all))]
}

func severity(m *peer.Message) int { return mcp.LoggingLevel(m.Text("params/level")).Severity() }

// span returns the lowest and the highest severity of messages, or -1.
func span(logs []*peer.Message) (lowest, highest int) {
	lowest, highest = -1, -1
	for _, m := range logs {
		s := severity(m)
		if s < 0 {
			continue
		}
		if lowest < 0 || s < lowest {
			lowest = s
		}
		highest = max(highest, s)
	}
	return lowest, highest
}

func levelOf(severity int) mcp.LoggingLevel {
	for _, l := range []mcp.LoggingLevel{mcp.LevelDebug, mcp.LevelInfo, mcp.LevelNotice, mcp.LevelWarning, mcp.LevelError, mcp.LevelCritical, mcp.LevelAlert} {
		if l.Severity() == severity {
			return l
		}
	}
	return mcp.LevelEmergency
}

// watchUnwantedLogs looks for log messages that no request in flight has asked
// for. A stream of its own belongs to one request.
func watchUnwantedLogs(x *X, w *probe.Watch) {
	for _, r := range x.results(mcp.MethodCallTool) {
		if asked := x.Log.RequestOf(r.m); asked != nil && !asksForLogs(asked) {
			w.Saw(r.m)
		}
	}
	for _, m := range x.logs() {
		if m.Exchange != nil && m.Exchange.Status >= 400 || x.subscribed(m) || x.wanted(m) {
			continue // what refusals consist of is another rule's
		}
		w.Fault(m, "/method", "a log message came, and no request had asked for any")
	}
}

// subscribed reports whether a message came on the stream of a subscription,
// of which another rule speaks.
func (x *X) subscribed(m *peer.Message) bool {
	return m.Exchange != nil && m.Exchange.Message != nil && m.Exchange.Message.Method == mcp.MethodListen
}

// wanted reports whether a request had asked for a log message: one that was in
// flight when it came, or, on a line that all share, the one that was answered
// last. Servers write notifications beside their answers, and are overtaken.
func (x *X) wanted(m *peer.Message) bool {
	if m.Exchange == nil && asksForLogs(x.lastAnswered(m)) {
		return true
	}
	for _, asked := range x.Log.Messages() {
		if !asked.Sent || !asked.IsRequest() || asked.Conn != m.Conn || asked.Number > m.Number {
			continue
		}
		if m.Exchange != nil && asked.Exchange != m.Exchange {
			continue
		}
		if answer := x.Log.ResponseTo(asked); answer != nil && answer.Number < m.Number && m.Exchange == nil {
			continue
		}
		if asksForLogs(asked) {
			return true
		}
	}
	return false
}

// lastAnswered is the request that was answered last before a message came.
func (x *X) lastAnswered(m *peer.Message) *peer.Message {
	var last *peer.Message
	for _, answer := range x.Received((*peer.Message).IsResponse) {
		if answer.Conn == m.Conn && answer.Number < m.Number {
			last = answer
		}
	}
	if last == nil {
		return nil
	}
	return x.Log.RequestOf(last)
}

func asksForLogs(request *peer.Message) bool {
	return request != nil && peerHas(request, "params/_meta/"+pointer(mcp.MetaLogLevel))
}
