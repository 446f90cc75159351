"""A guest that lies in every way that hypothesis finds: its run ends cleanly, and the host goes on.

The frames are written by a script in a real guest, past the bootstrap, and go the whole way to the calls and the outcome.
What cannot come from a script, lengths and addresses outside of its memory, is in `tests/runtime/test_syscalls.py`; the
parser alone is in `tests/runtime/test_protocol.py`. `ISOLITH_FUZZ=5000` for a long run.
"""

from __future__ import annotations

import asyncio
import json
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.security.desk import SPARING, Desk

from isolith import Budgets, CodeMode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isolith import Outcome

SCRIPT = """
import os
for batch in input:
    os.write(4, batch)
await desk.echo(value=1)
"the end"
"""
BUDGETS = Budgets(cpu_ms=1_000, wall_s=2, calls=50)
OVERRUN_MS = 250

VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.just("x" * 5_000)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.text(max_size=5), inner, max_size=3),
        st.builds(
            lambda tag, content: {tag: content}, st.sampled_from(["$set", "$dict", "$int", "$artifact", "$no"]), inner
        ),
    ),
    max_leaves=8,
)
NUMBERS = st.one_of(st.integers(-1, 12), st.sampled_from([2**31 - 1, 2**31, 2**64, 1.5, "1", None, True]))
NAMES = st.one_of(st.sampled_from(["desk", "echo", "get", "wipe", "", "search", "describe", "artifact"]), VALUES)
ARGUMENTS = st.one_of(st.just({}), st.just({"id": 1}), st.dictionaries(st.text(max_size=5), VALUES, max_size=3), VALUES)
LINES = st.sampled_from([1, 0, -1, 10**9, "x", None])
FAILURES = st.fixed_dictionaries(
    {"kind": st.sampled_from(["exception", "internal", "cpu_exceeded", "cancelled", "interrupted", "rejected", "no"])},
    optional=dict.fromkeys(["message", "line", "column", "hint", "tool", "retriable", "traceback"], VALUES),
)
FRAMES = st.one_of(
    st.tuples(st.just("call"), NUMBERS, NAMES, NAMES, ARGUMENTS, LINES),
    st.tuples(st.just("call"), st.integers(1, 9), st.just("desk"), NAMES, ARGUMENTS, LINES),
    st.tuples(st.just("cancel"), NUMBERS),
    st.tuples(st.just("emit"), VALUES),
    st.tuples(st.just("log"), st.sampled_from(["info", "error", "no"]), st.text(max_size=9), ARGUMENTS, LINES),
    st.tuples(st.just("progress"), NUMBERS, NUMBERS, st.text(max_size=5)),
    st.tuples(st.just("warning"), st.sampled_from(["check", "cancelled", "internal"]), st.text(max_size=9), LINES),
    st.tuples(st.just("parked"), NUMBERS, LINES),
    st.tuples(st.just("result"), VALUES, NAMES),
    st.tuples(st.just("failure"), FAILURES),
    st.tuples(st.sampled_from(["answer", "error", "start", "no"]), NUMBERS, VALUES),  # the host's own, and nobody's
    st.lists(VALUES, max_size=3),
)
BATCHES = st.one_of(
    st.lists(FRAMES, max_size=6).map(lambda frames: json.dumps(frames).encode()),
    st.lists(FRAMES, min_size=1, max_size=2).map(lambda frames: json.dumps(frames * 500).encode()),
    st.lists(FRAMES, max_size=2).map(lambda frames: json.dumps(frames).encode()[:-3]),
    st.binary(max_size=40),
    st.integers(200, 300).map(lambda deep: b'[["emit",' + b"[" * deep + b"]" * deep + b"]]"),
    st.sampled_from(
        [b"", b"[]", b"[[]]", b'[["emit","\xff"]]', b'[["emit","\\ud800"]]', b"\x00\x00\x00\x04[]", b"[" * 10_000]
    ),
)


class Host:
    """One code mode for all examples, in a loop of its own."""

    def __init__(self) -> None:
        self.desk = Desk()
        self._runner = asyncio.Runner()
        self._code_mode = self._runner.run(self._open())

    async def _open(self) -> CodeMode:
        return await CodeMode([self.desk], check="off", policy=SPARING).__aenter__()

    def run(self, script: str, given: object = None) -> Outcome:
        self.desk.reached.clear()
        return self._runner.run(self._code_mode.execute(script, input=given, budgets=BUDGETS))

    def close(self) -> None:
        self._runner.run(self._code_mode.aclose())
        self._runner.close()


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    made = Host()
    yield made
    made.close()


@settings(
    max_examples=int(os.environ.get("ISOLITH_FUZZ", "60")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(batches=st.lists(BATCHES, max_size=5))
@example(batches=[b'[["result",1,"int"],["call",1,"desk","get",{"id":1},1]]', b'[["emit",1]]'])
@example(batches=[b'[["call",5,"desk","slow",{},1],["cancel",5],["cancel",5],["cancel",9]]'])
@example(batches=[b'[["call",9,"desk","wipe",{},1],["call",10,"desk","get",{"id":1},1]]'])
def test_a_guest_that_lies_ends_cleanly(host: Host, batches: list[bytes]) -> None:
    outcome = host.run(SCRIPT, batches)
    kind = None if outcome.error is None else outcome.error.kind
    assert outcome.status in {"completed", "failed", "rejected"}
    assert kind not in {"internal", "cancelled", "cpu_exceeded", "diverged"}  # the host's own words, and not the case
    assert json.loads(outcome.to_json_text())
    assert outcome.usage.cpu_ms <= BUDGETS.cpu_ms + OVERRUN_MS
    assert "wipe" not in host.desk.reached
    # None reached the connector that is not told, nor more than the budget has.
    assert len(host.desk.reached) <= sum(call.connector == "desk" for call in outcome.calls)
    assert len(host.desk.reached) <= outcome.usage.calls <= BUDGETS.calls


def test_the_host_goes_on(host: Host) -> None:
    assert host.run("1 + 1").value == 2
