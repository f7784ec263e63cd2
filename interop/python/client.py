"""Runs one Python SDK as a client against `parley serve`, and writes the outcome
of each check as a line of JSON, from which run.mjs makes a table.

One script serves all versions: their differences are in the classes below, and
the checks are written once.
"""

import argparse
import asyncio
import importlib.metadata
import json
import re
import sys
import time
import traceback
import urllib.error
import urllib.request
from contextlib import AsyncExitStack, asynccontextmanager

import anyio

parser = argparse.ArgumentParser()
parser.add_argument("--package", choices=["mcp", "fastmcp"], required=True)
parser.add_argument("--transport", choices=["stdio", "http", "sse"], required=True)
parser.add_argument("--revision", required=True, help="what has to come out of the negotiation")
parser.add_argument("--mode", help="how a client of 2.x negotiates")
parser.add_argument("--target", required=True, help="a URL, or the path of parley")
parser.add_argument("--server", required=True, help="what to expect of the server, as JSON")
options = parser.parse_args()
server = json.loads(options.server)
modern = options.revision == "2026-07-28"
generation = int(importlib.metadata.version("mcp").split(".")[0])
LIMIT = server.get("patience", 15)  # seconds for a check


class Skip(Exception):
    """A check that does not apply to this version."""


def say(**line):
    print(json.dumps(line), flush=True)


async def check(column, run):
    try:
        with anyio.fail_after(LIMIT):
            await run()
        say(column=column, passed=True)
    except Skip:
        say(column=column, skipped=True)
    except Exception as error:  # every way to fail is a result
        say(column=column, passed=False, text=describe(error))


def describe(error):
    causes = getattr(error, "exceptions", None)
    if causes:
        return "; ".join(describe(cause) for cause in causes)
    where = traceback.extract_tb(error.__traceback__)[-1:]
    place = "".join(f" ({frame.name}, line {frame.lineno})" for frame in where)
    return f"{type(error).__name__}: {error}"[:1500] + place


def equal(actual, expected, what):
    assert actual == expected, f"{what}: expected {expected!r}, got {actual!r}"[:1000]


# Every message of the connection, as it went through the SDK's own streams:
# (sent, message). All versions hand two streams to one constructor.
messages = []
http_transports = []


class Tap:
    """A stream that records what passes through it."""

    def __init__(self, stream, sent):
        self.stream = stream
        self.sent = sent

    def __getattr__(self, name):
        return getattr(self.stream, name)

    def note(self, item):
        message = getattr(item, "message", None)
        if message is not None:
            messages.append((self.sent, message.model_dump(by_alias=True, exclude_none=True, mode="json")))
        return item

    async def send(self, item):
        self.note(item)
        await self.stream.send(item)

    async def receive(self):
        return self.note(await self.stream.receive())

    def __aiter__(self):
        return self

    async def __anext__(self):
        return self.note(await self.stream.__anext__())

    async def __aenter__(self):
        await self.stream.__aenter__()
        return self

    async def __aexit__(self, *error):
        return await self.stream.__aexit__(*error)


def listen_in():
    if generation == 1:
        from mcp.shared.session import BaseSession as owner
    else:
        from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher as owner
    make = owner.__init__

    def made(self, read, write, *args, **kwargs):
        make(self, Tap(read, False), Tap(write, True), *args, **kwargs)

    owner.__init__ = made

    # No version of 2.x tells which session it was.
    from mcp.client.streamable_http import StreamableHTTPTransport

    make_http = StreamableHTTPTransport.__init__

    def made_http(self, *args, **kwargs):
        make_http(self, *args, **kwargs)
        http_transports.append(self)

    StreamableHTTPTransport.__init__ = made_http


def sent(method):
    return [message for out, message in messages if out and message.get("method") == method]


def received(method):
    return [message for out, message in messages if not out and message.get("method") == method]


def answers(request_id):
    return [m for out, m in messages if not out and "method" not in m and m.get("id") == request_id]


def answer_form(schema):
    """Fills a form the way a willing user would."""
    return {name: answer_field(field) for name, field in (schema or {}).get("properties", {}).items()}


def answer_field(field):
    if "enum" in field:
        return field["enum"][0]
    if "oneOf" in field:
        return field["oneOf"][0]["const"]
    kind = field.get("type")
    if kind == "boolean":
        return True
    if kind in ("integer", "number"):
        return max(1, field.get("minimum", 1))
    if kind == "array":
        return field["items"]["enum"][:1] if "enum" in field["items"] else [field["items"]["anyOf"][0]["const"]]
    if field.get("format") == "email":
        return "ada@example.com"
    text = "Ada Lovelace".ljust(field.get("minLength", 0), ".")
    return text[: field.get("maxLength", len(text))]


asked = {"elicitation": [], "sampling": []}


class First:
    """Package mcp 1.x."""

    def __init__(self, session, result):
        from mcp import types

        self.types = types
        self.session = session
        self.result = result
        self.progressing = []  # gets the progress that comes without a callback

    @classmethod
    @asynccontextmanager
    async def connected(cls):
        import inspect

        from mcp import ClientSession, StdioServerParameters, types

        callbacks = {"sampling_callback": cls.sample}
        if "elicitation_callback" in inspect.signature(ClientSession.__init__).parameters:
            callbacks["elicitation_callback"] = cls.elicit
        heard = []

        async def notified(message):
            root = getattr(message, "root", None)
            if isinstance(root, types.ProgressNotification):
                for progressing in heard:
                    progressing(root.params.progressToken, root.params.progress)

        async with AsyncExitStack() as stack:
            if options.transport == "stdio":
                from mcp.client.stdio import stdio_client

                command = StdioServerParameters(command=options.target, args=server["stdio"])
                streams = await stack.enter_async_context(stdio_client(command))
            elif options.transport == "sse":
                from mcp.client.sse import sse_client

                streams = await stack.enter_async_context(sse_client(options.target))
            else:
                from mcp.client.streamable_http import streamablehttp_client

                streams = await stack.enter_async_context(streamablehttp_client(options.target))
            session = await stack.enter_async_context(
                ClientSession(*streams[:2], message_handler=notified, **callbacks)
            )
            peer = cls(session, await session.initialize())
            heard.append(lambda *what: [progressing(*what) for progressing in peer.progressing])
            yield peer

    @staticmethod
    async def sample(context, params):
        from mcp import types

        asked["sampling"].append(params.model_dump(by_alias=True, exclude_none=True, mode="json"))
        text = types.TextContent(type="text", text=server["sampling"]["answer"])
        return types.CreateMessageResult(role="assistant", content=text, model="parley-interop-model")

    @staticmethod
    async def elicit(context, params):
        from mcp import types

        asked["elicitation"].append(params.message)
        return types.ElicitResult(action="accept", content=answer_form(params.requestedSchema))

    @property
    def elicits(self):
        return hasattr(self.types, "ElicitResult")

    def revision(self):
        return self.result.protocolVersion

    def server_name(self):
        return self.result.serverInfo.name

    async def tools(self):
        return [(tool.name, tool.inputSchema) for tool in (await self.session.list_tools()).tools]

    async def resources(self):
        return [str(resource.uri) for resource in (await self.session.list_resources()).resources]

    async def templates(self):
        return [t.uriTemplate for t in (await self.session.list_resource_templates()).resourceTemplates]

    async def prompts(self):
        return [prompt.name for prompt in (await self.session.list_prompts()).prompts]

    async def call(self, name, arguments, progress=None):
        import inspect

        if progress is None:
            result = await self.session.call_tool(name, arguments)
        elif "progress_callback" in inspect.signature(self.session.call_tool).parameters:

            async def callback(value, total, message):
                progress(value)

            result = await self.session.call_tool(name, arguments, progress_callback=callback)
        else:
            result = await self.call_with_token(name, arguments, progress)
        return bool(result.isError), text_of(result)

    async def call_with_token(self, name, arguments, progress):
        """Asks for progress where the SDK has no callback for it, only a token."""
        types = self.types
        token = f"parley-{len(messages)}"
        params = {"name": name, "arguments": arguments, "_meta": {"progressToken": token}}
        request = types.CallToolRequest(method="tools/call", params=types.CallToolRequestParams.model_validate(params))
        self.progressing.append(lambda of, value: of == token and progress(value))
        return await self.session.send_request(types.ClientRequest(request), types.CallToolResult)

    async def abandon(self, scope):
        # This generation does not notify the server when a caller gives up, but has the message.
        types = self.types
        request = sent("tools/call")[-1]
        params = types.CancelledNotificationParams(requestId=request["id"], reason="enough")
        note = types.CancelledNotification(method="notifications/cancelled", params=params)
        await self.session.send_notification(types.ClientNotification(note))
        scope.cancel()

    async def read(self, uri):
        from pydantic import AnyUrl

        return (await self.session.read_resource(AnyUrl(uri))).contents[0].text

    async def prompt(self, name, arguments):
        result = await self.session.get_prompt(name, arguments)
        return "\n".join(message.content.text for message in result.messages)

    async def complete(self, prompt, argument, prefix):
        ref = self.types.PromptReference(type="ref/prompt", name=prompt)
        result = await self.session.complete(ref, {"name": argument, "value": prefix})
        return result.completion.values

    async def alive(self):
        await self.session.send_ping()


class Second:
    """Package mcp 2.x."""

    def __init__(self, client):
        self.client = client

    @classmethod
    @asynccontextmanager
    async def connected(cls):
        from mcp import Client, StdioServerParameters

        place = options.target
        if options.transport == "stdio":
            place = StdioServerParameters(command=options.target, args=server["stdio"])
        async with Client(
            place, mode=options.mode, sampling_callback=cls.sample, elicitation_callback=cls.elicit
        ) as client:
            yield cls(client)

    @staticmethod
    async def sample(context, params):
        import mcp_types as types

        asked["sampling"].append(params.model_dump(by_alias=True, exclude_none=True, mode="json"))
        text = types.TextContent(type="text", text=server["sampling"]["answer"])
        return types.CreateMessageResult(role="assistant", content=text, model="parley-interop-model")

    @staticmethod
    async def elicit(context, params):
        import mcp_types as types

        asked["elicitation"].append(params.message)
        return types.ElicitResult(action="accept", content=answer_form(params.requested_schema))

    elicits = True

    def revision(self):
        return self.client.protocol_version

    def server_name(self):
        return self.client.server_info.name

    async def tools(self):
        return [(tool.name, tool.input_schema) for tool in (await self.client.list_tools()).tools]

    async def resources(self):
        return [str(resource.uri) for resource in (await self.client.list_resources()).resources]

    async def templates(self):
        return [t.uri_template for t in (await self.client.list_resource_templates()).resource_templates]

    async def prompts(self):
        return [prompt.name for prompt in (await self.client.list_prompts()).prompts]

    async def call(self, name, arguments, progress=None):
        callback = progress and self.callback(progress)
        result = await self.client.call_tool(name, arguments, progress_callback=callback)
        return bool(result.is_error), text_of(result)

    @staticmethod
    def callback(progress):
        async def callback(value, total, message):
            progress(value)

        return callback

    async def abandon(self, scope):
        scope.cancel()

    async def read(self, uri):
        return (await self.client.read_resource(uri, cache_mode="refresh")).contents[0].text

    async def prompt(self, name, arguments):
        result = await self.client.get_prompt(name, arguments)
        return "\n".join(message.content.text for message in result.messages)

    async def complete(self, prompt, argument, prefix):
        import mcp_types as types

        ref = types.PromptReference(type="ref/prompt", name=prompt)
        return (await self.client.complete(ref, {"name": argument, "value": prefix})).completion.values

    async def alive(self):
        # Revision 2026-07-28 no longer has ping.
        if modern:
            await self.client.list_tools(cache_mode="refresh")
        else:
            await self.client.send_ping()


class Fast(Second):
    """Package fastmcp, on top of mcp 2.x."""

    @classmethod
    @asynccontextmanager
    async def connected(cls):
        from fastmcp import Client
        from fastmcp.client.transports import StdioTransport

        place = options.target
        if options.transport == "stdio":
            # Otherwise the process would outlive the client, to be reused by the next one.
            place = StdioTransport(options.target, server["stdio"], keep_alive=False)
        async with Client(
            place, mode=options.mode, sampling_handler=cls.sample_messages, elicitation_handler=cls.fill
        ) as client:
            yield cls(client)

    @staticmethod
    async def sample_messages(messages, params, context):
        asked["sampling"].append(params.model_dump(by_alias=True, exclude_none=True, mode="json"))
        return server["sampling"]["answer"]

    @staticmethod
    async def fill(message, response_type, params, context):
        asked["elicitation"].append(message)
        return answer_form(params.requested_schema)

    def revision(self):
        return self.client.session.protocol_version

    def server_name(self):
        return self.client.session.server_info.name

    async def tools(self):
        return [(tool.name, tool.input_schema) for tool in await self.client.list_tools()]

    async def resources(self):
        return [str(resource.uri) for resource in await self.client.list_resources()]

    async def templates(self):
        return [template.uri_template for template in await self.client.list_resource_templates()]

    async def prompts(self):
        return [prompt.name for prompt in await self.client.list_prompts()]

    async def call(self, name, arguments, progress=None):
        handler = progress and self.callback(progress)
        result = await self.client.call_tool(name, arguments, progress_handler=handler, raise_on_error=False)
        return bool(result.is_error), text_of(result)

    async def read(self, uri):
        return (await self.client.read_resource(uri))[0].text

    async def complete(self, prompt, argument, prefix):
        import mcp_types as types

        ref = types.PromptReference(type="ref/prompt", name=prompt)
        return (await self.client.complete(ref, {"name": argument, "value": prefix})).values

    async def alive(self):
        if modern:
            await self.client.list_tools()
        else:
            await self.client.ping()


def text_of(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


async def checks(peer):
    async def connect():
        equal(peer.revision(), options.revision, "negotiated protocol revision")
        equal(len(sent("initialize")), 0 if modern else 1, "initialize requests of this client")
        assert peer.server_name(), "the client holds no server name"
        if options.transport == "http":
            has_session = bool(http_transports[-1].session_id)
            equal(has_session, not modern, "a session id")

    async def list_all():
        tools = dict(await peer.tools())
        for tool in ("calculate", "progress", "slow", "checkout", "sampling"):
            assert server[tool]["name"] in tools, f"no tool {server[tool]['name']} among {list(tools)}"
        equal(tools[server["calculate"]["name"]]["type"], "object", "type of the input schema")
        uris = await peer.resources()
        assert server["resource"]["uri"] in uris, f"no resource {server['resource']['uri']} among {uris}"
        templates = await peer.templates()
        assert templates and all("{" in template for template in templates), f"templates: {templates}"
        prompts = await peer.prompts()
        assert server["prompt"]["name"] in prompts, f"no prompt {server['prompt']['name']} among {prompts}"

    async def call():
        failed, text = await peer.call(server["calculate"]["name"], server["calculate"]["arguments"])
        equal((failed, text), (False, server["calculate"]["text"]), "result")

    async def wrong_arguments():
        failed, text = await peer.call(server["calculate"]["name"], server["calculate"]["wrongArguments"])
        assert failed, f"not a failed result: {text}"
        assert server["calculate"]["missing"] in text, f"the missing argument is not named: {text}"

    async def unknown_tool():
        try:
            result = await peer.call(server["unknownTool"], {})
        except Exception as error:
            refusal = getattr(error, "error", None)
            equal(getattr(refusal, "code", None), -32602, f"code of {error!r}")
        else:
            raise AssertionError(f"answered with a result instead of an error: {result}")

    async def read():
        assert isinstance(json.loads(await peer.read(server["resource"]["uri"])), dict), "not a JSON object"

    async def prompt():
        text = await peer.prompt(server["prompt"]["name"], server["prompt"]["arguments"])
        for part in server["prompt"]["contains"]:
            assert part in text, f"{part!r} is missing in {text!r}"

    async def complete():
        wanted = server["completion"]
        values = await peer.complete(server["prompt"]["name"], wanted["argument"], wanted["prefix"])
        assert wanted["includes"] in values, f"{wanted['includes']} is not among {values}"

    async def progress():
        # The slow tool: when progress and response come at once, versions differ in
        # which of them they deliver first.
        got = []
        failed, text = await peer.call(server["paced"]["name"], server["paced"]["arguments"], got.append)
        assert not failed, text
        request = sent("tools/call")[-1]
        token = request["params"]["_meta"]["progressToken"]
        values = [m["params"]["progress"] for m in received("notifications/progress")
                  if m["params"]["progressToken"] == token]
        equal(len(values), server["paced"]["arguments"]["steps"], f"progress notifications with the token {token}")
        assert values == sorted(set(values)), f"progress does not increase strictly: {values}"
        assert len(got) >= 2, f"{len(values)} notifications came, but {len(got)} reached the callback"

    async def cancelled_calls():
        lines = (await peer.read(server["log"]["uri"])).split("\n")
        return {line for line in lines if re.search(server["log"]["cancelled"], line)}

    async def newly_cancelled(before):
        added = set()
        with anyio.move_on_after(10):
            while not added:
                added = (await cancelled_calls()) - before
                await anyio.sleep(0.02)
        return added

    async def cancel():
        before = await cancelled_calls()
        begun = anyio.Event()
        outcome = []

        async def slow(scope):
            with scope:
                try:
                    outcome.append(
                        await peer.call(
                            server["slow"]["name"], server["slow"]["arguments"], lambda value: begun.set()
                        )
                    )
                except Exception as error:
                    outcome.append(error)

        scope = anyio.CancelScope()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(slow, scope)
            await begun.wait()
            request = sent("tools/call")[-1]
            await peer.abandon(scope)
            given_up = time.monotonic()
        assert time.monotonic() - given_up < 5, "the call did not end at once"  # it would take 20 s
        equal(outcome, [], "outcome of the cancelled call")
        await peer.alive()
        added = await newly_cancelled(before)
        equal(len(added), 1, f"calls that the server's log has as cancelled: {added}")
        count = len(received("notifications/progress"))
        await anyio.sleep(0.4)
        equal(len(received("notifications/progress")), count, "progress notifications after the tool was cancelled")
        equal(answers(request["id"]), [], "answers to the cancelled request")

    async def elicit():
        if not peer.elicits:
            raise Skip
        asked["elicitation"].clear()
        failed, text = await peer.call(server["checkout"]["name"], server["checkout"]["arguments"])
        assert not failed and text, f"the tool failed: {text}"
        equal(len(asked["elicitation"]), server["checkout"]["questions"], "questions asked")
        wanted = 0 if modern else server["checkout"]["questions"]
        equal(len(received("elicitation/create")), wanted, "elicitation requests of the server")

    async def sample():
        asked["sampling"].clear()
        failed, text = await peer.call(server["sampling"]["name"], server["sampling"]["arguments"])
        assert asked["sampling"], f"the server did not ask the client's model: {text}"
        assert server["sampling"]["prompt"] in json.dumps(asked["sampling"]), "the entry is missing in the prompt"
        assert not failed and server["sampling"]["answer"] in text, f"the model's answer is missing in {text}"

    await check("connect", connect)
    await check("list", list_all)
    await check("call", call)
    await check("wrong args", wrong_arguments)
    await check("unknown tool", unknown_tool)
    await check("read", read)
    await check("prompt", prompt)
    await check("complete", complete)
    await check("progress", progress)
    # The log of one server is about all of its clients: run.mjs lets them cancel in turn.
    say(turn=True)
    await asyncio.to_thread(sys.stdin.readline)
    await check("cancel", cancel)
    say(turn=False)
    await check("elicit", elicit)
    await check("sample", sample)
    for other in server.get("others", []):
        await check(f"other {other['column']}", lambda: visit(peer, other))


async def visit(peer, other):
    """Calls a tool of another server behind the same endpoint."""
    try:
        failed, text = await peer.call(other["name"], other["arguments"])
    except Exception as error:  # some versions have errors of the protocol as results, others raise them
        failed, text = True, str(error)
    equal(failed, other.get("fails", False), f"whether {other['name']} fails, with {text!r}")
    assert other["contains"] in text, f"{other['contains']!r} is missing in {text!r}"


def status_of_session(url, session):
    """The status of a request to a session that should have ended."""
    request = urllib.request.Request(
        url,
        data=b'{"jsonrpc":"2.0","id":1,"method":"ping"}',
        headers={
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Mcp-Session-Id": session,
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=5) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code


async def main():
    listen_in()
    kind = Fast if options.package == "fastmcp" else First if generation == 1 else Second
    connected = False
    try:
        async with kind.connected() as peer:
            connected = True
            await checks(peer)
            session = http_transports[-1].session_id if options.transport == "http" else None
            begun = time.monotonic()
    except BaseException as error:
        say(column="end" if connected else "connect", passed=False, text=describe(error))
        return

    async def end():
        took = time.monotonic() - begun
        assert took < 5, f"it took {took:.1f} s to close the connection"
        if session:
            equal(status_of_session(options.target, session), 404, "status of a request to the closed session")

    await check("end", end)


asyncio.run(main())
