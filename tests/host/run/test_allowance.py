"""What the calls of a run may hold together, on both sides; how many there may be is in `tests/e2e/test_budgets.py`."""

from __future__ import annotations

import pytest

from isolith.budgets import Budgets
from isolith.run.allowance import MAX_HELD, Allowance
from isolith_bindings.errors import CallError
from isolith_runtime.protocol import Call


def call(number: int, weight: int) -> Call:
    return Call(number, "crm", "get", {}, 1, 0, weight)


def test_arguments_are_held_up_to_the_most_and_let_go() -> None:
    allowance = Allowance(Budgets())
    allowance.hold(call(1, MAX_HELD // 2))
    allowance.hold(call(2, MAX_HELD // 2))
    with pytest.raises(CallError, match="take more than 128 MiB") as caught:
        allowance.hold(call(3, 1))
    assert caught.value.kind == "invalid_arguments"
    allowance.hold(call(4, 0))
    allowance.release(3)
    allowance.release(1)
    allowance.release(1)
    allowance.hold(call(3, MAX_HELD // 2))


def test_what_a_run_within_uses_is_used_by_all_around_it() -> None:
    outer = Allowance(Budgets(cpu_ms=1000))
    inner = Allowance(Budgets(cpu_ms=400), outer)
    inner.spend_cpu(300)
    assert (inner.share_of_cpu(), outer.share_of_cpu()) == (100, 700)


def test_runs_at_one_time_share_what_is_left() -> None:
    allowance = Allowance(Budgets(cpu_ms=1000))
    given = []
    for _ in range(8):
        given.append(allowance.share_of_cpu())
        allowance.nested_runs += 1
    assert given[:3] == [1000, 500, 333]
    assert sum(given) < 3 * 1000
