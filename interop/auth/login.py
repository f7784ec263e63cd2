"""One official Python client that logs in to a protected server. Each line of
standard input is a task, and each has an answer on standard output. When the
client wants its user to follow a URL, it prints a line with it, and reads a
line that says where the browser ended.
"""

import argparse
import asyncio
import importlib.metadata
import json
import sys
import traceback
from contextlib import AsyncExitStack
from urllib.parse import parse_qs, urlparse

from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import OAuthClientMetadata

parser = argparse.ArgumentParser()
parser.add_argument("--url", required=True)
parser.add_argument("--name", required=True)
parser.add_argument("--redirect", required=True)
options = parser.parse_args()
generation = int(importlib.metadata.version("mcp").split(".")[0])
LIMIT = 20


def say(**line):
    print(json.dumps(line), flush=True)


# The client may need its user even between two tasks.
tasks = asyncio.Queue()
locations = asyncio.Queue()


async def hear():
    while line := await asyncio.to_thread(sys.stdin.readline):
        line = json.loads(line)
        await (locations.put(line["location"]) if "location" in line else tasks.put(line))
    await tasks.put(None)


class Store:
    """Keeps the tokens and the registration of the client in memory."""

    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


class User:
    """Prints the URL, and reads where the browser ended."""

    answer = None

    async def follow(self, url):
        say(authorize=url)
        location = await locations.get()
        self.answer = {name: values[0] for name, values in parse_qs(urlparse(location).query).items()}

    async def come_back(self):
        answer = self.answer
        if "error" in answer:
            raise RuntimeError(f"{answer['error']}: {answer.get('error_description')}")
        if generation == 1:
            return answer["code"], answer["state"]
        from mcp.shared.auth import AuthorizationCodeResult

        return AuthorizationCodeResult(code=answer["code"], state=answer["state"], iss=answer["iss"])


store = Store()
user = User()
provider = OAuthClientProvider(
    server_url=options.url,
    client_metadata=OAuthClientMetadata(
        client_name=options.name,
        redirect_uris=[options.redirect],
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
        token_endpoint_auth_method="none",
    ),
    storage=store,
    redirect_handler=user.follow,
    callback_handler=user.come_back,
)


async def connect(stack):
    """Returns a function that calls a tool. After a failure, everything that was
    entered is left again: the exception of a task group says less than the one
    that the group raises when it ends.
    """
    async with AsyncExitStack() as begun:
        call = await begin(begun)
        stack.push_async_exit(begun.pop_all())
        return call


async def begin(stack):
    if generation == 1:
        import httpx
        from mcp import ClientSession
        from mcp.client.streamable_http import streamable_http_client

        http = await stack.enter_async_context(httpx.AsyncClient(auth=provider, timeout=LIMIT))
        read, write, _ = await stack.enter_async_context(streamable_http_client(options.url, http_client=http))
        session = await stack.enter_async_context(ClientSession(read, write))
        await session.initialize()
        return session.call_tool
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    http = await stack.enter_async_context(httpx2.AsyncClient(auth=provider, timeout=LIMIT))
    client = await stack.enter_async_context(Client(streamable_http_client(options.url, http_client=http), mode="auto"))
    return client.call_tool


def describe(error):
    causes = getattr(error, "exceptions", None)
    if causes:
        return "; ".join(describe(cause) for cause in causes)
    where = traceback.extract_tb(error.__traceback__)[-1:]
    return f"{type(error).__name__}: {error}"[:1500] + "".join(f" ({frame.name}, line {frame.lineno})" for frame in where)


async def stored():
    tokens = store.tokens.model_dump(exclude_none=True) if store.tokens else {}
    return {"client": store.client.client_id if store.client else None, **tokens}


async def main():
    hearing = asyncio.create_task(hear())  # ends with standard input
    async with AsyncExitStack() as stack:
        call = None
        while (line := await tasks.get()) is not None:
            try:
                if line["do"] == "connect":
                    call = await connect(stack)
                    say(result=None)
                elif line["do"] == "call":
                    result = await call(line["tool"], line["arguments"])
                    say(result="\n".join(part.text for part in result.content))
                elif line["do"] == "stored":
                    say(result=await stored())
            except BaseException as error:  # every way to fail is a result
                say(error=describe(error))
                if not isinstance(error, Exception):
                    raise
    await hearing


asyncio.run(main())
