"""A client on mcp 1.x, mcp 2.x or fastmcp that does everything that a client can do:
client.py mcp|fastmcp MODE URL, or client.py mcp|fastmcp MODE -- COMMAND...

MODE is auto, legacy or a revision; mcp 1.x does not look at it. What fails is told on
standard error and left; the process ends with code 0.
"""

import collections
import importlib.metadata
import json
import os
import re
import sys
import threading
from contextlib import AsyncExitStack, asynccontextmanager

import anyio

package, mode, *place = sys.argv[1:]
command = place[1:] if place[0] == "--" else None
url = None if command else place[0]
over_sse = bool(url) and url.rstrip("/").endswith("/sse")
first = importlib.metadata.version("mcp").startswith("1.")
EACH = 3  # seconds for one request
WHOLE = 25  # seconds for everything
PAGES = 50  # of one list: a server may never end one

if first:
    from mcp import types
else:
    import mcp_types as types

done = collections.Counter()


def finish():
    print(json.dumps(done), flush=True)
    os._exit(0)  # whatever still hangs


async def attempt(step, run):
    try:
        with anyio.fail_after(EACH):
            result = await run()
        done[step] += 1
        return result
    except Exception as error:  # a server may do anything
        print(f"{step}: {type(error).__name__}: {error}"[:300], file=sys.stderr)


def sample(schema):
    """A value that a schema asks for: the first of a choice, "x", 1 or true."""
    schema = schema or {}
    for name in ("const", "default"):
        if name in schema:
            return schema[name]
    if schema.get("enum"):
        return schema["enum"][0]
    choices = schema.get("oneOf") or schema.get("anyOf")
    if choices:
        return sample(choices[0])
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "object" or "properties" in schema:
        return {name: sample(value) for name, value in schema.get("properties", {}).items()}
    if kind == "array":
        return [sample(schema.get("items"))]
    if kind == "boolean":
        return True
    if kind in ("integer", "number"):
        return max(1, schema.get("minimum", 1))
    return "x@example.com" if schema.get("format") == "email" else "x" * max(1, schema.get("minLength", 1))


async def model(context, params):
    text = types.TextContent(type="text", text="x")
    return types.CreateMessageResult(role="assistant", content=text, model="innocent-model")


async def user(context, params):
    if getattr(params, "mode", "form") == "url":
        return types.ElicitResult(action="accept")
    schema = params.requestedSchema if first else params.requested_schema
    return types.ElicitResult(action="accept", content=sample(schema))


async def roots(context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///tmp", name="tmp")])


async def progressed(*progress):
    done["progress"] += 1


def dumped(value):
    return value.model_dump(by_alias=True, exclude_none=True, mode="json")


class First:
    """A ClientSession of mcp 1.x."""

    modern = False

    def __init__(self, session):
        self.session = session

    @classmethod
    @asynccontextmanager
    async def connected(cls):
        from mcp import ClientSession, StdioServerParameters

        async with AsyncExitStack() as stack:
            if command:
                from mcp.client.stdio import stdio_client

                way = stdio_client(StdioServerParameters(command=command[0], args=command[1:]))
            elif over_sse:
                from mcp.client.sse import sse_client

                way = sse_client(url)
            else:
                from mcp.client.streamable_http import streamablehttp_client

                way = streamablehttp_client(url)
            streams = await stack.enter_async_context(way)
            callbacks = {"sampling_callback": model, "elicitation_callback": user, "list_roots_callback": roots}
            session = await stack.enter_async_context(ClientSession(*streams[:2], **callbacks))
            with anyio.fail_after(2 * EACH):
                await session.initialize()
            yield cls(session)

    def declared(self):
        return dumped(self.session.get_server_capabilities())

    async def page(self, kind, cursor):
        params = types.PaginatedRequestParams(cursor=cursor) if cursor is not None else None
        return dumped(await getattr(self.session, f"list_{kind}")(params=params))

    async def call(self, name, arguments):
        await self.session.call_tool(name, arguments, progress_callback=progressed)

    async def read(self, uri):
        from pydantic import AnyUrl

        await self.session.read_resource(AnyUrl(uri))

    async def prompt(self, name, arguments):
        await self.session.get_prompt(name, arguments)

    async def complete(self, ref, name, value):
        await self.session.complete(ref, {"name": name, "value": value})

    async def level(self):
        await self.session.set_logging_level("debug")

    async def subscribe(self, uri):
        from pydantic import AnyUrl

        await self.session.subscribe_resource(AnyUrl(uri))

    async def unsubscribe(self, uri):
        from pydantic import AnyUrl

        await self.session.unsubscribe_resource(AnyUrl(uri))

    async def ping(self):
        await self.session.send_ping()

    async def roots_changed(self):
        await self.session.send_roots_list_changed()


class Second:
    """A Client of mcp 2.x."""

    def __init__(self, client):
        self.client = client
        self.listening = AsyncExitStack()
        self.modern = client.protocol_version >= "2026-07-28"

    @classmethod
    @asynccontextmanager
    async def connected(cls):
        from mcp import Client, StdioServerParameters

        to = StdioServerParameters(command=command[0], args=command[1:]) if command else url
        if over_sse:
            from mcp.client.sse import sse_client

            to = sse_client(url)
        callbacks = {"sampling_callback": model, "elicitation_callback": user, "list_roots_callback": roots}
        async with Client(to, mode=mode, log_level="debug", **callbacks) as client:
            yield cls(client)

    def declared(self):
        return dumped(self.client.server_capabilities)

    async def page(self, kind, cursor):
        return dumped(await getattr(self.client, f"list_{kind}")(cursor=cursor, cache_mode="refresh"))

    async def call(self, name, arguments):
        await self.client.call_tool(name, arguments, progress_callback=progressed)

    async def read(self, uri):
        await self.client.read_resource(uri, cache_mode="refresh")

    async def prompt(self, name, arguments):
        await self.client.get_prompt(name, arguments)

    async def complete(self, ref, name, value):
        await self.client.complete(ref, {"name": name, "value": value})

    async def level(self):
        if not self.modern:
            await self.client.set_logging_level("debug")

    async def subscribe(self, uri):
        if self.modern:
            await self.listening.enter_async_context(self.client.listen(tools_list_changed=True, resource_subscriptions=[uri]))
        else:
            await self.client.subscribe_resource(uri)

    async def unsubscribe(self, uri):
        if self.modern:
            await self.listening.aclose()
        else:
            await self.client.unsubscribe_resource(uri)

    async def ping(self):
        if not self.modern:
            await self.client.send_ping()

    async def roots_changed(self):
        if not self.modern:
            await self.client.send_roots_list_changed()


class Fast(Second):
    """A Client of fastmcp; its subscriptions are those of the session below."""

    @classmethod
    @asynccontextmanager
    async def connected(cls):
        from fastmcp import Client
        from fastmcp.client.transports import StdioTransport

        to = StdioTransport(command[0], command[1:], keep_alive=False) if command else url
        async with Client(
            to, mode=mode, sampling_handler=cls.said, elicitation_handler=cls.filled, roots=["file:///tmp"]
        ) as client:
            yield cls(client)

    @staticmethod
    async def said(messages, params, context):
        return "x"

    @staticmethod
    async def filled(message, response_type, params, context):
        return sample(getattr(params, "requested_schema", None))

    async def page(self, kind, cursor):
        return dumped(await getattr(self.client, f"list_{kind}_mcp")(cursor=cursor))

    async def call(self, name, arguments):
        await self.client.call_tool(name, arguments, progress_handler=progressed, raise_on_error=False)

    async def read(self, uri):
        await self.client.read_resource(uri)

    async def level(self):
        if not self.modern:
            await self.client.set_logging_level("debug")

    async def subscribe(self, uri):
        if not self.modern:
            await self.client.session.subscribe_resource(uri)

    async def unsubscribe(self, uri):
        if not self.modern:
            await self.client.session.unsubscribe_resource(uri)

    async def ping(self):
        if not self.modern:
            await self.client.ping()


async def everything(peer):
    has = peer.declared()
    async def pages(kind, member):
        found, cursor = [], None
        for _ in range(PAGES):
            page = await attempt(f"list {kind}", lambda: peer.page(kind, cursor)) or {}
            found += page.get(member, [])
            cursor = page.get("nextCursor")
            if cursor is None:
                break
        return found

    if "logging" in has:
        await attempt("level", peer.level)
    tools = await pages("tools", "tools") if "tools" in has else []
    resources = await pages("resources", "resources") if "resources" in has else []
    templates = await pages("resource_templates", "resourceTemplates") if "resources" in has else []
    prompts = await pages("prompts", "prompts") if "prompts" in has else []
    watches = resources and has["resources"].get("subscribe")
    if watches:
        await attempt("subscribe", lambda: peer.subscribe(resources[0]["uri"]))
    for tool in tools:
        await attempt("call", lambda: peer.call(tool["name"], sample(tool["inputSchema"])))
    for resource in resources:
        await attempt("read", lambda: peer.read(resource["uri"]))
    for template in templates:
        await attempt("read", lambda: peer.read(re.sub(r"\{[^}]*\}", "x", template["uriTemplate"])))
        variable = re.search(r"\{[^}\w]*(\w+)", template["uriTemplate"])
        kind = types.ResourceTemplateReference
        if "completions" in has and variable:
            ref = kind(type="ref/resource", uri=template["uriTemplate"])
            await attempt("complete", lambda: peer.complete(ref, variable[1], ""))
    for prompt in prompts:
        names = [argument["name"] for argument in prompt.get("arguments", [])]
        await attempt("prompt", lambda: peer.prompt(prompt["name"], {name: "x" for name in names}))
        if "completions" in has and names:
            ref = types.PromptReference(type="ref/prompt", name=prompt["name"])
            await attempt("complete", lambda: peer.complete(ref, names[0], "p"))
    await attempt("ping", peer.ping)
    slow = [tool for tool in tools if re.search("slow|count|paced|long", tool["name"])] + tools
    if slow:
        with anyio.move_on_after(0.1):
            await attempt("cancelled too late", lambda: peer.call(slow[0]["name"], sample(slow[0]["inputSchema"])))
        done["cancel"] += 1
    await attempt("roots changed", peer.roots_changed)
    await anyio.sleep(0.2)  # for notifications on their way
    if watches:
        await attempt("unsubscribe", lambda: peer.unsubscribe(resources[0]["uri"]))


async def main():
    kind = Fast if package == "fastmcp" else First if first else Second
    try:
        async with kind.connected() as peer:
            done["connect"] += 1
            await everything(peer)
        done["close"] += 1
    except BaseException as error:  # a server may do anything
        print(f"connection: {error!r}"[:500], file=sys.stderr)


# A thread, because a client that hangs may hang in its loop.
timer = threading.Timer(WHOLE, finish)
timer.daemon = True
timer.start()
anyio.run(main)
finish()
