"""The client of the package fastmcp, with tasks of 2026-07-28:

    client_fastmcp.py client stdio|http EXPECTED
"""

import asyncio

from checks import LIMIT, annual, check, equal, expected, includes, said, way
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from fastmcp_tasks import ToolTask, call_tool_task
from fastmcp_tasks.client_models import ClientCreateTaskResult
from mcp.shared.exceptions import MCPError


class Visit:
    async def answer(self, message, response_type, params, context):
        return self.next

    def client(self, server):
        if way == "http":
            transport = StreamableHttpTransport(expected[server]["url"])
        else:
            command, *args = expected[server]["command"]
            transport = StdioTransport(command, args, keep_alive=False)
        return Client(transport, mode="auto", elicitation_handler=self.answer)

    async def connect(self):
        self.parley, self.ours = self.client("parley"), self.client("ours")
        for client in (self.parley, self.ours):
            await client.__aenter__()
            equal(client.session.protocol_version, expected["revision"], "the revision")
            includes(str(client.session.server_capabilities.extensions), "io.modelcontextprotocol/tasks")

    async def start(self, client, name, arguments):
        task = await call_tool_task(client, name, arguments, raise_on_error=False)
        equal(task.create_result.status, "working", "the first status")
        return task

    async def result(self):
        task = await self.start(self.parley, annual["name"], annual["complete"])
        includes(said(await task.result()), annual["text"])
        # And a plain call follows the task by itself.
        result = await self.parley.call_tool(annual["name"], annual["complete"])
        includes(said(result), annual["text"])

    async def poll(self):
        self.slow = await self.start(self.parley, annual["name"], annual["slow"])
        state = await self.slow.status()
        while not state.status_message:
            await asyncio.sleep(0.05)
            state = await self.slow.status()
        equal(state.status, "working", "the status")
        includes(state.status_message, annual["message"])

    async def cancel(self):
        await self.slow.cancel()
        equal((await self.slow.wait(timeout=LIMIT)).status, "cancelled", "the status")
        await self.slow.cancel()  # which must not matter
        includes(said(await self.slow.result()), "was cancelled")

    async def ask(self):
        self.next = ElicitResult(action="accept", content=annual["answer"])
        result = await (await self.start(self.parley, annual["name"], {})).result()
        equal(result.structured_content["format"], annual["answer"]["format"], "the format")

    async def failure(self):
        self.next = ElicitResult(action="decline")
        result = await (await self.start(self.parley, annual["name"], {})).result()
        equal(result.is_error, True, "whether it failed")
        includes(said(result), annual["declined"])

    async def error(self):
        task = await self.start(self.ours, "broken", {})
        equal((await task.wait(timeout=LIMIT)).error["code"], 4242, "the code")
        includes(said(await task.result()), "it is broken")

    async def unknown(self):
        seed = {"taskId": "there-is-no-such-task", "status": "working", "createdAt": "", "lastUpdatedAt": ""}
        made = ClientCreateTaskResult.model_validate({**seed, "resultType": "task"})
        try:
            await ToolTask(self.parley, annual["name"], made).status()
        except MCPError as error:
            equal(error.error.code, -32602, "the code")
        else:
            raise AssertionError("the task is known")

    async def end(self):
        for client in (self.parley, self.ours):
            await client.close()


async def main():
    visit = Visit()
    if await check("connect", visit.connect):
        for column in ("result", "poll", "cancel", "ask", "failure", "error", "unknown", "end"):
            await check(column, getattr(visit, column))


asyncio.run(main())
