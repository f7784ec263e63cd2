"""The server of server_sdk.mjs on the package fastmcp, whose tools are tasks of 2026-07-28:

    server_fastmcp.py server stdio|http
"""

import asyncio
import socket
import sys
from datetime import timedelta

import uvicorn
from fastmcp import Context, FastMCP
from fastmcp.dependencies import Progress
from fastmcp.exceptions import ToolError
from fastmcp.utilities.tasks import TaskConfig
from fastmcp_tasks import TasksExtension
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
    SamplingMessage,
    TextContent,
)

quickly = TaskConfig(mode="optional", poll_interval=timedelta(milliseconds=50))
app = FastMCP("interop")
app.add_extension(TasksExtension())


@app.tool(task=quickly)
async def count(steps: int, pause: float, progress: Progress = Progress()) -> str:
    for step in range(steps):
        await asyncio.sleep(pause)
        await progress.set_message(f"{step + 1} of {steps}")
    return f"counted to {steps}"


@app.tool(task=quickly)
async def order(ctx: Context) -> str | InputRequiredResult:
    if ctx.input_responses is None:
        fields = {"name": {"type": "string"}, "amount": {"type": "integer"}}
        schema = {"type": "object", "properties": fields, "required": list(fields)}
        form = ElicitRequestFormParams(message="What do you want?", requested_schema=schema)
        return InputRequiredResult(input_requests={"order": ElicitRequest(params=form)})
    content = ctx.input_responses["order"].content
    return f"{content['name']} wants {content['amount']}"


@app.tool(task=quickly)
async def ask(text: str, ctx: Context) -> str | InputRequiredResult:
    if ctx.input_responses is None:
        messages = [SamplingMessage(role="user", content=TextContent(type="text", text=text))]
        request = CreateMessageRequest(params=CreateMessageRequestParams(messages=messages, max_tokens=50))
        return InputRequiredResult(input_requests={"model": request})
    return f"the model said: {ctx.input_responses['model'].content.text}"


@app.tool(task=quickly)
async def fail() -> str:
    raise ToolError("it failed")


@app.tool(task=quickly)
async def broken() -> str:
    raise MCPError(code=4242, message="it is broken")


if sys.argv[2] == "stdio":
    app.run("stdio", show_banner=False, log_level="warning")
else:
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    uvicorn.Server(uvicorn.Config(app.http_app(), log_level="warning")).run([listener])
