"""The log of an execution, kept within its budget."""

from __future__ import annotations

import pytest

from isolith.run.logs import MAX_LINES, LogKeeper
from isolith_runtime.protocol import Log


def line(message: str, **attrs: object) -> Log:
    return Log("info", message, attrs, 1)


def test_lines_are_kept_in_order_with_their_time() -> None:
    keeper = LogKeeper(100)
    records = [keeper.take(line("a", n=1)), keeper.take(line("b"))]
    assert [record and (record.seq, record.message, record.attrs) for record in records] == [
        (1, "a", {"n": 1}),
        (2, "b", {}),
    ]
    assert keeper.records == records
    assert not keeper.truncated
    assert all(record and record.at.tzinfo for record in records)


@pytest.mark.parametrize(
    ("limit", "messages"),
    [
        (11, ["0123456789"]),
        (10, ["0123456789… (logs are cut at 10 bytes: `log_bytes`, and at 10,000 lines)"]),
        (0, ["… (logs are cut at 0 bytes: `log_bytes`, and at 10,000 lines)"]),
    ],
)
def test_the_line_that_does_not_fit_is_cut_and_says_so(limit: int, messages: list[str]) -> None:
    keeper = LogKeeper(limit)
    keeper.take(line("0123456789"))
    assert [record.message for record in keeper.records] == messages
    assert keeper.truncated == (limit < 11)


def test_after_it_nothing_is_kept() -> None:
    keeper = LogKeeper(10)
    for _ in range(100):
        keeper.take(line("12345678"))
    assert len(keeper.records) == 2
    assert keeper.records[-1].message.startswith("1…")


def test_attributes_count_and_characters_are_not_torn() -> None:
    keeper = LogKeeper(40)
    keeper.take(line("a", text="x" * 100))
    assert (keeper.records[0].attrs, keeper.truncated) == ({}, True)
    keeper = LogKeeper(4)
    keeper.take(line("üüü"))
    assert keeper.records[0].message.startswith("üü…")


def test_there_is_a_most_of_lines() -> None:
    keeper = LogKeeper(10**9)
    for _ in range(MAX_LINES + 10):
        keeper.take(line(""))
    assert (len(keeper.records), keeper.truncated) == (MAX_LINES + 1, True)


@pytest.mark.parametrize("truncated", [False, True])
def test_what_was_cut_before_a_run_was_put_away_stays_cut(truncated: bool) -> None:
    """A line that a script has made look like the end is none."""
    before = LogKeeper(20)
    assert before.take_emitted("a", 3)
    assert not before.take_emitted("b" * 30, 32)
    before.take(line("c" * 30))
    after = LogKeeper(20)
    after.restore(before.records, truncated=truncated)
    assert after.truncated is truncated
    assert after.take_emitted("d", 3) is not truncated
    assert (after.take(line("")) is None) is truncated
