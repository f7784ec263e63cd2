// Package server makes an mcp.Handler out of tools, resources, prompts and
// completions. This is a whole server, for a client that starts it:
//
//	package main
//
//	import (
//		"context"
//		"log"
//
//		"github.com/parley-mcp/parley/mcp"
//		"github.com/parley-mcp/parley/server"
//		"github.com/parley-mcp/parley/transport/stdio"
//	)
//
//	type greeting struct {
//		Name string `json:"name" description:"who to greet"`
//	}
//
//	func greet(_ context.Context, _ *server.Call, in greeting) (string, error) {
//		return "Hello, " + in.Name, nil
//	}
//
//	func main() {
//		srv := server.New(mcp.Implementation{Name: "greeter", Version: "1.0.0"}, nil)
//		server.AddTool(srv, mcp.Tool{Name: "greet", Description: "Greets a person"}, greet)
//		if err := stdio.Serve(context.Background(), srv, nil); err != nil {
//			log.Fatal(err)
//		}
//	}
//
// Over HTTP, httpserver.Serve is called in place of stdio.Serve.
//
// A handler is written once and serves every revision of the protocol: it
// asks the user with Elicit, runs a model with Sample, reports with
// Call.Progress and Call.Log, and never sees which revision is spoken.
//
// # Schemas
//
// AddTool infers the schemas of arguments and results from Go types. The fields
// of a struct follow their json tags, and other members are refused. A field is
// required unless it is a pointer, is tagged omitempty or omitzero, or has a
// default. In results, a pointer that is nil is null, unless it is left out. Arguments
// may be null where they may be left out. These tags describe a field and limit its values:
//
//	tag                                 on                        what it says
//	json:"name,omitzero"                any                       the member's name; "-" leaves the field out
//	title:"Name"                        any                       a name for people
//	description:"What to look for"      any                       what a model reads; jsonschema:"…" is the same
//	default:"10"                        any                       the value if there is none: text for strings, else JSON
//	enum:"red,green"                    strings, numbers          the values that there are
//	minimum:"1" maximum:"100"           numbers                   bounds that are values, too
//	exclusiveMinimum:"0"                numbers                   a bound that is no value, as is exclusiveMaximum
//	multipleOf:"0.5"                    numbers                   what divides the value
//	minLength:"1" maxLength:"80"        strings                   bounds of the length, in characters
//	pattern:"^[a-z]+$"                  strings                   a regular expression (RE2), found anywhere
//	format:"date"                       strings                   a format of JSON Schema
//	minItems:"1" maxItems:"9"           slices                    bounds of the number of items
//	uniqueItems:"true"                  slices                    no item occurs twice
//	header:"Region"                     strings, integers, bools  mirrors the argument into Mcp-Param-Region
//	enumTitles:"Red,Green"              forms only                names of enum's values for people; see Elicit
//
// On a slice, tags for strings and numbers apply to its items. A tag that does not fit
// the type, or whose value makes no sense, is an error that names the type, the field
// and the tag. So is a misspelt one, such as minlen, which would be ignored; the error
// names the nearest that there is. Tags of other packages, such as yaml, db or validate,
// are left alone; one of them that looks like a tag here is fine in a field that also
// has the tag it looks like.
//
//	type search struct {
//		Query string `json:"query" description:"What to look for" minLength:"1"`
//		Limit int    `json:"limit" minimum:"1" maximum:"100" default:"10"`
//	}
//
// A schema that is given is used as it is. Its $schema names its dialect, without
// which it is in draft 2020-12:
//
//   - https://json-schema.org/draft/2020-12/schema
//   - https://json-schema.org/draft/2019-09/schema
//   - http://json-schema.org/draft-07/schema#
//   - http://json-schema.org/draft-06/schema#
//   - http://json-schema.org/draft-04/schema#
//
// Any other dialect is an error that names it. A schema's references may only
// point into itself; $dynamicRef and $recursiveRef are errors as well. Package
// client knows the same dialects.
//
// Spec: 2026-07-28 basic#schema-dialect.
// Spec: 2026-07-28 server/tools#tool.
//
// # What is sent
//
// What this package sends is valid: descriptions are checked where they are added,
// and what handlers return is checked before it goes out. That concerns icons (an
// http or https URL, or a data URI with a base64 image), annotations, MIME types,
// URIs (RFC 3986), the contents of resources, and keys of _meta. Such a key is
// refused if its prefix is reserved for the protocol, unless an extension in
// Options.Extensions has the same prefix. A result that is not valid is logged, with
// the feature and the member that is at fault, and answered with "internal error".
//
// # Who sees what
//
// A list that depends on who asks needs no middleware that rewrites results: add
// everything, and let Options.Visible decide what the client of an exchange sees. What
// it does not see it cannot use either, watch, or learn of from cursors. Middleware sees the same
// exchange, and can refuse single calls; see Use.
//
// # Ask before acting
//
// Where a question cannot be asked in place, Elicit and its siblings return an
// *mcp.InputRequired error that the handler must return. The handler runs
// again, from its start, when the answers are there. What must not happen
// twice goes into Once.
//
// # Sessions
//
// A SessionState is what a server remembers of each session of a client, and
// Server.OnSession learns of sessions as they begin and end. Both are about revisions up to
// 2025-11-25: in 2026-07-28 every request stands alone, over HTTP and on standard
// streams, and SessionState.Of returns ErrNoSession. What has to work in all revisions is
// named by an argument, or kept by Call.Principal.
//
// # Tasks
//
// A tool whose mcp.Tool.Execution says TaskOptional or TaskRequired can run apart from
// the request that calls it, for as long as Options.Tasks allows. Its handler is the
// same: a question makes the task wait, without a goroutine, and the handler runs
// again when it is answered; Call.Progress says how far the task has come; Once and
// Step keep what it did in the store of tasks. With Resumable and a Store that
// outlives the process, it also goes on after the process has died. Who calls a tool
// plainly notices nothing of all that, and pays nothing for it.
//
// # Jobs
//
// What goes on after the answer, and what the client need not know of, is a job:
// Call.StartJob runs it with the values of the request's context and without its end,
// and Server.Close waits for it.
//
// # Errors
//
// An error of a tool's handler becomes a result that the model can read, with the
// text of the error: a model that knows what went wrong can try something else.
// So such a text must not hold what the model, or its user, may not know;
// Options.ToolError can replace it. These
// become errors of the protocol instead, also when they are wrapped:
// *jsonrpc.Error, *mcp.InvalidParamsError, *mcp.MethodNotFoundError,
// *mcp.MissingCapabilityError, *mcp.HeaderMismatchError, *mcp.ForbiddenError and, in
// tasks, *OnceInterruptedError.
// From all other handlers an error of any other type is logged and answered with
// "internal error", without its text; mcp.ErrResourceNotFound and a
// *DeclinedError, which have answers of their own, are not logged.
//
// # Panics
//
// What New and the functions that add something refuse is a mistake in the
// program, and they panic. For features that are made at run time, those whose
// names begin with Try return an error instead.
//
// # Concurrency
//
// All methods of Server and Call may be called concurrently. Handlers run on the
// goroutine that calls Server.Serve; only a tool that runs as a task, or that may
// become one, has a goroutine of its own, until its handler ends, and so has a job.
// Server.Close stops those of tasks and jobs and waits for them.
package server
