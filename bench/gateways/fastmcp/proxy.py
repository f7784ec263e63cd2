"""Fastmcp's proxy in front of one server, or of many.

Usage: proxy.py PORT URL...
"""

import sys

import fastmcp


def target(urls):
    """One URL as it is, many as the file of other programs has them."""
    if len(urls) == 1:
        return urls[0]
    return {"mcpServers": {f"b{i}": {"url": url, "transport": "http"} for i, url in enumerate(urls)}}


def proxy(to):
    """Newer releases have a function for it, older ones a method."""
    if hasattr(fastmcp.FastMCP, "as_proxy"):
        return fastmcp.FastMCP.as_proxy(to, name="bench")
    from fastmcp.server import create_proxy

    return create_proxy(to, name="bench")


port, *urls = sys.argv[1:]
proxy(target(urls)).run(transport="http", host="127.0.0.1", port=int(port), show_banner=False, log_level="ERROR")
