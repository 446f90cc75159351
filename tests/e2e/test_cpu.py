"""CPU time and fuel: what is counted, what is free, where a script is stopped."""

from __future__ import annotations

import pytest

from isolith import Budgets, CodeMode

pytestmark = pytest.mark.anyio

LOOP = "n = 0\nwhile n < {}:\n    n += 1\nn"


async def test_cpu_time_on_both_sides(code_mode: CodeMode) -> None:
    below = await code_mode.execute(LOOP.format(1000), budgets=Budgets(cpu_ms=2000))
    above = await code_mode.execute(LOOP.format(10**10), budgets=Budgets(cpu_ms=200))
    assert below.value == 1000
    assert above.error is not None
    assert (above.status, above.error.kind, above.exit_code) == ("failed", "cpu_exceeded", 3)
    assert above.error.line in {2, 3}
    assert "its budget is 200 ms (`cpu_ms`)" in above.error.message
    assert 200 <= above.usage.cpu_ms < 200 + 250


async def test_waiting_is_free(code_mode: CodeMode) -> None:
    script = "import time\nawait asyncio.sleep(0.2)\ntime.sleep(0.2)\nawait crm.slow(steps=4, pause_s=0.05)"
    outcome = await code_mode.execute(script, budgets=Budgets(cpu_ms=150))
    assert (outcome.value, outcome.error) == (4, None)
    assert outcome.usage.wall_ms > 500


@pytest.mark.parametrize(
    ("script", "line"),
    [
        ("x = 1\nwhile True: pass", 2),
        ("x = 1\n\nsum(range(10**12))", 3),
        ("import re\nre.match(r'(a+)+$', 'a' * 40 + 'b')", 2),
        ("def f():\n    while True:\n        pass\nf()", 3),
        ("[n for n in range(10**9)\n if n < 0]", None),
        ("while True:\n    try:\n        while True: pass\n    except BaseException: pass", None),
        ("async def spin():\n    while True:\n        await asyncio.sleep(0)\nawait spin()", None),
        ("await asyncio.gather(*[asyncio.sleep(0) for _ in range(3)])\nwhile True: 1", 2),
        ("'''\n'''; x = 'ü'\nwhile True: 1", 3),
    ],
)
async def test_the_line_that_ran_is_named(code_mode: CodeMode, script: str, line: int | None) -> None:
    outcome = await code_mode.execute(script, budgets=Budgets(cpu_ms=100))
    assert outcome.error is not None
    assert outcome.error.kind == "cpu_exceeded"
    if line is not None:
        assert outcome.error.line == line
        assert outcome.error.source_line == script.split("\n")[line - 1]


async def test_a_script_may_clean_up_when_its_time_is_over(code_mode: CodeMode) -> None:
    outcome = await code_mode.execute(
        "try:\n    while True: pass\nfinally:\n    print('cleaned up')", budgets=Budgets(cpu_ms=100)
    )
    assert outcome.error is not None
    assert outcome.error.kind == "cpu_exceeded"
    assert [record.message for record in outcome.logs] == ["cleaned up"]


async def test_the_next_script_runs(code_mode: CodeMode) -> None:
    await code_mode.execute("while True: pass", budgets=Budgets(cpu_ms=50))
    assert (await code_mode.execute("1 + 1")).value == 2


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_fuel_stops_the_same_script_at_the_same_instruction(code_mode: CodeMode) -> None:
    """Builds the second compiled variant where there is none."""
    script = "n = 0\nwhile True:\n    n += 1\n    if n % 50 == 0:\n        print(n)"

    outcomes = [await code_mode.execute(script, budgets=Budgets(fuel=40_000_000)) for _ in range(20)]
    assert len({outcome.logs[-1].message for outcome in outcomes}) == 1
    outcome = outcomes[0]
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.exit_code) == ("cpu_exceeded", 3)
    assert outcome.error.message == "the script used all of its 40,000,000 instructions (`fuel`)"
    assert outcome.usage.fuel == 40_000_000
    below = await code_mode.execute("1 + 1", budgets=Budgets(fuel=40_000_000))
    assert below.value == 2
    assert 0 < (below.usage.fuel or 0) < 40_000_000


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "script", ["1 + 1", "for n in range(100): print(n)", "await crm.get(id=1)", "while True:\n    await crm.get(id=1)"]
)
async def test_what_a_script_takes_in_instructions_is_the_same_each_time(code_mode: CodeMode, script: str) -> None:
    """Whatever its seed is, and the time at which it runs."""
    budgets = Budgets(fuel=40_000_000, calls=20)
    taken = {(await code_mode.execute(script, budgets=budgets)).usage.fuel for _ in range(30)}
    assert len(taken) == 1
