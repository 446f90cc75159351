"""Test doubles that keep the contract, in place of mocks."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from isolith_bindings.connector import CallContext, Method, Policy
from isolith_bindings.errors import CallError
from isolith_bindings.names import bind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True)
class RecordedCall:
    """A call as the connector received it."""

    method: str
    arguments: dict[str, object]
    context: CallContext


@dataclass
class RecordedProgress:
    """A `progress` that remembers: each report is done, total, text."""

    reports: list[tuple[float, float | None, str | None]] = field(
        default_factory=list[tuple[float, float | None, str | None]]
    )

    def __call__(self, done: float, total: float | None = None, text: str | None = None) -> None:
        """Remember one report."""
        self.reports.append((done, total, text))


def a_method(name: str, original: str | None = None, *, policy: Policy = "allow", description: str = "") -> Method:
    """A method that takes anything by name."""
    parameters: dict[str, object] = {"type": "object", "properties": {}, "additionalProperties": True}
    signature = f"async def {name}(**others)"
    return Method(name, original or name, description, parameters, None, signature, policy=policy)


def a_context(
    progress: Callable[..., None] | None = None, *, call_id: str = "e.1", deadline_s: float = 30
) -> CallContext:
    """The context of a call of the execution `e`, for the principal `p` in the session `s`."""
    return CallContext("e", call_id, "p", "s", deadline_s, progress or RecordedProgress())


class RecordingConnector:
    """Answers as it was told and remembers what it was asked.

    `answers` maps original names to what a call gives: a value, an exception to raise, or a function, plain or async,
    of the arguments as one dict. What a function raises is raised; the caller's cancellation reaches an async one.
    """

    def __init__(self, name: str, answers: Mapping[str, object], *, policy: Policy = "allow") -> None:
        self.name = name
        self.description = f"the test double {name}"
        bound, self.excluded = bind(answers)
        self.methods = {python: a_method(python, original, policy=policy) for python, original in bound.items()}
        self.calls: list[RecordedCall] = []
        self.started = 0
        self.closed = 0
        self._answers = dict(answers)

    async def call(self, method: Method, arguments: Mapping[str, object], context: CallContext) -> object:
        """Remember the call and answer it."""
        self.calls.append(RecordedCall(method.name, dict(arguments), context))
        answer = self._answers[method.original]
        if isinstance(answer, CallError):
            raise answer
        if isinstance(answer, Exception):
            raise CallError("tool_error", str(answer), exception=type(answer).__name__) from answer
        if not callable(answer):
            return answer
        given = cast("Callable[[dict[str, object]], object]", answer)(dict(arguments))
        return await given if inspect.isawaitable(given) else given

    async def start(self) -> None:
        """Count."""
        self.started += 1

    async def aclose(self) -> None:
        """Count."""
        self.closed += 1
