// Package host is for programs in which a model uses the tools of MCP servers: agents,
// assistants, editors. A Host keeps connections to several servers, offers the tools of
// all of them under names that every model takes, and answers the model's calls.
//
//	servers, err := host.ParseConfig(file, nil) // an mcp.json, or Server values of your own
//	…
//	h, err := host.Open(ctx, servers, &host.Options{Approve: askTheUser})
//	…
//	defer h.Close()
//	tools, _ := anthropic.Tools(h.Tools())
//	messages := []anthropic.Message{anthropic.User("What is on my list?")}
//	for {
//		reply := model(messages, tools) // an anthropic.Message, by whatever means
//		messages = append(messages, reply)
//		calls := reply.Calls()
//		if len(calls) == 0 {
//			break // it has answered
//		}
//		messages = append(messages, anthropic.Results(h.Answer(ctx, calls)))
//	}
//
// Packages anthropic and openai, below this one, convert tools, calls and results to and
// from what the APIs of these vendors take. Their types are plain data, for any way of
// sending them; there is no vendor's SDK behind them.
//
// # Servers
//
// Each server is connected to on its own. One that does not start, fails or dies costs its
// own tools and nothing else: Host.Servers says what has happened to it, and it is tried
// again after a pause that grows with each failure, from half a second to a minute. A
// server that wants a login which nobody has given is left alone until Host.Restart.
//
// # Names
//
// A tool is called SERVER__TOOL. The name depends on nothing but its server's name and its
// own, so it is the same whichever other servers there are, and has at most 64 of the
// characters a-z, A-Z, 0-9, _ and -: what does not fit is shortened, and ends with a hash.
// A call is matched by the whole name; nothing is guessed.
//
// # Safety
//
// What servers say is text of strangers, and so are the annotations of their tools. No
// tool is called unless Options.Approve permits it. Without that function, only calls of
// tools that say that they just read are made, and only of servers whose annotations the
// program trusts: see ApproveReadOnly. A server in a configuration gets no environment of
// this process but what programs need to run at all. What a model reads of a failure does
// not have the details, which are in the error that the program gets.
package host
