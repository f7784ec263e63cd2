// Package anthropic converts tools, calls and results of a host to and from the form of
// Anthropic's Messages API, as plain data: its types encode to JSON, and decode from it.
// What a block has that its type here has not is kept, so that a model's message can be
// sent back as it came.
//
//	tools, _ := anthropic.Tools(h.Tools())              // for the request
//	calls := reply.Calls()                              // of the model's Message
//	next := anthropic.Results(h.Answer(ctx, calls))     // the Message that answers it
//
// The example of package host is the whole loop of an agent with these types, and
// examples/agent a whole program.
//
// A result's texts and images stay what they are, and PDF files become documents. A
// failure is is_error; one with more than texts begins with "Error: " instead, because the
// API takes nothing else beside is_error, and Block.MCP then returns it without IsError.
// What the API does not take in the result of a tool, such as sound or links to resources,
// is said in words. Structured content is added as JSON, unless a text has it already. The
// _meta of results and the annotations of blocks are for the host, and not among what the
// model reads.
package anthropic
