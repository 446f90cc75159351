"""What a script's end becomes: the value as kept and as shown, or why it is not what was asked for."""

from __future__ import annotations

import json

import pytest
from pydantic import TypeAdapter

from isolith.budgets import Budgets
from isolith.run.artifacts import MAX_BYTES, ArtifactStore
from isolith.run.normalize import Prepared, prepare
from isolith.run.reply import Reply, Shown, reply_of
from isolith_runtime.protocol import Result

pytestmark = pytest.mark.anyio


def script(text: str = "rows = [1]\nrows\n\n") -> Prepared:
    prepared = prepare(text, 1000)
    assert isinstance(prepared, Prepared)
    return prepared


def test_a_result_is_completed_with_its_type() -> None:
    reply = reply_of(Result([1], "list[int]", 9), script(), Budgets(), None)
    assert reply == Reply("completed", [1], "list[int]", 9)


def test_a_result_larger_than_its_budget_is_none() -> None:
    reply = reply_of(Result("x", "str", 6000), script(), Budgets(value_bytes=1000), None)
    assert reply.error is not None
    assert (reply.status, reply.value, reply.error.kind) == ("failed", None, "output_exceeded")
    assert reply.error.message == "the value is 6,000 bytes; `value_bytes` is 1,000"


def test_a_type_name_of_any_length_is_cut() -> None:
    assert len(reply_of(Result(1, "x" * 10**6, 9), script(), Budgets(), None).value_type or "") == 1000


def test_the_validated_value_takes_the_place_of_the_value_and_is_shown_whole() -> None:
    reply = reply_of(Result(["1"], "list[str]", 9), script(), Budgets(), TypeAdapter(list[int]).validate_python)
    assert (reply.value, reply.value_type, reply.whole) == ([1], "list[str]", True)


def test_a_value_that_is_not_what_was_asked_for_is_told_at_the_last_line() -> None:
    validate = TypeAdapter(dict[str, list[int]]).validate_python
    reply = reply_of(Result({"a": [1, "x"]}, "dict", 9), script(), Budgets(), validate)
    assert reply.error is not None
    assert (reply.status, reply.error.kind, reply.error.line, reply.error.source_line) == (
        "failed",
        "invalid_result",
        2,
        "rows",
    )
    assert reply.error.message.startswith(
        "the value is not what was asked for: at value['a'][1]: Input should be a valid"
    )


async def test_a_small_value_is_shown_as_it_is() -> None:
    store = ArtifactStore()
    assert await Reply("completed", [1], size=5).shown(Budgets(), store) == Shown([1], truncated=False)
    # Large as it crossed, with its tags, and small enough as it is shown.
    assert await Reply("completed", [1], size=10**6).shown(Budgets(), store) == Shown([1], truncated=False)
    assert store.records() == ()


@pytest.mark.parametrize("value", [["x" * 900], {(1, 2): {b"x" * 900}}])
async def test_a_large_one_is_cut_and_kept(value: object) -> None:
    store = ArtifactStore()
    shown = await Reply("completed", value, size=5000).shown(Budgets(value_tokens=50), store)
    assert shown.truncated
    assert shown.value != value
    [record] = store.records()
    assert "x" * 10 in store.read(record.handle).decode() or json.loads(store.read(record.handle))


async def test_where_nothing_more_can_be_kept_it_is_still_cut() -> None:
    store = ArtifactStore()
    store.keep(bytes(MAX_BYTES), mime="m", name="n")
    shown = await Reply("completed", ["x" * 900], size=5000).shown(Budgets(value_tokens=50), store)
    assert (shown.truncated, len(store.records())) == (True, 1)
