"""How much a principal may ask for, with a clock that a test sets."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from isolith.http.cursors import behind, cursor_of
from isolith.http.problems import Problem
from isolith.http.rates import Limits, Rates


def test_a_burst_then_so_many_a_second() -> None:
    now = 0.0
    rates = Rates(Limits(per_second=2, burst=3), lambda: now)

    def asked() -> bool:
        try:
            with rates.request("ada"):
                return True
        except Problem as problem:
            assert problem.headers == {"Retry-After": "1"}  # noqa: PT017 - where there is one
            return False

    assert [asked() for _ in range(5)] == [True, True, True, False, False]
    now = 0.5
    assert [asked() for _ in range(2)] == [True, False]
    now = 1_000
    assert [asked() for _ in range(4)] == [True, True, True, False]


def test_requests_and_runs_under_way() -> None:
    rates = Rates(Limits(requests=1, runs=1))
    with rates.request(None):
        with pytest.raises(Problem, match="1 requests"), rates.request(None):
            pass
        with rates.request("somebody else"):
            pass
    with rates.request(None):
        pass
    ended = rates.begin_run(None)
    with pytest.raises(Problem, match="1 runs"):
        rates.begin_run(None)
    ended()
    rates.begin_run(None)


def test_cursors_are_read_as_they_were_written_and_no_other_way() -> None:
    at = datetime(2026, 1, 2, 3, 4, 5, 678_901, UTC)
    assert behind(cursor_of(at, "e1.000000002")) == (at, "e1.000000002")
    assert behind(None) is None
    for other in ("", "x", "====", "MSAy!", cursor_of(at, "e1")[:-1], "MTIz", "MSA' OR"):
        with pytest.raises(Problem, match="cursor"):
            behind(other)
