"""Woken or replayed, a run ends as one that never paused: over scripts with parallel calls, errors, timers and chance."""

from __future__ import annotations

import asyncio
import functools
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from isolith import Budgets, CodeMode, Policy
from isolith.durable import durable_runs
from isolith.durable.history import load_history
from isolith_bindings.errors import CallError
from isolith_bindings.testing import RecordingConnector, a_method
from isolith_runtime.isolate import Isolate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isolith import Outcome
    from isolith_bindings.connector import CallContext, Method
    from isolith_runtime.hibernation import Hibernation

CALLS = ("get", "fail", "slow", "big", "pay", "pay_or_fail")
SPARING = Policy.model_validate(
    {"preset": "trusted", "rules": [{"action": "deny", "match": "tool.get", "where": {"n": 3}}]}
)
"""A call that is refused, with the arguments that it is refused for, is one of those that are met again."""
PREFIX = """
import asyncio, random, time, uuid
log.info("begin")
async def one(name, n):
    try:
        return await getattr(tool, name)(n=n)
    except ToolError as error:
        return f"{error.kind}: {error}"
async def later(name, n):
    await asyncio.sleep(0.001 * n)
    return await one(name, n)
out = []
"""
STEPS = st.one_of(
    st.tuples(st.just("out.append(await one({0!r}, {1}))"), st.sampled_from(CALLS), st.integers(0, 3)),
    st.tuples(
        st.just("out.append(await asyncio.gather(one({0!r}, {1}), later('get', {1}), one('pay', {1})))"),
        st.sampled_from(CALLS),
        st.integers(0, 3),
    ),
    st.tuples(
        st.just(
            "tasks = [asyncio.create_task(later({0!r}, n)) for n in range({1})]\n"
            "out.extend([await task for task in asyncio.as_completed(tasks)])"
        ),
        st.sampled_from(CALLS),
        st.integers(0, 3),
    ),
    st.tuples(st.just("out.append(len(await one('get', random.randrange(10**9))))"), st.just(""), st.just(0)),
    st.tuples(st.just("out.append(len(await one('get', time.time_ns())))"), st.just(""), st.just(0)),
    st.tuples(st.just("out.append(random.random())\nlog.info(str(len(out)))"), st.just(""), st.just(0)),
    st.tuples(st.just("out.append(uuid.uuid4().hex[:4] != '')\nawait asyncio.sleep(0.002)"), st.just(""), st.just(0)),
    st.tuples(st.just("t = time.monotonic(); out.append(time.monotonic() - t < 5)"), st.just(""), st.just(0)),
)


class Tool(RecordingConnector):
    """Answers by its arguments; what pays has to be asked about."""

    def __init__(self, *, asks: bool) -> None:
        super().__init__("tool", {})
        self.methods = {
            name: a_method(name, policy="ask" if asks and name.startswith("pay") else "allow") for name in CALLS
        }
        self.made: list[tuple[str, object]] = []

    async def call(self, method: Method, arguments: Mapping[str, object], context: CallContext) -> object:
        number = arguments["n"]
        self.made.append((method.name, number if isinstance(number, int) and number < 10 else "chance"))
        if method.name == "slow":
            await asyncio.sleep(0.003)
        if method.name.endswith("fail"):
            raise CallError("tool_error", f"no {arguments['n']}")
        if method.name == "big":  # more than the journal keeps in the row of a call
            return [method.name, arguments["n"], "x" * 100_000]
        return [method.name, arguments["n"]]


async def run(script: str, *, asks: bool, at_once: int) -> tuple[Outcome, list[tuple[str, object]], int]:
    tool, pauses = Tool(asks=asks), 0
    async with CodeMode([tool], check="off", policy=SPARING) as code_mode:
        outcome = await code_mode.execute(script, budgets=Budgets(concurrent_calls_per_connector=at_once))
        while outcome.status == "paused":
            pauses += 1
            for waiting in reversed(outcome.pending):
                outcome = await code_mode.approve(outcome.execution_id, waiting.call_id, digest=waiting.digest)
    return outcome, tool.made, pauses


def seen(outcome: Outcome) -> object:
    """What has to be equal; chance is equal within one run only."""
    value = outcome.value
    assert isinstance(value, list), outcome.error
    plain = [item for item in value if not isinstance(item, float)]
    calls = sorted((call.method, call.status, str(call.error and call.error.message)) for call in outcome.calls)
    return plain, [line.message for line in outcome.logs], calls


MANY = "x" * 100_000
"""More than the journal keeps of the arguments of a call that is not made."""


@pytest.mark.parametrize("more", ["", f", more={MANY!r}"], ids=["few", "many"])
def test_what_was_refused_is_refused_again(more: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The journal had it without its arguments, by which it is met: the replay went another way."""
    monkeypatch.setattr(durable_runs, "load_history", functools.partial(load_history, awake=True))
    script = f"try:\n    tool.get(n=3{more})\nexcept ToolError as error:\n    kind = error.kind\n[kind, tool.pay(n=1)]"
    outcome, made, pauses = asyncio.run(run(script, asks=True, at_once=1))
    assert (outcome.value, outcome.error) == (["denied", ["pay", 1]], None)
    assert [call.status for call in outcome.calls] == ["failed", "completed"]
    assert (made, pauses) == ([("pay", 1)], 1)


@pytest.mark.slow
@pytest.mark.parametrize("replayed", [False, True], ids=["woken", "replayed"])
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEPS, min_size=1, max_size=5), at_once=st.sampled_from([1, 2, 8]))
def test_it_ends_as_if_it_had_never_paused(
    steps: list[tuple[str, str, int]], at_once: int, replayed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    woken: list[Isolate] = []

    def wake(isolate: Isolate, asleep: Hibernation) -> None:
        woken.append(isolate)
        original(isolate, asleep)

    original = Isolate.wake
    with monkeypatch.context() as patched:
        patched.setattr(Isolate, "wake", wake)
        if replayed:
            patched.setattr(durable_runs, "load_history", functools.partial(load_history, awake=True))
        script = PREFIX + "\n".join(step.format(name, n) for step, name, n in steps) + "\nout"
        straight, made, _ = asyncio.run(run(script, asks=False, at_once=at_once))
        paused, made_paused, pauses = asyncio.run(run(script, asks=True, at_once=at_once))
    assert seen(paused) == seen(straight), script
    assert sorted(made_paused, key=str) == sorted(made, key=str)  # nothing twice, nothing left out
    assert paused.usage.passes == pauses + 1
    assert len(woken) == (0 if replayed else pauses)
