// Package hostile holds only tests: a corpus of what broken and malicious peers
// send, and the tests that send it. The corpus is data, in testdata/server
// (sent to servers) and testdata/client (sent to clients), with one file for
// each kind of attack.
//
// A file is a list of cases. A case begins with a line "== name", and has
// fields of the form "key: value"; a line that begins with a tab continues the
// value above it. A key may be limited to a transport or an era, as in
// "want/stdio" or "status/session". Comments begin with "#".
//
// Fields of all cases:
//
//	spec    the rule that says what is to happen, or why it is refused
//	on      where it is sent: of stdio, http, sse, stateless and session those
//	        that are named; without it everywhere
//	send    a message; several are sent one after the other
//
// Fields of cases for servers:
//
//	want    what comes of it: the code of the error, "result", "tool-error" for
//	        a result that says so, "nothing", or "closed"; over HTTP+SSE also
//	        "refused", which will do for an error and is told by the status,
//	        and "endpoint" for a stream
//	status  the status of the HTTP response
//	before  messages that are sent first, and that are in order
//	method, path, header, drop, length   the parts of the HTTP request that differ
//	raw     all of the HTTP request, with "\n" for CRLF
//	revision, fresh                the session's revision; no session was opened
//	asks    a tool is called that asks a question, whose ID is «q»; the messages
//	        are about that
//	tells   the method of the notification that the server sends because of them
//	id      the ID that the answer has; "none" for no such member
//	endless what is written again and again, without a newline
//	dies    the connection need not live on
//
// Fields of cases for clients, whose server sends the case when it is called:
//
//	call    the method that is called, tools/call without it; "GET" for the
//	        stream that a client opens by itself
//	want    "ok": the answer that follows is taken; "error TEXT": the call fails
//	        in words that hold TEXT; "timeout": it fails when its time is up
//	reply   the code with which the client answers a request in the case, or
//	        "none"
//	answer  "no": no answer follows
//	stream  the body of an event stream, as it is
//	http    all of the HTTP response, as it is
//	endless, dies                  as for servers
//	as, hangs                      "json" for a response that is no stream; the
//	                               response does not end
//	bare                           the client answers no questions
//	posts, ends, stalls            see sse.txt
//
// In values, «meta» is the _meta that the era wants (and «able» that of a client
// that can be asked), «id» the ID of the call, «session» the session's, «host»
// and «path» where it is, «"text" × 3» a text three times, «"text"» a text with
// Go's escapes, «gzip 1000» that many compressed spaces, and «each 3 "a%d"» a
// list with the numbers from 0 on, "%[2]d" being the next.
//
// The fields.txt files, and asks.txt, are tables: a message that is in order, and the types
// of its members. Every member is sent with every other type.
package hostile
