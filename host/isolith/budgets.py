"""What one execution may spend, and how far a caller may raise it.

Everything is finite by default. A caller asks with `Budgets`; the host answers with its `HostPolicy`, which lowers
what goes past a ceiling. No limit at all is spelled out, field by field, by the host: `UNLIMITED` in a ceiling.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, Self, cast

from pydantic import BaseModel, ConfigDict, Field, ModelWrapValidatorHandler, ValidationError, model_validator

from isolith.errors import BudgetError
from isolith.outcome import Diagnostic

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

UNLIMITED: Final = 2**53 - 1
"""No limit, for one budget. A number, so that whoever compares with a budget needs no second branch."""

MIN_MEMORY_MB: Final = 64
"""What the guest needs before a script allocates anything, and some room."""
MAX_MEMORY_MB: Final = 4096
"""All that 32-bit WebAssembly can address: no budget goes further, and this one is never unlimited."""

FUEL_PER_CPU_MS: Final = 1_000_000
"""How many instructions weigh as much as a millisecond, where a ceiling names CPU time and the caller asks for fuel."""

KIB: Final = 1024
MIB: Final = 1024 * KIB

# A limit is at least 1 where nothing runs without it, and may be 0 where it only forbids.
Limit = Annotated[int, Field(ge=1, le=UNLIMITED)]
Allowance = Annotated[int, Field(ge=0, le=UNLIMITED)]
Seconds = Annotated[float, Field(gt=0, le=UNLIMITED, allow_inf_nan=False)]


class Budgets(BaseModel):
    """What one execution may spend; each field has its unit in its name. Raises `BudgetError` for what makes no sense.

    `model_fields_set` tells what the caller asked for from what is a default.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True)

    cpu_ms: Limit = 5_000
    """CPU time of the guest alone; waiting for tools, timers or people is free."""
    fuel: Limit | None = None
    """WebAssembly instructions instead of `cpu_ms`: the same stop on every machine."""
    memory_mb: Annotated[int, Field(ge=MIN_MEMORY_MB, le=MAX_MEMORY_MB)] = 256
    """Linear memory of the isolate, in MiB."""
    wall_s: Seconds = 60.0
    """From begin to end; the time people take to answer is not counted."""
    calls: Allowance = 200
    calls_per_connector: Allowance = Field(default_factory=lambda data: data["calls"])
    """As many as `calls`, unless given."""
    concurrent_calls: Limit = 16
    """Calls under way at one time; the rest wait in order."""
    concurrent_calls_per_connector: Limit = 8
    call_s: Seconds = 30.0
    """One call; a report of progress starts it anew, up to `call_cap_s` in all."""
    call_cap_s: Seconds = 600.0
    log_bytes: Allowance = 256 * KIB
    emit_events: Allowance = 1_000
    value_tokens: Limit = 6_000
    """How much of the value a model is shown."""
    value_bytes: Limit = 16 * MIB
    """How much of the value is kept."""
    argument_bytes: Limit = MIB
    """The arguments of one call."""
    result_bytes: Limit = 8 * MIB
    """The result of one call."""
    script_bytes: Limit = 256 * KIB
    input_bytes: Limit = MIB

    @property
    def memory_bytes(self) -> int:
        """`memory_mb` in bytes."""
        return self.memory_mb * MIB

    @model_validator(mode="wrap")
    @classmethod
    def _explain(cls, data: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            budgets = handler(data)
        except ValidationError as error:
            wrong = [item for item in error.errors() if item["type"] != "default_factory_not_called"]
            raise BudgetError("; ".join(map(_message, wrong))) from None
        if "call_s" in budgets.model_fields_set and budgets.call_s > budgets.call_cap_s:
            raise BudgetError(
                f"budget `call_s` is {budgets.call_s:g}, but `call_cap_s` ends a call at {budgets.call_cap_s:g}:"
                " raise `call_cap_s` as well"
            )
        return budgets


CEILINGS: Final = Budgets(
    cpu_ms=60_000,
    fuel=60_000 * FUEL_PER_CPU_MS,
    memory_mb=1024,
    wall_s=3600,
    calls=5_000,
    concurrent_calls=64,
    concurrent_calls_per_connector=32,
    call_s=600,
    call_cap_s=3600,
    log_bytes=4 * MIB,
    emit_events=10_000,
    value_tokens=50_000,
    value_bytes=64 * MIB,
    argument_bytes=8 * MIB,
    result_bytes=64 * MIB,
    script_bytes=MIB,
    input_bytes=16 * MIB,
)
"""How far a caller may go where the host says nothing: a minute of CPU, 1 GiB, an hour, 5,000 calls."""


@dataclass(frozen=True, slots=True)
class HostPolicy:
    """The ceilings of this host. A field left out of `ceilings=Budgets(...)` is a ceiling at that budget's default.

    Where `ceilings` has no `fuel`, its CPU time is the measure: `FUEL_PER_CPU_MS` instructions for a millisecond.
    """

    ceilings: Budgets = CEILINGS

    def clamp(self, requested: Budgets) -> tuple[Budgets, list[Diagnostic]]:
        """What is granted: each budget, or its ceiling where it asked for more.

        Lowering what the caller asked for gives a warning (`invalid_input`); lowering a mere default does not.
        Raises BudgetError for what are no `Budgets`.
        """
        if not isinstance(cast("object", requested), Budgets):
            kind = type(requested).__name__
            raise BudgetError(f"budgets are given as `Budgets`, in Python as Budgets(cpu_ms=500), not as {kind}")
        asked = requested.model_dump(exclude_none=True)
        lowered = {name: ceiling for name, value in asked.items() if value > (ceiling := self._ceiling(name))}
        warnings = [
            _lowered(name, asked[name], ceiling)
            for name, ceiling in lowered.items()
            if name in requested.model_fields_set
        ]
        return requested.model_copy(update=lowered), warnings

    def _ceiling(self, name: str) -> float:
        if name == "fuel" and self.ceilings.fuel is None:
            return min(self.ceilings.cpu_ms * FUEL_PER_CPU_MS, UNLIMITED)
        ceiling: float = getattr(self.ceilings, name)
        return ceiling


def _lowered(name: str, asked: float, ceiling: float) -> Diagnostic:
    given = _amount(ceiling)
    return Diagnostic(
        kind="invalid_input",
        message=f"budget `{name}`: {_amount(asked)} asked, {given} given, which is the most this host allows",
        hint=f"ask for `{name}` up to {given}, or have the host raise its ceiling",
    )


def _amount(value: float) -> str:
    if value >= UNLIMITED:
        return "no limit"
    return f"{int(value):,}" if value == int(value) else f"{value:,}"


def _message(error: ErrorDetails) -> str:
    name = ".".join(map(str, error["loc"]))
    if error["type"] == "extra_forbidden":
        near = difflib.get_close_matches(name, Budgets.model_fields, n=1)
        return f"there is no budget `{name}`" + (f": did you mean `{near[0]}`?" if near else "")
    if error["type"] == "finite_number" or error["input"] == float("inf"):
        return f"budget `{name}` has to be finite; a host that wants no limit writes `UNLIMITED`"
    rule = error["msg"].replace("Input should be", "must be")
    return f"budget `{name}` {rule}, not {error['input']!r:.80}"
