"""What a script can have its host do, for next to no CPU of its own, has an end as well."""

from __future__ import annotations

import json

import pytest

from isolith import CodeMode
from isolith_bindings.functions import as_connector

pytestmark = pytest.mark.anyio

MISSPELT = """
import json, os
os.write(4, json.dumps([["call", n, "crm", "gett", {"id": n}, 1] for n in range(1, 16)]).encode())
"""
"""Past the guest's own look at the names that it has."""


async def test_the_first_misspelt_calls_are_told_what_they_may_have_meant() -> None:
    """To find that takes a look at every name there is, and a script asks a thousand times in no time."""

    async def get(id: int) -> int:  # noqa: A002 - what an API would call it
        return id

    async with CodeMode([as_connector([get], "crm")]) as code_mode:
        outcome = await code_mode.execute(MISSPELT)
    hints = [call.error.hint for call in outcome.calls if call.error is not None]
    assert hints == ["did you mean `crm.get`?"] * 10 + [None] * 5


async def test_what_it_has_the_host_look_for_is_told_and_no_bug_of_ours() -> None:
    script = "try:\n    describe(detail=10**10_000)\nexcept ToolError as error:\n    found = str(error)\nfound"
    async with CodeMode([]) as code_mode:
        outcome = await code_mode.execute(script)
    assert outcome.value == (
        "describe: `detail`: expected one of summary, signature, full, was given <int of 33,220 bits>"
    )
    assert json.loads(outcome.to_json_text())["calls"][0]["error"]["kind"] == "invalid_arguments"
