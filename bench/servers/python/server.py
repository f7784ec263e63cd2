"""The server of the official Python SDK in the comparison."""

import argparse
from typing import Annotated

from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from mcp.server.mcpserver.tools import Tool
from pydantic import BaseModel

STEPS = 10
BASE_TOOLS = 4
MORE_THAN_ENOUGH = 1 << 20
DESCRIPTION = "One of many tools: it returns its arguments, and has a description of ordinary length."
BLOB = bytes((i * 7) & 0xFF for i in range(1 << 20))


class Echo(BaseModel):
    text: str
    count: int
    tags: list[str]


class Name(BaseModel):
    name: str


class Size(BaseModel):
    size: int


async def echo(text: str, count: int, tags: list[str]) -> Echo:
    return Echo(text=text, count=count, tags=tags)


async def progress(text: str, count: int, tags: list[str], ctx: Context) -> Echo:
    for i in range(STEPS):
        await ctx.report_progress(i + 1, STEPS)
    return Echo(text=text, count=count, tags=tags)


async def ask_name() -> Elicit[Name]:
    return Elicit("Which name?", Name)


async def ask_size(name: Annotated[Name, Resolve(ask_name)]) -> Elicit[Size]:
    return Elicit("Which size?", Size)


async def ask(
    text: str,
    count: int,
    tags: list[str],
    name: Annotated[Name, Resolve(ask_name)],
    size: Annotated[Size, Resolve(ask_size)],
) -> Echo:
    return Echo(text=name.name, count=size.size, tags=tags)


async def change(text: str, count: int, tags: list[str], ctx: Context) -> Echo:
    await ctx.notify_tools_changed()
    return Echo(text=text, count=count, tags=tags)


def new_server(tools: int) -> MCPServer:
    plan = [Tool.from_function(f, description=DESCRIPTION) for f in (echo, progress, ask, change)]
    plan += [plan[0].model_copy(update={"name": f"tool-{i:05d}"}) for i in range(BASE_TOOLS, tools)]
    server = MCPServer("bench", version="1.0.0", tools=plan, log_level="ERROR")

    @server.resource("bench://blob", mime_type="application/octet-stream")
    def blob() -> bytes:
        return BLOB

    return server


def main() -> None:
    flags = argparse.ArgumentParser()
    flags.add_argument("-http", default="")
    flags.add_argument("-tools", type=int, default=BASE_TOOLS)
    flags.add_argument("-era", default="stateless")
    args = flags.parse_args()
    server = new_server(args.tools)
    if args.http:
        host, port = args.http.split(":")
        server.run(transport="streamable-http", host=host, port=int(port), max_sessions=MORE_THAN_ENOUGH)
    else:
        server.run(transport="stdio")


if __name__ == "__main__":
    main()
