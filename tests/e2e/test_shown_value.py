"""A value that is too large to show keeps its shape; the whole of it stays readable under a handle."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from isolith import Budgets
from isolith_bindings.tokens import count

if TYPE_CHECKING:
    from isolith import CodeMode

pytestmark = pytest.mark.anyio


async def test_a_value_within_the_tokens_is_whole(code_mode: CodeMode) -> None:
    # 99 tokens: a letter with its blank is one.
    outcome = await code_mode.execute("'a ' * 98", budgets=Budgets(value_tokens=100))
    assert (outcome.value, outcome.truncated, outcome.artifacts) == ("a " * 98, False, ())


@pytest.mark.parametrize(
    "script",
    [
        "list(range(10_000))",
        "'x' * 100_000",
        "{f'key {n}': n for n in range(5000)}",
        "[{'id': n, 'rows': list(range(50)), 'text': 'y' * 200} for n in range(200)]",
        "{'deep': {'deep': {'deep': [[n, [n]] for n in range(3000)]}}}",
        "[b'z' * 50_000, {n: {n} for n in range(999)}]",
        "10 ** 20_000",
    ],
)
async def test_past_them_it_is_cut_by_its_shape_and_kept_whole(code_mode: CodeMode, script: str) -> None:
    execution = code_mode.start(script, budgets=Budgets(value_tokens=300))
    outcome = await execution.outcome()
    whole = await code_mode.execute(script, budgets=Budgets(value_tokens=50_000))
    document = outcome.to_json()
    assert outcome.truncated
    assert count(json.dumps(document["value"], ensure_ascii=False)) <= 300
    assert "…" in json.dumps(document["value"], ensure_ascii=False) or "<" in json.dumps(document["value"])
    [record] = outcome.artifacts
    assert (record.name, record.mime) == ("value", "application/json")
    content = execution.artifact(record.handle)
    assert len(content) == record.bytes
    assert outcome.value_type == whole.value_type
    assert json.loads(content)


async def test_what_was_cut_is_said(code_mode: CodeMode) -> None:
    outcome = await code_mode.execute("list(range(10_000))", budgets=Budgets(value_tokens=100))
    assert isinstance(outcome.value, list)
    assert outcome.value[:3] == [0, 1, 2]
    assert outcome.value[-1] == f"… {10_000 - len(outcome.value) + 1:,} more items"


async def test_under_the_handle_is_the_whole_value(code_mode: CodeMode) -> None:
    execution = code_mode.start("[{'n': n} for n in range(3000)]", budgets=Budgets(value_tokens=100))
    [record] = (await execution.outcome()).artifacts
    assert json.loads(execution.artifact(record.handle)) == [{"n": n} for n in range(3000)]


async def test_by_default_it_is_six_thousand_tokens(code_mode: CodeMode) -> None:
    below = await code_mode.execute("[1] * 1_999")
    above = await code_mode.execute("[1] * 2_010")
    assert (below.truncated, above.truncated) == (False, True)
