"""What a person is asked, and what nobody is asked about."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from isolith import CodeMode, connector, method

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio


def test_nobody_is_asked_about_what_is_given_up_at_once() -> None:
    """Nothing is left half begun, which Python would say on the host's own stderr, at the end of the process."""
    program = """
import asyncio
from isolith import CodeMode, connector, method

@connector("bank")
class Bank:
    @method(policy="ask")
    async def pay(self, amount: int) -> None:
        pass

SCRIPT = '''import os
os.write(4, b'[["call",1,"bank","pay",{"amount":1},2],["cancel",1]]')
await asyncio.sleep(0.01)
1'''

async def main():
    async with CodeMode([Bank]) as code_mode:
        outcome = await code_mode.execute(SCRIPT)
        print(outcome.value, [call.status for call in outcome.calls])

asyncio.run(main())
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == ("1 ['cancelled']\n", "")


async def test_a_person_is_told_of_words_that_are_not_what_they_look_like(tmp_path: Path) -> None:
    @connector("till")
    class Till:
        @method(policy="ask")
        async def pay(self, to: str) -> str:
            return to

    async with CodeMode([Till], journal=tmp_path / "journal.db") as code_mode:
        paused = await code_mode.execute("await till.pay(to='ada@p\u0430ypal.com')")
    assert paused.pending[0].reason == (
        "till.pay itself says `ask`; look twice: `p\u0430ypal` has CYRILLIC SMALL LETTER A"
    )
