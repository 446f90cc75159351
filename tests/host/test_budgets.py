"""Budgets: the contract's table, what is refused, and how a host lowers what is asked."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isolith.budgets import CEILINGS, FUEL_PER_CPU_MS, MAX_MEMORY_MB, UNLIMITED, Budgets, HostPolicy
from isolith.errors import BudgetError, UsageError


def test_the_defaults_are_those_of_the_contract_and_finite() -> None:
    assert Budgets().model_dump() == {
        "cpu_ms": 5_000,
        "fuel": None,
        "memory_mb": 256,
        "wall_s": 60,
        "calls": 200,
        "calls_per_connector": 200,
        "concurrent_calls": 16,
        "concurrent_calls_per_connector": 8,
        "call_s": 30,
        "call_cap_s": 600,
        "log_bytes": 262_144,
        "emit_events": 1_000,
        "value_tokens": 6_000,
        "value_bytes": 16_777_216,
        "argument_bytes": 1_048_576,
        "result_bytes": 8_388_608,
        "script_bytes": 262_144,
        "input_bytes": 1_048_576,
    }
    assert Budgets().memory_bytes == 268_435_456


@pytest.mark.parametrize("given", [{}, {"wall_s": 5}, {"call_s": 2.5, "call_cap_s": UNLIMITED}])
def test_a_run_that_goes_on_is_begun_with_the_same_text(given: dict[str, float]) -> None:
    """A default of 60 came back as 60.0: a script that shows its `budget.limits`, or sorts by `id`, went another way."""
    granted, _ = HostPolicy().clamp(Budgets.model_validate(given))
    kept = Budgets.model_validate_json(granted.model_dump_json())
    assert json.dumps(kept.model_dump()) == json.dumps(granted.model_dump())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"cpu_ms": 0}, "budget `cpu_ms` must be greater than or equal to 1, not 0"),
        ({"cpu_ms": True}, "budget `cpu_ms` must be a valid integer, not True"),
        ({"cpu_ms": "5"}, "budget `cpu_ms` must be a valid integer, not '5'"),
        ({"cpu_ms": UNLIMITED + 1}, f"budget `cpu_ms` must be less than or equal to {UNLIMITED}, not {UNLIMITED + 1}"),
        ({"memory_mb": 63}, "budget `memory_mb` must be greater than or equal to 64, not 63"),
        ({"memory_mb": UNLIMITED}, f"budget `memory_mb` must be less than or equal to 4096, not {UNLIMITED}"),
        ({"wall_s": math.inf}, "budget `wall_s` has to be finite; a host that wants no limit writes `UNLIMITED`"),
        ({"calls": math.inf}, "budget `calls` has to be finite; a host that wants no limit writes `UNLIMITED`"),
        ({"wall_s": math.nan}, "budget `wall_s` has to be finite; a host that wants no limit writes `UNLIMITED`"),
        ({"wall_s": 0}, "budget `wall_s` must be greater than 0, not 0"),
        ({"fuel": 0}, "budget `fuel` must be greater than or equal to 1, not 0"),
        ({"cpu": 5}, "there is no budget `cpu`: did you mean `cpu_ms`?"),
        ({"zzz": 5}, "there is no budget `zzz`"),
        (
            {"cpu_ms": 0, "fuel": "x"},
            "budget `cpu_ms` must be greater than or equal to 1, not 0; budget `fuel` must be a valid integer, not 'x'",
        ),
        (
            {"call_s": 700},
            "budget `call_s` is 700, but `call_cap_s` ends a call at 600: raise `call_cap_s` as well",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(given: dict[str, object], message: str) -> None:
    with pytest.raises(BudgetError) as caught:
        Budgets.model_validate(given)
    assert str(caught.value) == message
    with pytest.raises(UsageError):
        Budgets(**given)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]


def test_a_limit_that_only_forbids_may_be_zero() -> None:
    budgets = Budgets(calls=0, log_bytes=0, emit_events=0)
    assert budgets.calls_per_connector == 0


def test_calls_per_connector_follow_calls_unless_given() -> None:
    assert Budgets(calls=500).calls_per_connector == 500
    assert Budgets(calls=500, calls_per_connector=7).calls_per_connector == 7


def test_a_lower_cap_of_a_call_needs_no_lower_call() -> None:
    assert Budgets(call_cap_s=10).call_s == 30


def test_lower_is_granted_without_a_word() -> None:
    asked = Budgets(cpu_ms=1, wall_s=0.5, calls=0)
    assert HostPolicy().clamp(asked) == (asked, [])


def test_more_is_answered_with_the_ceiling_and_a_warning() -> None:
    granted, warnings = HostPolicy().clamp(Budgets(cpu_ms=10**9, wall_s=UNLIMITED, call_s=0.5))
    assert granted == Budgets(cpu_ms=60_000, wall_s=3600, call_s=0.5)
    assert [(warning.kind, warning.message, warning.hint) for warning in warnings] == [
        (
            "invalid_input",
            "budget `cpu_ms`: 1,000,000,000 asked, 60,000 given, which is the most this host allows",
            "ask for `cpu_ms` up to 60,000, or have the host raise its ceiling",
        ),
        (
            "invalid_input",
            "budget `wall_s`: no limit asked, 3,600 given, which is the most this host allows",
            "ask for `wall_s` up to 3,600, or have the host raise its ceiling",
        ),
    ]


def test_a_default_above_the_ceiling_is_lowered_in_silence() -> None:
    policy = HostPolicy(ceilings=Budgets(cpu_ms=100))
    granted, warnings = policy.clamp(Budgets())
    assert (granted.cpu_ms, warnings) == (100, [])
    granted, warnings = policy.clamp(Budgets(cpu_ms=5_000))
    assert (granted.cpu_ms, len(warnings)) == (100, 1)


def test_raised_calls_are_one_wish_and_one_warning() -> None:
    granted, warnings = HostPolicy().clamp(Budgets(calls=10**6))
    assert (granted.calls, granted.calls_per_connector, len(warnings)) == (5_000, 5_000, 1)


def test_fuel_cannot_go_round_a_ceiling_of_cpu_time() -> None:
    granted, warnings = HostPolicy(ceilings=Budgets(cpu_ms=100)).clamp(Budgets(fuel=UNLIMITED))
    assert (granted.fuel, len(warnings)) == (100 * FUEL_PER_CPU_MS, 1)
    assert HostPolicy().clamp(Budgets())[0].fuel is None


def test_no_limit_is_spelled_out_by_the_host_field_by_field() -> None:
    policy = HostPolicy(ceilings=CEILINGS.model_copy(update={"wall_s": UNLIMITED}))
    granted, warnings = policy.clamp(Budgets(wall_s=UNLIMITED, cpu_ms=UNLIMITED))
    assert (granted.wall_s, granted.cpu_ms, len(warnings)) == (UNLIMITED, 60_000, 1)


def test_the_default_ceilings_are_finite() -> None:
    for name, ceiling in CEILINGS.model_dump().items():
        assert 0 < ceiling < UNLIMITED, name
    assert CEILINGS.memory_mb <= MAX_MEMORY_MB


@given(
    st.builds(
        Budgets,
        cpu_ms=st.integers(1, UNLIMITED),
        fuel=st.none() | st.integers(1, UNLIMITED),
        wall_s=st.floats(0.001, UNLIMITED),
        calls=st.integers(0, UNLIMITED),
    )
)
def test_what_is_granted_is_within_both_the_wish_and_the_ceiling(asked: Budgets) -> None:
    granted, warnings = HostPolicy().clamp(asked)
    for name, value in granted.model_dump(exclude_none=True).items():
        assert value == min(getattr(asked, name), getattr(CEILINGS, name))
    assert len(warnings) == sum(getattr(asked, name) != getattr(granted, name) for name in asked.model_fields_set)
    assert HostPolicy().clamp(granted) == (granted, [])
