"""What the clients in Python share: a line of JSON for each check."""

import asyncio
import json
import sys

LIMIT = 60

way, expected = sys.argv[2], json.loads(sys.argv[3])
annual = expected["annual"]


async def check(column, run):
    """Runs a check unless the client cannot pass it, and returns whether it passed."""
    if column in expected["lacks"]:
        return True
    outcome = {"column": column, "passed": True}
    try:
        await asyncio.wait_for(run(), LIMIT)
    except Exception as error:
        outcome.update(passed=False, text=f"{type(error).__name__}: {error}")
    print(json.dumps(outcome), flush=True)
    return outcome["passed"]


def equal(actual, wanted, what):
    if actual != wanted:
        raise AssertionError(f"{what}: expected {wanted!r}, got {actual!r}")


def includes(whole, part):
    if part not in whole:
        raise AssertionError(f"{part!r} is missing in {whole!r}")


def said(result):
    return "\n".join(getattr(block, "text", "") for block in result.content)
