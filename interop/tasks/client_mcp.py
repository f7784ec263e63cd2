"""The client of the official SDK, mcp 1.x, with tasks of 2025-11-25 in both directions:

    client_mcp.py client stdio|http EXPECTED
"""

import asyncio
import contextlib

import mcp.types as types
from checks import annual, check, equal, expected, includes, said, way
from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.experimental.task_handlers import ExperimentalTaskHandlers
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.experimental.tasks.in_memory_task_store import InMemoryTaskStore


class Visit:
    def __init__(self):
        self.heard = 0
        self.apart_asked = 0
        self.store = InMemoryTaskStore()
        self.stack = contextlib.AsyncExitStack()

    async def elicit(self, context, params):
        return self.next

    async def sample(self, context, params):
        return self.next

    async def hear(self, message):
        if isinstance(message, types.ServerNotification) and isinstance(message.root, types.TaskStatusNotification):
            self.heard += 1

    async def elicit_apart(self, context, params, metadata):
        """Answers a question a little later than it says that it will."""
        self.apart_asked += 1
        task = await self.store.create_task(metadata)

        async def later():
            await asyncio.sleep(0.05)
            await self.store.store_result(task.taskId, self.next)
            await self.store.update_task(task.taskId, status="completed")

        self.later = asyncio.create_task(later())
        return types.CreateTaskResult(task=task)

    async def get_task(self, context, params):
        task = await self.store.get_task(params.taskId)
        return types.GetTaskResult(**task.model_dump())

    async def get_task_result(self, context, params):
        result = await self.store.get_result(params.taskId)
        return types.GetTaskPayloadResult.model_validate(result.model_dump(by_alias=True, exclude_none=True))

    async def open(self, server):
        if way == "http":
            streams = await self.stack.enter_async_context(streamable_http_client(expected[server]["url"]))
        else:
            command, *args = expected[server]["command"]
            streams = await self.stack.enter_async_context(stdio_client(StdioServerParameters(command=command, args=args)))
        handlers = ExperimentalTaskHandlers(
            augmented_elicitation=self.elicit_apart, get_task=self.get_task, get_task_result=self.get_task_result
        )
        session = ClientSession(
            *streams[:2],
            elicitation_callback=self.elicit,
            sampling_callback=self.sample,
            message_handler=self.hear,
            experimental_task_handlers=handlers,
        )
        await self.stack.enter_async_context(session)
        about = await session.initialize()
        equal(about.protocolVersion, expected["revision"], "the revision")
        if about.capabilities.tasks is None:
            raise AssertionError("the server does not declare tasks")
        return session

    async def connect(self):
        self.parley, self.ours = await self.open("parley"), await self.open("ours")

    async def start(self, session, name, arguments):
        task = (await session.experimental.call_tool_as_task(name, arguments)).task
        equal(task.status, "working", "the first status")
        return task.taskId

    async def finish(self, session, task):
        """Follows a task as the page has it: it asks for the result when there are questions."""
        async for state in session.experimental.poll_task(task):
            if state.status == "input_required":
                break
        return await session.experimental.get_task_result(task, types.CallToolResult)

    async def result(self):
        task = await self.start(self.parley, annual["name"], annual["complete"])
        includes(said(await self.finish(self.parley, task)), annual["text"])

    async def poll(self):
        self.slow = await self.start(self.parley, annual["name"], annual["slow"])
        state = await self.parley.experimental.get_task(self.slow)
        while not state.statusMessage:
            await asyncio.sleep(0.05)
            state = await self.parley.experimental.get_task(self.slow)
        equal(state.status, "working", "the status")
        includes(state.statusMessage, annual["message"])

    async def list(self):
        includes([task.taskId for task in (await self.parley.experimental.list_tasks()).tasks], self.slow)

    async def cancel(self):
        equal((await self.parley.experimental.cancel_task(self.slow)).status, "cancelled", "the status")
        equal((await self.parley.experimental.get_task(self.slow)).status, "cancelled", "the status")
        await self.refused(self.parley.experimental.cancel_task(self.slow), -32602)

    async def refused(self, request, code):
        try:
            await request
        except McpError as error:
            equal(error.error.code, code, "the code")
        else:
            raise AssertionError("there is no error")

    async def ask(self):
        self.next = types.ElicitResult(action="accept", content=annual["answer"])
        result = await self.finish(self.parley, await self.start(self.parley, annual["name"], {}))
        equal(result.structuredContent["format"], annual["answer"]["format"], "the format")

    async def failure(self):
        self.next = types.ElicitResult(action="decline")
        result = await self.finish(self.parley, await self.start(self.parley, annual["name"], {}))
        equal(result.isError, True, "whether it failed")
        includes(said(result), annual["declined"])

    async def sample_(self):
        content = types.TextContent(type="text", text="Because.")
        self.next = types.CreateMessageResult(role="assistant", model="none", content=content)
        result = await self.finish(self.ours, await self.start(self.ours, "ask", {"text": "Why?"}))
        includes(said(result), "the model said: Because.")

    async def error(self):
        await self.refused(self.finish(self.ours, await self.start(self.ours, "broken", {})), 4242)

    async def unknown(self):
        await self.refused(self.parley.experimental.get_task("there-is-no-such-task"), -32602)

    async def notify(self):
        while not self.heard:
            await asyncio.sleep(0.02)

    async def apart(self):
        self.next = types.ElicitResult(action="accept", content={"name": "Ada"})
        includes(said(await self.ours.call_tool("hello")), "Hello, Ada.")
        equal(self.apart_asked, 1, "questions that were tasks")


async def main():
    visit = Visit()
    # Not as a check, because what it opens has to be closed by the same task of asyncio.
    await visit.connect()
    await check("connect", lambda: asyncio.sleep(0))
    checks = {name: getattr(visit, name) for name in ("result", "poll", "list", "cancel", "ask", "failure")}
    checks.update(sample=visit.sample_, error=visit.error, unknown=visit.unknown, notify=visit.notify, apart=visit.apart)
    for column, run in checks.items():
        await check(column, run)
    await visit.stack.aclose()
    await check("end", lambda: asyncio.sleep(0))


asyncio.run(main())
