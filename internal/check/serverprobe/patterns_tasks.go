package serverprobe

import (
	"slices"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

const callsAsTasks = "tasks/requests/tools/call"

var taskProbes = []Probe{
	ofTask("tasks/created", "A result with task, an object, and without content.", func(s *taskScene) probe.Finding {
		if s.created.Response.Object("result/task") == nil || s.created.Response.List("result/content") != nil {
			return probe.Fail(probe.OfReply(s.created), "the call as a task is not answered with a task alone")
		}
		return probe.Pass(probe.OfReply(s.created)...)
	}, "2511.basic.utilities.tasks-046", "2511.basic.utilities.tasks-015"),
	ofTask("tasks/id-is-string", "A taskId that is a string.", func(s *taskScene) probe.Finding {
		if v, _ := s.created.Response.Get("result/task/taskId"); !isText(v) {
			return probe.Fail(probe.OfReply(s.created), "the taskId is no string")
		}
		return probe.Pass(probe.OfReply(s.created)...)
	}, "2511.basic.utilities.tasks-026"),
	ofTask("tasks/begins-working", "The status working.", func(s *taskScene) probe.Finding {
		if s.created.Response.Text("result/task/status") != "working" {
			return probe.Fail([]probe.Blame{{Message: s.created.Response, Pointer: "/result/task/status"}}, "the task does not begin in the status working")
		}
		return probe.Pass(probe.OfReply(s.created)...)
	}, "2511.basic.utilities.tasks-029"),
	ofTask("tasks/created-at", "A createdAt in ISO 8601.", func(s *taskScene) probe.Finding { return s.timestamp("createdAt") }, "2511.basic.utilities.tasks-039"),
	ofTask("tasks/updated-at", "A lastUpdatedAt in ISO 8601.", func(s *taskScene) probe.Finding { return s.timestamp("lastUpdatedAt") }, "2511.basic.utilities.tasks-040"),
	ofTask("tasks/result", "A result with content, as of a plain call.", func(s *taskScene) probe.Finding {
		if s.result == nil || s.result.Response == nil {
			return probe.Unverified("tasks/result was not answered")
		}
		if s.result.Response.IsError() || s.result.Response.List("result/content") == nil {
			return probe.Fail(probe.OfReply(s.result), "tasks/result does not give what the call would have given")
		}
		return probe.Pass(probe.OfReply(s.result)...)
	}, "2511.basic.utilities.tasks-048", "2511.basic.utilities.tasks-077"),
	ofTask("tasks/result-related", "io.modelcontextprotocol/related-task with the taskId.", func(s *taskScene) probe.Finding {
		if s.result == nil || s.result.Response == nil || !s.result.Response.IsResult() {
			return probe.Unverified("tasks/result gave no result")
		}
		if s.result.Response.Text("result/_meta/"+pointer(mcp.MetaRelatedTask)+"/taskId") != s.id {
			return probe.Fail(probe.OfReply(s.result), "the result does not say which task it is of")
		}
		return probe.Pass(probe.OfReply(s.result)...)
	}, "2511.basic.utilities.tasks-068"),
	ofTask("tasks/result-waits", "That the task has ended when tasks/result is answered.", func(s *taskScene) probe.Finding {
		if s.after == nil || s.after.Response == nil || !s.after.Response.IsResult() {
			return probe.Unverified("tasks/get gave no result afterwards")
		}
		if status := s.after.Response.Text("result/status"); status == "working" || status == "input_required" {
			return probe.Fail(probe.Of(s.result.Response, s.after.Response), "tasks/result was answered before the task had ended")
		}
		return probe.Pass(probe.Of(s.result.Response, s.after.Response)...)
	}, "2511.basic.utilities.tasks-049"),
	ofTask("tasks/cancel-ended", "The error -32602 to tasks/cancel of a task that has ended.", func(s *taskScene) probe.Finding {
		if s.cancel == nil {
			return probe.Unverified("no task has ended")
		}
		return wantError(s.cancel, -32602)
	}, "2511.basic.utilities.tasks-062"),
	{
		Info: probe.Info{
			ID: "tasks/unknown", Rows: []string{"2511.basic.utilities.tasks-069"},
			Does:    "Asks for a task that does not exist.",
			Accepts: "The error -32602.",
		},
		Needs: []string{needsSession, callsAsTasks},
		Run: func(x *X) probe.Finding {
			return wantError(x.Call("tasks/get", map[string]any{"taskId": "parley-no-such-task"}), -32602)
		},
	},
	{
		Info: probe.Info{
			ID: "tasks/forbidden", Rows: []string{"2511.basic.utilities.tasks-009"},
			Does:    "Calls a tool as a task that does not say that it can run as one.",
			Accepts: "The error -32601.",
		},
		Needs: []string{needsSession, callsAsTasks, needsTool},
		Run: func(x *X) probe.Finding {
			tools := x.did(func(d *Doing) bool { return !runsAsTask(d) && len(d.Asks) == 0 && !d.Failed })
			if len(tools) == 0 {
				return probe.Unverified("all tools that may be called can run as tasks")
			}
			params := tools[0].params()
			params["task"] = map[string]any{"ttl": 60000}
			return wantError(x.Call(mcp.MethodCallTool, params), -32601)
		},
	},
	{
		Info: probe.Info{
			ID: "tasks/required", Rows: []string{"2511.basic.utilities.tasks-012"},
			Does:    "Calls a tool plainly that runs as a task only.",
			Accepts: "The error -32601.",
		},
		Needs: []string{needsSession, callsAsTasks, needsTool},
		Run: func(x *X) probe.Finding {
			for _, d := range x.Offer.Did {
				if support, _ := peer.Get(d.Tool, "execution/taskSupport"); support == "required" {
					return wantError(x.Call(mcp.MethodCallTool, d.params()), -32601)
				}
			}
			return probe.Unverified("no tool that may be called runs as a task only")
		},
	},
}

func isText(v any) bool { _, ok := v.(string); return ok }

func runsAsTask(d *Doing) bool {
	support, _ := peer.Get(d.Tool, "execution/taskSupport")
	return slices.Contains([]any{"optional", "required"}, support)
}

// taskScene is a call as a task, from its beginning to its end.
type taskScene struct {
	id                             string
	created, result, after, cancel *peer.Reply
}

// ofTask is a probe of a call as a task.
func ofTask(id, accepts string, judge func(*taskScene) probe.Finding, rows ...string) Probe {
	return Probe{
		Info: probe.Info{
			ID: id, Rows: rows, Accepts: accepts,
			Does: "Calls a tool as a task, gets its result, asks for its state, and cancels it.",
		},
		Needs: []string{needsSession, callsAsTasks, needsTool},
		Run: func(x *X) probe.Finding {
			s := x.playTask()
			switch {
			case s == nil:
				return probe.Unverified("no tool that may be called can run as a task")
			case s.created.Response == nil:
				return unanswered(s.created)
			case s.created.Response.IsError():
				return probe.Unverified("the call as a task was refused")
			}
			return judge(s)
		},
	}
}

// playTask plays the scene, once for all probes.
func (x *X) playTask() *taskScene {
	tools := x.did(func(d *Doing) bool { return runsAsTask(d) && len(d.Asks) == 0 && !d.Failed })
	if x.task != nil || len(tools) == 0 {
		return x.task
	}
	params := tools[0].params()
	params["task"] = map[string]any{"ttl": 60000}
	x.task = &taskScene{created: x.Call(mcp.MethodCallTool, params)}
	s := x.task
	if s.created.Response == nil {
		return s
	}
	if s.id = s.created.Response.Text("result/task/taskId"); s.id == "" {
		return s
	}
	of := map[string]any{"taskId": s.id}
	if s.result = x.Call("tasks/result", of); s.result.Response != nil {
		s.after = x.Call("tasks/get", of)
		if x.Offer.Has("tasks/cancel") {
			s.cancel = x.Call("tasks/cancel", of)
		}
	}
	return s
}

func (s *taskScene) timestamp(name string) probe.Finding {
	text := s.created.Response.Text("result/task/" + name)
	if _, err := time.Parse(time.RFC3339, text); err != nil {
		return probe.Fail([]probe.Blame{{Message: s.created.Response, Pointer: "/result/task/" + name}}, "%s is no time in ISO 8601: %q", name, text)
	}
	return probe.Pass(probe.OfReply(s.created)...)
}
