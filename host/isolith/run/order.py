"""What was asked for: one script with all that goes with it, and what its guest is begun with."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from isolith.errors import UsageError
from isolith_bindings.policy import Policy
from isolith_runtime import protocol
from isolith_runtime.inputs import Inputs, Recording
from isolith_runtime.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from isolith.budgets import Budgets
    from isolith.calling.questions import Questions
    from isolith.durable.durability import Durable
    from isolith.outcome import Diagnostic
    from isolith.run.allowance import Allowance
    from isolith.run.checking import CheckMode
    from isolith.run.type_checker import Types
    from isolith_bindings.catalog import Catalog
    from isolith_runtime.driver import Supply

_BATCH_SLACK = 4 * 1024 * 1024


def _trusted() -> Policy:
    return Policy(preset="trusted")


@dataclass(frozen=True)
class Order:
    """One script, and for whom, with what and within what it runs. Raises UsageError for a script that is no text."""

    script: str | bytes
    input: object
    budgets: Budgets
    warnings: tuple[Diagnostic, ...]
    catalog: Catalog
    supply: Callable[[], Awaitable[Supply]]
    principal: str | None = None
    session: str | None = None
    validate: Callable[[object], object] | None = None
    replay: Recording | None = None
    check: CheckMode = "strict"
    policy: Policy = field(default_factory=_trusted)
    durable: Durable | None = None
    """Where it is journalled, and from where it goes on."""
    snippets: Mapping[str, int] = field(default_factory=dict[str, int])
    """The snippets that it may call, each with the version that it stays at."""
    execution_id: str | None = None
    """Its id, where somebody else chooses it."""
    around: Allowance | None = None
    """What the run around it may spend."""
    result_schema: str | None = None
    """What its value has to be, for whoever goes on with it elsewhere."""
    questions: Questions | None = None
    """Who answers what a server asks during a call; nobody, and it is declined at once."""
    types: Types = "off"
    """The type checker that looks at the script beside the run."""

    def __post_init__(self) -> None:
        given = cast("object", self.script)
        if not isinstance(given, str | bytes):
            raise UsageError(f"a script is text, or bytes in UTF-8, not {type(given).__name__}")


def id_of(order: Order) -> str:
    """What the execution is called: as it was, where it goes on; as somebody chose; or by chance."""
    history = None if order.durable is None else order.durable.history
    return history.order.execution_id if history is not None else order.execution_id or secrets.token_hex(16)


def inputs_of(order: Order) -> Inputs:
    """The clock and the entropy: new, or as they were recorded, or as they stood when the guest was put away."""
    history = None if order.durable is None else order.durable.history
    if history is not None:
        asleep = history.hibernation
        return Inputs.replay(history.recording) if asleep is None else asleep.inputs()
    return Inputs() if order.replay is None else Inputs.replay(order.replay)


def limits_of(budgets: Budgets) -> Limits:
    """What the isolate itself keeps."""
    return Limits(budgets.cpu_ms, budgets.memory_bytes, budgets.value_bytes + _BATCH_SLACK, budgets.fuel)


def start_frame(order: Order, source: str, seed: str) -> str:
    """The first frame."""
    budgets = order.budgets
    return protocol.start(
        {
            "source": source,
            "input": order.input,
            "connectors": order.catalog.granted(),
            "snippets": list(order.snippets),
            "limits": {name: value for name, value in budgets.model_dump().items() if value is not None},
            "seed": seed,
            "log_bytes": budgets.log_bytes,
            "emit_events": budgets.emit_events,
            "value_bytes": budgets.value_bytes,
        }
    )
