// Package openai converts tools, calls and results of a host to and from the forms of
// OpenAI's APIs, as plain data: its types encode to JSON, and decode from it. What an item
// or a message has that its type here has not is kept, so that what a model has said can
// be sent back as it came.
//
//	tools, _ := openai.Tools(h.Tools())                 // for the request
//	calls := openai.Calls(output)                       // of the response's output, a []openai.Item
//	more := openai.Results(h.Answer(ctx, calls))        // for the input of the next request
//
// The example of this package is the whole loop of an agent, which needs no account.
//
// The Responses API has Tools, Item, Calls and Results. The Chat Completions API, which
// many other vendors have as well, has ChatTools, ChatMessage and ChatResults.
//
// In the Responses API, a result's texts and images stay what they are, and PDF files
// become files. The Chat Completions API takes texts alone. What cannot be taken, such as
// sound or links to resources, is said in words: an image is not put into a message of the
// user, because it is not the user who has sent it. Structured content is added as JSON,
// unless a text has it already. The _meta of results and the annotations of blocks are for
// the host, and not among what the model reads.
//
// Neither API has a place for the failure of a tool: its text begins with "Error: ". On
// the way back that is lost: Item.MCP and ChatMessage.MCP never set IsError, because the
// text of a tool that succeeded may begin in the same way. A program that has to know
// whether a tool failed keeps the host.Answer.
package openai
