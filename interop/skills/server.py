"""A server of the skills in a folder, on the package fastmcp."""

import sys
from pathlib import Path

from fastmcp import FastMCP
from fastmcp.server.providers.skills import SkillsDirectoryProvider
from fastmcp.skills.extension import SkillsExtension

skills = SkillsDirectoryProvider(roots=[Path(sys.argv[1])], experimental_skills=True)
app = FastMCP("skills")
app.add_provider(skills)
app.add_extension(SkillsExtension(providers=[skills]))
if len(sys.argv) > 2:
    app.run(transport="http", host="127.0.0.1", port=int(sys.argv[2]), show_banner=False)
else:
    app.run(show_banner=False)
