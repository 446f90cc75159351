"""What a run spent, budget by budget; pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isolith.outcome import Usage

if TYPE_CHECKING:
    from isolith.budgets import Budgets
    from isolith.calling.tally import Tally
    from isolith.run.said import Said
    from isolith_runtime.driver import Spent


@dataclass(frozen=True, slots=True)
class Sizes:
    """In bytes: of what was given, and of the value as it crossed."""

    script: int
    input: int
    value: int


@dataclass(frozen=True, slots=True)
class Passed:
    """Seconds of all passes, and how many there were."""

    wall_s: float
    passes: int


def script_size(script: str | bytes) -> int:
    """In bytes, as `script_bytes` counts them."""
    return len(script) if isinstance(script, bytes) else len(script.encode(errors="replace"))


def usage_of(budgets: Budgets, spent: Spent, tally: Tally, said: Said, sizes: Sizes, passed: Passed) -> Usage:
    """Every budget as it was used."""
    return Usage(
        cpu_ms=round(spent.cpu_ns / 1e6, 3),
        wall_ms=round(passed.wall_s * 1e3, 3),
        memory_bytes=spent.memory_bytes,
        calls=tally.calls,
        output_bytes=sizes.value + said.bytes,
        passes=passed.passes,
        fuel=None if budgets.fuel is None or spent.fuel is None else budgets.fuel - spent.fuel,
        calls_per_connector=tally.calls_per_connector,
        concurrent_calls=tally.concurrent_calls,
        concurrent_calls_per_connector=tally.concurrent_calls_per_connector,
        call_ms=tally.call_ms,
        log_bytes=said.log_bytes,
        emit_events=said.emitted,
        value_bytes=sizes.value,
        argument_bytes=tally.argument_bytes,
        result_bytes=tally.result_bytes,
        script_bytes=sizes.script,
        input_bytes=sizes.input,
    )
