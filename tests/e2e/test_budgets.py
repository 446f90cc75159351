"""Every budget on both sides of its limit, and the warning of a ceiling. CPU time and fuel have files of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isolith import Budgets, CodeMode, HostPolicy, Outcome

if TYPE_CHECKING:
    from tests.e2e.conftest import Crm, Echo

pytestmark = pytest.mark.anyio


def ended(outcome: Outcome) -> tuple[str, str | None, int | None]:
    error = outcome.error
    return (outcome.status, error.kind if error else None, error.line if error else None)


async def test_memory(code_mode: CodeMode) -> None:
    script = "x = None\nx = bytearray({} * 2**20)\nlen(x)"
    below = await code_mode.execute(script.format(20), budgets=Budgets(memory_mb=64))
    above = await code_mode.execute(script.format(60), budgets=Budgets(memory_mb=64))
    assert (below.value, below.usage.memory_bytes <= 64 * 2**20) == (20 * 2**20, True)
    assert below.usage.memory_bytes > 40 * 2**20
    assert ended(above) == ("failed", "memory_exceeded", 2)
    assert above.error is not None
    assert above.error.message == "the script needed more memory than its budget of 64 MiB"
    assert above.exit_code == 3


@pytest.mark.parametrize(
    ("script", "line"),
    [
        ("1\nkept = [bytearray(100) for _ in range(10**7)]\n2\n3", 2),
        ("kept = {}\nfor n in range(10**7):\n    kept[n] = str(n)\n2\n3", 3),
        ("async def idle(): ...\ntasks = [asyncio.create_task(idle()) for _ in range(10**6)]\nawait tasks[0]", 2),
    ],
)
async def test_a_script_without_memory_to_say_it_still_names_its_line(
    code_mode: CodeMode, script: str, line: int
) -> None:
    outcome = await code_mode.execute(script, budgets=Budgets(memory_mb=64, cpu_ms=20_000))
    assert ended(outcome) == ("failed", "memory_exceeded", line)
    assert outcome.error is not None
    assert outcome.error.source_line == script.split("\n")[line - 1]


@pytest.mark.parametrize("text", ["'not ' * 20_000 + '1'", "'lambda:' * 5_000 + '1'", "'-' * 20_000 + '1'"])
async def test_a_parser_that_gives_up_has_not_used_up_the_memory(code_mode: CodeMode, text: str) -> None:
    outcome = await code_mode.execute(f"1\neval({text})")
    assert ended(outcome) == ("failed", "recursion", 2)
    assert outcome.error is not None
    assert outcome.error.message == "the text to compile is nested too deep to be parsed"


async def test_a_memory_error_is_caught_like_any_other(code_mode: CodeMode) -> None:
    script = "try:\n    bytearray(200 * 2**20)\nexcept MemoryError:\n    r = 'caught'\nr"
    outcome = await code_mode.execute(script, budgets=Budgets(memory_mb=64))
    assert (outcome.value, outcome.status) == ("caught", "completed")


async def test_wall_time(code_mode: CodeMode, crm: Crm) -> None:
    below = await code_mode.execute("crm.slow(steps=1, pause_s=0.01)", budgets=Budgets(wall_s=20))
    assert ended(below) == ("completed", None, None)
    wall_s = 0.2
    above = await code_mode.execute("x = 1\ncrm.hang()", budgets=Budgets(wall_s=wall_s))
    while not crm.hanging.is_set():  # a busy machine takes longer than that to come to the call
        wall_s *= 4
        above = await code_mode.execute("x = 1\ncrm.hang()", budgets=Budgets(wall_s=wall_s))
    assert ended(above) == ("failed", "wall_exceeded", 2)
    assert above.error is not None
    assert (
        above.error.message == f"the run took longer than its budget of {wall_s:g} s (`wall_s`), waiting for crm.hang"
    )
    assert [call.status for call in above.calls] == ["cancelled"]
    assert (crm.cancelled, above.exit_code) == (1, 3)
    assert above.usage.wall_ms >= wall_s * 1000  # and it ended, which the call itself never does


async def test_wall_time_ends_a_sleep(code_mode: CodeMode) -> None:
    for sleep in ("await asyncio.sleep(60)", "import time\ntime.sleep(60)"):
        assert ended(await code_mode.execute(sleep, budgets=Budgets(wall_s=0.1)))[:2] == ("failed", "wall_exceeded")


@pytest.mark.parametrize(
    "script",
    [
        "for n in range({}):\n    crm.get(id=n)",
        "for n in range({}):\n    await crm.get(id=n)",
        "await asyncio.gather(*[\n    crm.get(id=n) for n in range({})])",
        "async with asyncio.TaskGroup() as group:\n    for n in range({}): group.create_task(crm.get(id=n))",
    ],
)
async def test_calls(code_mode: CodeMode, crm: Crm, script: str) -> None:
    below = await code_mode.execute(f"{script.format(3)}\n'done'", budgets=Budgets(calls=3))
    assert (ended(below), below.value, below.usage.calls) == (("completed", None, None), "done", 3)
    assert crm.reached == ["get 0", "get 1", "get 2"]
    above = await code_mode.execute(script.format(4), budgets=Budgets(calls=3))
    assert ended(above) == ("failed", "calls_exceeded", 2)
    assert above.error is not None
    assert "this run may make 3 calls, and has" in above.error.message
    assert (above.usage.calls, above.exit_code) == (3, 3)
    assert "get 3" not in crm.reached


async def test_calls_of_none(code_mode: CodeMode, crm: Crm) -> None:
    outcome = await code_mode.execute("crm.get(id=1)", budgets=Budgets(calls=0))
    assert (ended(outcome), crm.reached) == (("failed", "calls_exceeded", 1), [])


async def test_one_call_too_many_can_be_caught(code_mode: CodeMode) -> None:
    script = "got = []\ntry:\n    for n in range(9):\n        got.append(crm.get(id=n)['id'])\nexcept ToolError as e:\n    got.append(e.kind)\ngot"
    outcome = await code_mode.execute(script, budgets=Budgets(calls=2))
    assert outcome.value == [0, 1, "calls_exceeded"]


async def test_calls_of_one_connector(code_mode: CodeMode) -> None:
    script = "for n in range({}):\n    crm.get(id=n)\necho.give(value=1)"
    below = await code_mode.execute(script.format(2), budgets=Budgets(calls_per_connector=2))
    above = await code_mode.execute(script.format(3), budgets=Budgets(calls_per_connector=2))
    assert below.value == 1
    assert ended(above) == ("failed", "calls_exceeded", 2)
    assert above.error is not None
    assert above.error.message == "this run may call crm 2 times, and has"


@pytest.mark.parametrize("budgets", [Budgets(concurrent_calls=3), Budgets(concurrent_calls_per_connector=3)])
async def test_concurrent_calls(code_mode: CodeMode, crm: Crm, budgets: Budgets) -> None:
    outcome = await code_mode.execute(
        "await asyncio.gather(*[crm.count(number=n) for n in range(20)])", budgets=budgets
    )
    assert (outcome.value, crm.most_under_way) == (list(range(20)), 3)


async def test_calls_past_the_default_of_a_connector_wait_in_order(code_mode: CodeMode, crm: Crm) -> None:
    outcome = await code_mode.execute("await asyncio.gather(*[crm.count(number=n) for n in range(20)])")
    assert (outcome.value, crm.most_under_way) == (list(range(20)), 8)


async def test_a_busy_connector_does_not_hold_up_another(code_mode: CodeMode, crm: Crm) -> None:
    script = """
tasks = [asyncio.create_task(crm.hang()) for _ in range(4)]
await asyncio.sleep(0)
value = await echo.give(value=5)
for task in tasks:
    task.cancel()
value
"""
    outcome = await code_mode.execute(script, budgets=Budgets(concurrent_calls_per_connector=2))
    assert outcome.value == 5
    assert crm.cancelled == 2


async def test_the_time_of_one_call(code_mode: CodeMode, crm: Crm) -> None:
    script = "try:\n    crm.hang()\nexcept ToolError as e:\n    r = [e.kind, e.retriable, e.hint]\nr"
    outcome = await code_mode.execute(script, budgets=Budgets(call_s=0.1))
    assert outcome.value == ["tool_timeout", True, "ask for less at a time; `call_s` is the budget of a call"]
    assert crm.cancelled == 1
    below = await code_mode.execute("crm.slow(steps=1, pause_s=0.01)", budgets=Budgets(call_s=20))
    assert below.value == 1


async def test_progress_extends_the_time_of_a_call_up_to_its_cap(code_mode: CodeMode) -> None:
    script = "crm.slow(steps=30, pause_s=0.1)"
    extended = await code_mode.execute(script, budgets=Budgets(call_s=2))
    capped = await code_mode.execute(script, budgets=Budgets(call_s=2, call_cap_s=2.2))
    assert extended.value == 30
    assert ended(capped) == ("failed", "tool_timeout", 1)


async def test_the_cap_ends_a_call_that_shows_no_progress_too(code_mode: CodeMode) -> None:
    outcome = await code_mode.execute("crm.hang()", budgets=Budgets(call_cap_s=0.1, wall_s=20))
    assert ended(outcome) == ("failed", "tool_timeout", 1)
    assert outcome.error is not None
    assert outcome.error.hint == "ask for less at a time; `call_cap_s` is the budget of a call"


async def test_log_bytes(code_mode: CodeMode) -> None:
    script = "print('x' * 98)\nprint('y' * 99)\nprint('never')\nprint('never')\n5"
    below = await code_mode.execute(script, budgets=Budgets(log_bytes=1000))
    assert (len(below.logs), below.truncated) == (4, False)
    above = await code_mode.execute(script, budgets=Budgets(log_bytes=150))
    assert [record.message for record in above.logs] == [
        "x" * 98,
        "y" * 51 + "… (logs are cut at 150 bytes: `log_bytes`, and at 10,000 lines)",
    ]
    assert (above.value, above.truncated) == (5, True)


async def test_a_flood_of_prints_ends_in_the_marker_and_the_script_goes_on(code_mode: CodeMode) -> None:
    script = "for n in range(20_000):\n    print('line', n, 'x' * 100)\nprint('z' * 10**8)\n5"
    outcome = await code_mode.execute(script)
    assert (outcome.value, outcome.truncated) == (5, True)
    assert sum(len(record.message) for record in outcome.logs) < 300 * 1024
    assert outcome.logs[-1].message.endswith("… (logs are cut at 262,144 bytes: `log_bytes`, and at 10,000 lines)")


async def test_emitted_events(code_mode: CodeMode) -> None:
    async def emitted(count: int) -> tuple[list[object], Outcome]:
        execution = code_mode.start(f"for n in range({count}):\n    emit(n)\n'done'", budgets=Budgets(emit_events=3))
        return [event["event"] async for event in execution.events()], await execution.outcome()

    below, above = await emitted(3), await emitted(9)
    assert (below[0], below[1].truncated) == (["emit"] * 3 + ["outcome"], False)
    assert above[0] == ["emit", "emit", "emit", "truncated", "outcome"]
    assert (above[1].value, above[1].truncated) == ("done", True)
    assert [line.message for line in below[1].logs] == ["emit"] * 3
    why = "emit… (what is emitted from here on is dropped: more than 3 events emitted: `emit_events`)"
    assert [line.message for line in above[1].logs] == ["emit"] * 3 + [why]


async def test_bytes_that_are_emitted(code_mode: CodeMode) -> None:
    async def emitted(size: int) -> list[str]:
        script = f"emit('x' * 500)\nemit('x' * {size})\nemit(1)"
        return [line.message for line in (await code_mode.execute(script, budgets=Budgets(value_bytes=1000))).logs]

    why = "emit… (what is emitted from here on is dropped: more than 1,000 bytes emitted: `value_bytes`)"
    assert await emitted(400) == ["emit"] * 3
    assert await emitted(600) == ["emit", why]


async def test_bytes_of_the_value(code_mode: CodeMode) -> None:
    below = await code_mode.execute("'x' * 998", budgets=Budgets(value_bytes=1000))
    above = await code_mode.execute("y = 1\n'x' * 999", budgets=Budgets(value_bytes=1000))
    assert below.value == "x" * 998
    assert ended(above) == ("failed", "output_exceeded", 2)
    assert above.error is not None
    assert above.error.message == "the value is 1,001 bytes; `value_bytes` is 1,000"


@pytest.mark.parametrize("bomb", ["x = []\nfor _ in range(30):\n    x = [x, x]\nx", "[1] * 30_000_000"])
async def test_a_value_that_explodes_when_it_is_walked_is_walked_at_the_guest_s_cost(
    code_mode: CodeMode, bomb: str
) -> None:
    outcome = await code_mode.execute(bomb, budgets=Budgets(cpu_ms=800))
    assert ended(outcome)[:2] in {("failed", "output_exceeded"), ("failed", "cpu_exceeded")}
    assert outcome.usage.cpu_ms < 800 + 250


async def test_bytes_of_arguments(code_mode: CodeMode, echo: Echo) -> None:
    below = await code_mode.execute("len(echo.give(value='x' * 900))", budgets=Budgets(argument_bytes=1000))
    above = await code_mode.execute("x = 1\necho.give(value='x' * 1000)", budgets=Budgets(argument_bytes=1000))
    assert (below.value, len(echo.got)) == (900, 1)
    assert ended(above) == ("failed", "invalid_arguments", 2)
    assert above.error is not None
    assert above.error.message == "the arguments of echo.give are larger than 1,000 bytes"


async def test_bytes_of_a_result(code_mode: CodeMode) -> None:
    below = await code_mode.execute("len(echo.text(size=900))", budgets=Budgets(result_bytes=1000))
    assert (below.value, below.artifacts) == (900, ())
    execution = code_mode.start(
        "r = echo.text(size=2000)\n[r['truncated'], r['artifact'].size, len(r['preview']), r['artifact'].read(2000)]",
        budgets=Budgets(result_bytes=1000),
    )
    above = await execution.outcome()
    assert above.value == [True, 2002, 2000, b'x"']
    assert execution.artifact(above.artifacts[0].handle) == b'"' + b"x" * 2000 + b'"'


async def test_bytes_read_of_an_artifact(code_mode: CodeMode) -> None:
    """They come back as the result of a call, and a handle keeps what is too long for one."""
    whole = "kept = artifact(bytes(2000))\nlen(kept.read())"
    below = await code_mode.execute(whole, budgets=Budgets(result_bytes=2000))
    assert below.value == 2000
    above = await code_mode.execute(whole, budgets=Budgets(result_bytes=1999))
    assert ended(above) == ("failed", "invalid_arguments", 2)
    assert above.error is not None
    assert above.error.message == "1,999 bytes can be read at a time, and this artifact has 2,000"
    pieces = "kept = artifact(bytes(2000))\n[len(kept.read(0, 1999)), len(kept.read(1)), len(kept.read(1999, 5000))]"
    assert (await code_mode.execute(pieces, budgets=Budgets(result_bytes=1999))).value == [1999, 1999, 1]
    r = await code_mode.execute("echo.text(size=2000)['artifact'].read()", budgets=Budgets(result_bytes=1000))
    assert ended(r) == ("failed", "invalid_arguments", 1)


async def test_bytes_of_the_script(code_mode: CodeMode) -> None:
    script = "'" + "x" * 98 + "'"
    below = await code_mode.execute(script, budgets=Budgets(script_bytes=100))
    above = await code_mode.execute(script, budgets=Budgets(script_bytes=99))
    assert below.value == "x" * 98
    assert ended(above) == ("failed", "invalid_input", None)
    assert above.error is not None
    assert above.error.message == "the script is larger than its budget: `script_bytes` is 99"
    assert above.exit_code == 2


async def test_bytes_of_the_input(code_mode: CodeMode) -> None:
    below = await code_mode.execute("len(input)", input="x" * 98, budgets=Budgets(input_bytes=100))
    above = await code_mode.execute("len(input)", input="x" * 99, budgets=Budgets(input_bytes=100))
    assert below.value == 98
    assert ended(above) == ("failed", "invalid_input", None)
    assert above.error is not None
    assert above.error.message == "the input is 101 bytes; `input_bytes` is 100"


async def test_an_input_that_is_no_data_is_named_by_its_path(code_mode: CodeMode) -> None:
    outcome = await code_mode.execute("1", input={"rows": [object()]})
    assert ended(outcome) == ("failed", "invalid_input", None)
    assert outcome.error is not None
    assert outcome.error.message.startswith("`input`.rows[0] is of type object, which has no data form")


async def test_a_ceiling_gives_the_most_it_allows_and_a_warning() -> None:
    ceilings = HostPolicy(Budgets(calls=2, cpu_ms=500))
    async with CodeMode(ceilings=ceilings) as code_mode:
        outcome = await code_mode.execute("budget.limits['calls'], budget.limits['cpu_ms']", budgets=Budgets(calls=9))
    assert outcome.value == (2, 500)
    [warning] = outcome.warnings
    assert (warning.kind, warning.message) == (
        "invalid_input",
        "budget `calls`: 9 asked, 2 given, which is the most this host allows",
    )


async def test_all_of_it_is_in_the_usage(code_mode: CodeMode) -> None:
    outcome = await code_mode.execute("print('hello')\nemit([1])\ncrm.get(id=1)\n'value'")
    usage = outcome.usage
    assert 0 < usage.cpu_ms < 5000
    assert 0 < usage.wall_ms < 60_000
    assert 2**24 < usage.memory_bytes < 2**28
    assert (usage.calls, usage.passes) == (1, 1)
    assert 10 < usage.output_bytes < 1000


async def test_each_budget_is_in_the_usage_as_it_was_used(code_mode: CodeMode) -> None:
    script = """
print("12345")
emit([1]); progress(1, 2)
await asyncio.gather(crm.meet(others=3), crm.meet(others=3), crm.meet(others=3), echo.text(size=100))
await crm.slow(steps=1, pause_s=0.05)
await echo.give(value="x" * 300)
"v" * 50
"""
    outcome = await code_mode.execute(script, input="four")
    assert outcome.error is None
    usage = outcome.usage
    assert (usage.calls, usage.calls_per_connector) == (6, 4)
    assert usage.concurrent_calls in {3, 4}
    assert usage.concurrent_calls_per_connector == 3
    assert usage.call_ms >= 50
    assert usage.call_ms == max(call.duration_ms or 0 for call in outcome.calls)
    assert (usage.log_bytes, usage.emit_events) == (len("12345\n"), 2)
    assert 50 <= usage.value_bytes < 150
    assert (usage.argument_bytes, usage.result_bytes) == (len('{"value":"' + "x" * 300 + '"}'), 302)
    assert (usage.script_bytes, usage.input_bytes, usage.fuel) == (len(script), len('"four"'), None)
