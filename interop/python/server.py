"""A small server on the official SDK, mcp 1.x or 2.x, for parley to talk to."""

import argparse
import importlib.metadata
import json
from typing import Annotated

import anyio
from pydantic import BaseModel, Field

parser = argparse.ArgumentParser()
parser.add_argument("--transport", choices=["stdio", "http", "sse"], default="stdio")
parser.add_argument("--port", type=int, default=0)
parser.add_argument("--notes", required=True, help="file for what no client gets to see")
options = parser.parse_args()
first = importlib.metadata.version("mcp").startswith("1.")

if first:
    from mcp.server.fastmcp import Context, FastMCP
    from mcp.types import Completion, SamplingMessage, TextContent

    app = FastMCP("interop", host="127.0.0.1", port=options.port or 1, log_level="INFO")
else:
    from mcp.server.mcpserver import Context, MCPServer
    from mcp.server.mcpserver.resolve import Elicit, Resolve, Sample
    from mcp_types import Completion, SamplingMessage, TextContent

    app = MCPServer("interop", log_level="INFO")


class Order(BaseModel):
    name: str = Field(min_length=1)
    amount: int


def note(line):
    with open(options.notes, "a", encoding="utf-8") as file:
        file.write(line + "\n")


@app.tool()
def add(a: int, b: int) -> int:
    """Adds two integers."""
    return a + b


@app.tool()
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


def question(text):
    return [SamplingMessage(role="user", content=TextContent(type="text", text=text))]


if first:

    @app.tool()
    async def ask(text: str, ctx: Context) -> str:
        """Asks the client's model."""
        result = await ctx.session.create_message(question(text), max_tokens=50)
        return f"the model said: {result.content.text}"

    if hasattr(Context, "elicit"):

        @app.tool()
        async def order(ctx: Context) -> str:
            """Asks the user what to order."""
            result = await ctx.elicit("What do you want?", Order)
            return f"{result.action}: {result.data.model_dump_json() if result.action == 'accept' else ''}"

else:
    from mcp.server.elicitation import ElicitationResult
    from mcp_types import CreateMessageResult

    def ask_model(text: str) -> Sample:
        return Sample(question(text), max_tokens=50)

    @app.tool()
    async def ask(text: str, said: Annotated[CreateMessageResult, Resolve(ask_model)]) -> str:
        """Asks the client's model."""
        return f"the model said: {said.content.text}"

    def ask_user() -> Elicit[Order]:
        return Elicit("What do you want?", Order)

    @app.tool()
    async def order(answer: Annotated[ElicitationResult[Order], Resolve(ask_user)]) -> str:
        """Asks the user what to order."""
        return f"{answer.action}: {answer.data.model_dump_json() if answer.action == 'accept' else ''}"


@app.resource("notes://today")
def today() -> str:
    return json.dumps({"note": "grüß dich"}, ensure_ascii=False)


@app.resource("notes://{day}/all")
def of_day(day: str) -> str:
    return f"the notes of {day}"


@app.prompt()
def review(code: str, language: str) -> str:
    return f"Please review this {language}: {code}"


async def complete(ref, argument, context=None):
    languages = ["pascal", "perl", "python", "ruby"]
    return Completion(values=[language for language in languages if language.startswith(argument.value)])


# Before 1.10, only the lower level could complete.
if hasattr(app, "completion"):
    app.completion()(complete)
else:
    app._mcp_server.completion()(complete)

transport = {"stdio": "stdio", "http": "streamable-http", "sse": "sse"}[options.transport]
if first or transport == "stdio":
    app.run(transport)
else:
    app.run(transport, host="127.0.0.1", port=options.port)
