"""The same server as server.py on the package fastmcp, whose tools ask in two
ways: within the call before 2026-07-28, and by an answer that asks since then."""

import argparse
import json

import anyio
from fastmcp import Context, FastMCP
from mcp_types import (
    Completion,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
    SamplingMessage,
    TextContent,
)
from pydantic import BaseModel

parser = argparse.ArgumentParser()
parser.add_argument("--transport", choices=["stdio", "http"], default="stdio")
parser.add_argument("--port", type=int, default=0)
parser.add_argument("--notes", required=True, help="file for what no client gets to see")
options = parser.parse_args()

app = FastMCP("interop")


class Order(BaseModel):
    name: str
    amount: int


def note(line):
    with open(options.notes, "a", encoding="utf-8") as file:
        file.write(line + "\n")


@app.tool
def add(a: int, b: int) -> int:
    """Adds two integers."""
    return a + b


@app.tool
async def count(steps: int, pause: float, ctx: Context) -> str:
    """Counts slowly and reports its progress."""
    try:
        for step in range(steps):
            await anyio.sleep(pause)
            await ctx.report_progress(step + 1, steps)
    except anyio.get_cancelled_exc_class():
        note("count was cancelled")
        raise
    return f"counted to {steps}"


def asks_by_answer(ctx):
    return ctx.request_context.protocol_version == "2026-07-28"


@app.tool
async def ask(text: str, ctx: Context) -> str | InputRequiredResult:
    """Asks the client's model."""
    messages = [SamplingMessage(role="user", content=TextContent(type="text", text=text))]
    if not asks_by_answer(ctx):
        said = await ctx.session.create_message(messages, max_tokens=50, related_request_id=ctx.request_id)
    elif ctx.input_responses is None:
        request = CreateMessageRequest(params=CreateMessageRequestParams(messages=messages, max_tokens=50))
        return InputRequiredResult(input_requests={"model": request})
    else:
        said = ctx.input_responses["model"]
    return f"the model said: {said.content.text}"


@app.tool
async def order(ctx: Context) -> str | InputRequiredResult:
    """Asks the user what to order."""
    if not asks_by_answer(ctx):
        answer = await ctx.elicit("What do you want?", Order)
        return f"{answer.action}: {answer.data.model_dump_json() if answer.action == 'accept' else ''}"
    if ctx.input_responses is None:
        form = ElicitRequestFormParams(message="What do you want?", requested_schema=Order.model_json_schema())
        return InputRequiredResult(input_requests={"order": ElicitRequest(params=form)})
    answer = ctx.input_responses["order"]
    return f"{answer.action}: {json.dumps(answer.content) if answer.action == 'accept' else ''}"


@app.resource("notes://today")
def today() -> str:
    return json.dumps({"note": "grüß dich"}, ensure_ascii=False)


@app.resource("notes://{day}/all")
def of_day(day: str) -> str:
    return f"the notes of {day}"


@app.prompt
def review(code: str, language: str) -> str:
    return f"Please review this {language}: {code}"


@app.completion
def complete(ref, argument, context):
    languages = ["pascal", "perl", "python", "ruby"]
    return Completion(values=[language for language in languages if language.startswith(argument.value)])


if options.transport == "stdio":
    app.run("stdio", show_banner=False)
else:
    app.run("http", show_banner=False, host="127.0.0.1", port=options.port, log_level="info")
