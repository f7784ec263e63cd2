"""A small server on mcp 1.x, mcp 2.x or fastmcp: server.py mcp|fastmcp stdio|http|sse"""

import importlib.metadata
import os
import socket
import sys
from typing import Annotated

import anyio
from pydantic import BaseModel, Field

package, way = sys.argv[1:3]
first = importlib.metadata.version("mcp").startswith("1.")
port = int(os.environ.get("PORT", 0))
if way != "stdio" and port == 0:
    with socket.socket() as free:  # no version says which port it got
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

if package == "fastmcp":
    from fastmcp import Context, FastMCP

    app = FastMCP("innocent")
elif first:
    from mcp.server.fastmcp import Context, FastMCP

    app = FastMCP("innocent", host="127.0.0.1", port=port or 1, log_level="WARNING")
else:
    from mcp.server.mcpserver import Context, MCPServer

    app = MCPServer("innocent", log_level="WARNING")
if first:
    from mcp import types
else:
    import mcp_types as types

READ_ONLY = types.ToolAnnotations(**{"readOnlyHint": True, "openWorldHint": False})
notes = {"today": "nothing yet"}


class Total(BaseModel):
    sum: float


class Order(BaseModel):
    name: str = Field(min_length=1)
    amount: int = 1


@app.tool(annotations=READ_ONLY)
def add(a: float, b: float) -> Total:
    """Adds two numbers."""
    return Total(sum=a + b)


@app.tool(annotations=READ_ONLY)
async def count(ctx: Context, steps: Annotated[int, Field(ge=1, le=50)] = 3) -> str:
    """Counts slowly and reports its progress."""
    for step in range(steps):
        await anyio.sleep(0.1)
        await ctx.report_progress(step + 1, steps)
    await ctx.info(f"counted to {steps}")
    return f"counted to {steps}"


def asked(question):
    return [types.SamplingMessage(role="user", content=types.TextContent(type="text", text=question))]


def require(ctx, kind):
    """Refuses to ask a client that did not say that it can answer; the form of a question counts as well."""
    declared = ctx.session.client_params.capabilities if first else ctx.session.client_capabilities
    can = getattr(declared, kind, None)
    if can is None or kind == "elicitation" and can.form is None and can.url is not None:
        raise ValueError("the client has nobody who answers that")


# How a tool asks is what the packages differ in most.
if package == "mcp" and first:

    @app.tool(annotations=READ_ONLY)
    async def ask(question: str, ctx: Context) -> str:
        """Asks the client's model."""
        require(ctx, "sampling")
        said = await ctx.session.create_message(asked(question), max_tokens=50, related_request_id=ctx.request_id)
        return f"the model said: {said.content.text}"

    @app.tool(annotations=READ_ONLY)
    async def order(ctx: Context) -> str:
        """Asks the user what to order."""
        require(ctx, "elicitation")
        answer = await ctx.elicit("What do you want?", Order)
        return f"{answer.action} {answer.data.model_dump_json() if answer.action == 'accept' else ''}"

elif package == "mcp":
    from mcp.server.elicitation import ElicitationResult
    from mcp.server.mcpserver.resolve import Elicit, Resolve, Sample

    def ask_model(question: str) -> Sample:
        return Sample(asked(question), max_tokens=50)

    def ask_user() -> Elicit[Order]:
        return Elicit("What do you want?", Order)

    @app.tool(annotations=READ_ONLY)
    async def ask(question: str, said: Annotated[types.CreateMessageResult, Resolve(ask_model)]) -> str:
        """Asks the client's model."""
        return f"the model said: {said.content.text}"

    @app.tool(annotations=READ_ONLY)
    async def order(answer: Annotated[ElicitationResult[Order], Resolve(ask_user)]) -> str:
        """Asks the user what to order."""
        return f"{answer.action} {answer.data.model_dump_json() if answer.action == 'accept' else ''}"

else:

    def stateless(ctx):
        return ctx.request_context.protocol_version == "2026-07-28"

    @app.tool(annotations=READ_ONLY)
    async def ask(question: str, ctx: Context) -> str | types.InputRequiredResult:
        """Asks the client's model."""
        require(ctx, "sampling")
        if not stateless(ctx):
            said = await ctx.session.create_message(asked(question), max_tokens=50, related_request_id=ctx.request_id)
        elif ctx.input_responses is None:
            params = types.CreateMessageRequestParams(messages=asked(question), max_tokens=50)
            return types.InputRequiredResult(input_requests={"model": types.CreateMessageRequest(params=params)})
        else:
            said = ctx.input_responses["model"]
        return f"the model said: {said.content.text}"

    @app.tool(annotations=READ_ONLY)
    async def order(ctx: Context) -> str | types.InputRequiredResult:
        """Asks the user what to order."""
        require(ctx, "elicitation")
        if not stateless(ctx):
            answer = await ctx.elicit("What do you want?", Order)
            return f"{answer.action} {answer.data.model_dump_json() if answer.action == 'accept' else ''}"
        if ctx.input_responses is None:
            form = types.ElicitRequestFormParams(message="What do you want?", requested_schema=Order.model_json_schema())
            return types.InputRequiredResult(input_requests={"order": types.ElicitRequest(params=form)})
        return f"{ctx.input_responses['order'].action} {ctx.input_responses['order'].content}"


@app.tool()
async def remember(note: str, ctx: Context) -> str:
    """Writes a note."""
    notes["today"] = note
    if hasattr(ctx, "notify_resource_updated"):
        await ctx.notify_resource_updated("notes://today")
    return "noted"


@app.resource("notes://today", mime_type="text/plain")
def today() -> str:
    """The notes of today"""
    return notes["today"]


@app.resource("notes://{day}/all", mime_type="text/plain")
def of_day(day: str) -> str:
    """The notes of a day"""
    return f"the notes of {day}"


def review(code: str, language: str) -> str:
    """Asks for a review"""
    return f"Please review this {language}: {code}"


async def complete(ref, argument, context=None):
    values = ["pascal", "perl", "python", "ruby"] if ref.type == "ref/prompt" else ["monday", "tuesday"]
    return types.Completion(values=[value for value in values if value.startswith(argument.value)])


app.prompt()(review)
(app.completion if package == "fastmcp" else app.completion())(complete)

if way != "stdio":
    print(f"http://127.0.0.1:{port}/{'sse' if way == 'sse' else 'mcp'}", flush=True)
if package == "fastmcp":
    # Otherwise every origin may ask.
    where = {"host": "127.0.0.1", "port": port, "log_level": "warning", "host_origin_protection": True}
    where = {} if way == "stdio" else where
    app.run(way, show_banner=False, **where)
else:
    transport = {"stdio": "stdio", "http": "streamable-http", "sse": "sse"}[way]
    where = {} if first or way == "stdio" else {"host": "127.0.0.1", "port": port}
    app.run(transport, **where)
