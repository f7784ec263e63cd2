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
//	spec    the rule that says what must happen, or why the case is refused
//	on      where it is sent: only over those of stdio, http, sse, stateless and
//	        session that are named; everywhere if it is absent
//	send    a message; several are sent one after the other
//
// Fields of cases for servers:
//
//	want    the expected reaction: the code of the error, "result", "tool-error"
//	        for a result with isError, "nothing", or "closed"; over HTTP+SSE also
//	        "refused", which the status shows and which may replace an error,
//	        and "endpoint" for a stream
//	status  the status of the HTTP response
//	before  valid messages that are sent first
//	method, path, header, drop, length   the parts of the HTTP request that differ
//	raw     the whole HTTP request, with "\n" for CRLF
//	revision, fresh                the session's revision; no session was opened
//	asks    a tool is called that asks a question with the ID «q»; the messages
//	        are about that question
//	tells   the method of the notification that the messages make the server send
//	id      the ID of the answer; "none" if it must not have one
//	endless what is written repeatedly, without a newline
//	dies    the connection may end
//	expires the server's limit for the time of a body, which is short for this case,
//	        ends it
//
// Fields of cases for clients, whose server sends the case when it is called:
//
//	call    the method that is called, by default tools/call; "GET" for the
//	        stream that a client opens on its own
//	want    "ok": the answer that follows is accepted; "error TEXT": the call
//	        fails with an error that contains TEXT; "timeout": it times out
//	reply   the code with which the client answers a request in the case, or
//	        "none"
//	answer  "no": no answer follows
//	stream  the body of an event stream, verbatim
//	http    the whole HTTP response, verbatim
//	endless, dies                  as for servers
//	as, hangs                      "json" for a response that is not a stream; the
//	                               response does not end
//	bare                           the client answers no questions
//	posts, ends, stalls            see sse.txt
//
// In values, «meta» is the _meta that the era requires (and «able» that of a
// client that can be asked, «tasked» of one that takes tasks as well), «task» the ID of a
// task that waits for an answer, «id» the ID of the call, «session» the session's ID,
// «state» the state with which the answer to the last message before the case asks,
// «host» and «path» the address, «"text" × 3» a text three times, «"text"» a text
// with Go's escapes, «gzip 1000» that many spaces, compressed, and «each 3 "a%d"»
// a list with the numbers from 0 on, "%[2]d" being the next number.
//
// The fields.txt files, and asks.txt, are tables: a valid message, and the types
// of its members. Every member is sent with every other type.
package hostile
