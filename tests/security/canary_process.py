"""Run by test_canaries in a process of its own: a part of the corpus where secrets are planted all round.

Prints nothing by itself: outcomes and events go to the file named by the only argument, one JSON text a line.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.security.broken_connector import BrokenConnector
from tests.security.desk import CANARY, SPARING, Desk
from tests.security.samples import quick

from isolith import CodeMode, Execution

if TYPE_CHECKING:
    from typing import TextIO

FAMILIES = ("escapes", "leaks", "endings")
BROKEN = (
    "vault.open()",
    "await vault.open()",
    "try:\n    vault.open()\nexcept Exception as error:\n    [str(error), error.__dict__]",
)


async def main(report: TextIO) -> None:
    secret = f"{CANARY}-frame"  # in the locals of whoever runs the scripts
    async with CodeMode([Desk(), BrokenConnector()], check="off", policy=SPARING) as code_mode:
        for script in quick():
            if script.name.startswith(FAMILIES):
                await _note(code_mode.start(script.text, budgets=script.budgets), report)
        for text in BROKEN:
            await _note(code_mode.start(text), report)
    assert secret


async def _note(execution: Execution, report: TextIO) -> None:
    outcome = await execution.outcome()
    report.write(outcome.to_json_text() + "\n")
    async for event in execution.events():
        report.write(json.dumps(event, default=repr) + "\n")


logging.basicConfig(level=logging.DEBUG)
with Path(sys.argv[1]).open("w") as file:
    asyncio.run(main(file))
