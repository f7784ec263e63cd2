"""A host on the package fastmcp: lists the skills of a server, gets and reads them, and
prints what it has found, as JSON."""

import asyncio
import base64
import hashlib
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from fastmcp.skills.client import SkillsClientExtension


async def read(client, uri):
    (content,) = await client.read_resource(str(uri))
    return content.text.encode() if hasattr(content, "text") else base64.b64decode(content.blob)


async def verify(client, skill):
    """Returns the text of each file, or what is wrong with it."""
    files = {}
    for file in skill.resources:
        data = await read(client, file.uri)
        good = len(data) == file.size and "sha256:" + hashlib.sha256(data).hexdigest() == file.digest
        files[str(file.uri)] = base64.b64encode(data).decode() if good else "not what the manifest says"
    return files


async def main():
    url = sys.argv[1].startswith("http")
    transport = StreamableHttpTransport(sys.argv[1]) if url else StdioTransport(sys.argv[1], sys.argv[2:])
    async with Client(transport, extensions=[SkillsClientExtension()]) as client:
        found = {"revision": client.protocol_version, "skills": {}}
        for skill in await client.list_skills():
            found["skills"][str(skill.uri)] = {
                "frontmatter": skill.model_dump(mode="json")["frontmatter"],
                "same": await client.get_skill(str(skill.uri)) == skill,
                "files": await verify(client, skill),
            }
        try:
            await client.get_skill("skill://none/SKILL.md")
        except Exception as error:
            found["none"] = str(error)
        print(json.dumps(found))


asyncio.run(main())
