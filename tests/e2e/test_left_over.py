"""What is still under way, or failed unseen, when a script ends; and waiting for what can never happen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.e2e.conftest import Crm

    from isolith import CodeMode

pytestmark = pytest.mark.anyio

ENDED = "had not answered when the script ended, and was cancelled"
RUNNING = "was still running when the script ended, and was cancelled"


@pytest.mark.parametrize(
    ("script", "warnings"),
    [
        ("await asyncio.sleep(0)\ncrm.hang()\n1", [("cancelled", "crm.hang(...) was never awaited, and was cancelled", 2)]),
        (
            "x = crm.hang()\ny = crm.hang()\nawait asyncio.sleep(0)\n1",
            [("cancelled", "crm.hang(...) was never awaited, and was cancelled", line) for line in (1, 2)],
        ),
        (
            "await asyncio.sleep(0)\nx = [crm.hang() for _ in range(3)]\ny = [crm.hang() for _ in range(2)]\n1",
            [
                ("cancelled", f"{number} calls crm.hang(...) were never awaited, and were cancelled", line)
                for number, line in ((3, 2), (2, 3))
            ],
        ),
        ("await asyncio.sleep(0)\nt = asyncio.create_task(crm.hang())\n1", [("cancelled", f"crm.hang(...) {ENDED}", 2)]),
        (
            "await asyncio.sleep(0)\ng = asyncio.gather(crm.hang(), crm.hang())\n1",
            [("cancelled", "2 calls crm.hang(...) had not answered when the script ended, and were cancelled", 2)],
        ),
        ("t = asyncio.create_task(crm.hang())\nawait asyncio.sleep(0.01)\n1", [("cancelled", f"crm.hang(...) {ENDED}", 1)]),
        (
            "async def work():\n    await asyncio.sleep(9)\nt = asyncio.create_task(work())\nawait asyncio.sleep(0)\n1",
            [("cancelled", f"task work(...) {RUNNING}", 2)],
        ),
        (
            "async def work():\n    await asyncio.sleep(9)\nt = asyncio.create_task(work(), name='mine')\nawait asyncio.sleep(0)\n1",
            [("cancelled", f"task mine {RUNNING}", 2)],
        ),
        ("t = asyncio.create_task(asyncio.sleep(9))\nawait asyncio.sleep(0)\n1", [("cancelled", f"task sleep(...) {RUNNING}", None)]),
        (
            "async def work():\n    await crm.hang()\nt = asyncio.create_task(work())\nawait asyncio.sleep(0)\nawait asyncio.sleep(0)\n1",
            [("cancelled", f"crm.hang(...) {ENDED}", 2), ("cancelled", f"task work(...) {RUNNING}", 2)],
        ),
        (
            "t = asyncio.create_task(crm.fail())\nawait asyncio.wait([t])\n1",
            [("exception", "crm.fail(...) failed and nobody awaited it: no such contact", 1)],
        ),
        (
            "c = crm.fail()\nawait crm.get(id=1)\nawait crm.get(id=2)\n1",
            [("exception", "crm.fail(...) failed and nobody awaited it: no such contact", 1)],
        ),
        (
            "async def work():\n    raise ValueError('lost')\nt = asyncio.create_task(work())\nawait asyncio.sleep(0.01)\n1",
            [("exception", "task work(...) failed and nobody awaited it: ValueError: lost", 2)],
        ),
        (
            "async def work():\n    raise ValueError('lost')\nasyncio.create_task(work())\nawait asyncio.sleep(0.01)\n1",
            [("exception", "task work(...) failed and nobody awaited it: ValueError: lost", 2)],
        ),
        (
            "loop = asyncio.get_running_loop()\nloop.call_soon(lambda: 1 / 0)\nawait asyncio.sleep(0.01)\n1",
            None,
        ),
        ("t = asyncio.create_task(crm.hang())\nawait asyncio.sleep(0)\nt.cancel()\n1", []),
        ("t = asyncio.create_task(crm.fail())\nawait asyncio.wait([t])\nt.exception() is not None and 1", []),
        ("await asyncio.gather(crm.fail(), crm.fail(), return_exceptions=True)\n1", []),
        ("async def work():\n    pass\nawait asyncio.create_task(work())\n1", []),
        ("loop = asyncio.get_running_loop()\nloop.call_later(9, print)\n1", []),
    ],
)  # fmt: skip
async def test_what_is_left_over_is_reported_by_name_and_line(
    code_mode: CodeMode, script: str, warnings: list[tuple[str, str, int | None]] | None
) -> None:
    outcome = await code_mode.execute(script)
    assert (outcome.status, outcome.value) == ("completed", 1)
    found = [(warning.kind, warning.message, warning.line) for warning in outcome.warnings]
    if warnings is None:
        assert [(kind, line) for kind, _, line in found] == [("exception", 2)]
        assert "ZeroDivisionError: division by zero" in found[0][1]
    else:
        assert found == warnings


@pytest.mark.parametrize(
    ("script", "warnings"),
    [
        (
            "await asyncio.gather(*[crm.hang() for _ in range(500)])",
            ["201 calls crm.hang(...) had not answered when the script ended, and were cancelled"],
        ),
        (
            "async def one():\n    return await crm.hang()\nawait asyncio.gather(*[one() for _ in range(500)])",
            [
                "201 calls crm.hang(...) had not answered when the script ended, and were cancelled",
                "201 times task one(...) were still running when the script ended, and were cancelled",
            ],
        ),
        ("await asyncio.sleep(0)\nx = crm.hang()\n1 / 0", [f"crm.hang(...) {ENDED}"]),
    ],
)
async def test_a_script_that_failed_is_not_blamed_for_calls_that_it_had_no_time_to_await(
    code_mode: CodeMode, script: str, warnings: list[str]
) -> None:
    """Past a budget of calls there were a hundred warnings that said so of calls in a gather."""
    outcome = await code_mode.execute(script)
    assert outcome.status == "failed"
    assert [warning.message for warning in outcome.warnings] == warnings


async def test_calls_left_over_are_cancelled_in_the_connector(code_mode: CodeMode, crm: Crm) -> None:
    outcome = await code_mode.execute("a = crm.hang()\nb = crm.hang()\nawait crm.get(id=1)\n1")
    # Calls begin in the order in which they were asked for: with the last one answered, those before it hang.
    assert [call.status for call in outcome.calls] == ["cancelled", "cancelled", "completed"]
    assert crm.cancelled == 2


async def test_a_script_that_gives_a_call_up_has_it_cancelled_and_goes_on(code_mode: CodeMode, crm: Crm) -> None:
    script = """
hanging = asyncio.ensure_future(crm.hang())
await crm.get(id=0)
try:
    await asyncio.wait_for(hanging, 0.02)
except TimeoutError:
    r = await crm.get(id=1)
r
"""
    outcome = await code_mode.execute(script)
    assert (outcome.value, crm.cancelled, outcome.warnings) == ({"id": 1}, 1, ())
    assert [call.status for call in outcome.calls] == ["cancelled", "completed", "completed"]


@pytest.mark.parametrize(
    ("script", "line"),
    [
        ("x = 1\nawait asyncio.Event().wait()", 2),
        ("await asyncio.get_running_loop().create_future()", 1),
        ("async def wait():\n    await asyncio.Event().wait()\nawait wait()", 2),
        ("lock = asyncio.Lock()\nawait lock.acquire()\nasync with lock:\n    pass", 3),
        ("queue = asyncio.Queue()\nawait queue.get()", 2),
        ("await crm.get(id=1)\nawait asyncio.Queue().get()", 2),
        ("await asyncio.gather(asyncio.Event().wait(), asyncio.Event().wait())", 1),
        ("async def main():\n    await asyncio.Event().wait()\n\nasyncio.run(main())", 2),
    ],
)
async def test_waiting_for_what_can_never_happen_ends_at_once(code_mode: CodeMode, script: str, line: int) -> None:
    outcome = await code_mode.execute(script)
    assert outcome.error is not None
    assert (outcome.status, outcome.error.kind, outcome.error.line) == ("failed", "deadlock", line)
    assert outcome.error.message == "the script waits for something that can never happen"
    assert outcome.usage.wall_ms < 5000


async def test_a_deadlock_inside_a_synchronous_wait(code_mode: CodeMode) -> None:
    script = (
        "def go():\n    async def main():\n        await asyncio.Event().wait()\n    return asyncio.run(main())\ngo()"
    )
    outcome = await code_mode.execute(script)
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.usage.wall_ms < 5000) == ("deadlock", True)
