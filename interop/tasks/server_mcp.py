"""The server of server_sdk.mjs on the official SDK, mcp 1.x, whose tools are tasks of 2025-11-25:

    server_mcp.py server stdio|http
"""

import contextlib
import socket
import sys

import anyio
import mcp.types as types
import uvicorn
from mcp.server import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.routing import Mount

server = Server("interop")
server.experimental.enable_tasks()


def text(said):
    return types.CallToolResult(content=[types.TextContent(type="text", text=said)])


def form(**fields):
    properties = {name: {"type": kind} for name, kind in fields.items()}
    return {"type": "object", "properties": properties, "required": list(properties)}


async def count(task, arguments):
    for step in range(arguments["steps"]):
        await anyio.sleep(arguments["pause"])
        await task.update_status(f"{step + 1} of {arguments['steps']}")  # fails once the task is cancelled
    return text(f"counted to {arguments['steps']}")


async def order(task, arguments):
    answer = await task.elicit("What do you want?", form(name="string", amount="integer"))
    return text(f"{answer.content['name']} wants {answer.content['amount']}")


async def ask(task, arguments):
    content = types.TextContent(type="text", text=arguments["text"])
    said = await task.create_message([types.SamplingMessage(role="user", content=content)], max_tokens=50)
    return text(f"the model said: {said.content.text}")


async def fail(task, arguments):
    return types.CallToolResult(content=text("it failed").content, isError=True)


async def broken(task, arguments):
    raise ValueError("it is broken")


async def apart(task, arguments):
    answer = await task.elicit_as_task("Who are you?", form(name="string"))
    return text(f"Hello, {answer.content['name']}.")


tools = {
    count: form(steps="integer", pause="number"),
    order: form(),
    ask: form(text="string"),
    fail: form(),
    broken: form(),
    apart: form(),
}


@server.list_tools()
async def list_tools():
    support = types.ToolExecution(taskSupport=types.TASK_REQUIRED)
    return [types.Tool(name=work.__name__, inputSchema=schema, execution=support) for work, schema in tools.items()]


@server.call_tool()
async def call_tool(name, arguments):
    context = server.request_context.experimental
    context.validate_task_mode(types.TASK_REQUIRED)
    work = next(work for work in tools if work.__name__ == name)
    return await context.run_task(lambda task: work(task, arguments))


async def over_stdio():
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options(NotificationOptions()))


def over_http():
    manager = StreamableHTTPSessionManager(app=server)

    @contextlib.asynccontextmanager
    async def lifespan(_):
        async with manager.run():
            yield

    app = Starlette(routes=[Mount("/mcp", app=manager.handle_request)], lifespan=lifespan)
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp/", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run([listener])


if sys.argv[2] == "stdio":
    anyio.run(over_stdio)
else:
    over_http()
