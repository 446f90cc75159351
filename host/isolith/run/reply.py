"""What an execution answers with: its value, as it is kept and as it is shown."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio.to_thread
from pydantic import ValidationError

from isolith.json_form import to_json_text
from isolith.outcome import Diagnostic, Status
from isolith.run.artifacts import ArtifactsFull, ArtifactStore
from isolith.run.result_type import Mismatch
from isolith.run.shortening import shorten
from isolith_bindings.tokens import fits

if TYPE_CHECKING:
    from collections.abc import Callable

    from isolith.budgets import Budgets
    from isolith.run.normalize import Prepared
    from isolith_runtime.protocol import Result


@dataclass(frozen=True, slots=True)
class Shown:
    """A value as the outcome shows it."""

    value: object
    truncated: bool


@dataclass(frozen=True, slots=True)
class Reply:
    """A status with a value or an error. `size`: bytes of the value as it crossed; `whole`: never cut it."""

    status: Status
    value: object = None
    value_type: str | None = None
    size: int = 0
    error: Diagnostic | None = None
    warnings: tuple[Diagnostic, ...] = ()
    whole: bool = False

    async def shown(self, budgets: Budgets, artifacts: ArtifactStore) -> Shown:
        """The value within `value_tokens`; a larger one is cut by its shape, and kept whole as an artifact."""
        # A token is a byte at least, and a byte of what crossed is at most six of JSON, with room for a bracket.
        if self.whole or self.size * 8 <= budgets.value_tokens:
            return Shown(self.value, truncated=False)
        text = await anyio.to_thread.run_sync(_json_text, self.value)
        if await anyio.to_thread.run_sync(fits, text, budgets.value_tokens):
            return Shown(self.value, truncated=False)
        # Where nothing more can be kept, it is still cut.
        with suppress(ArtifactsFull):
            artifacts.keep(text.encode(), mime="application/json", name="value")
        cut = await anyio.to_thread.run_sync(shorten, self.value, budgets.value_tokens)
        return Shown(cut, truncated=True)


def reply_of(result: Result, script: Prepared, budgets: Budgets, validate: Callable[[object], object] | None) -> Reply:
    """The reply to a script that came to its end."""
    if result.size > budgets.value_bytes + _FRAME_SLACK:
        message = f"the value is {result.size:,} bytes; `value_bytes` is {budgets.value_bytes:,}"
        return Reply("failed", error=Diagnostic(kind="output_exceeded", message=message, hint="answer with less"))
    if validate is None:
        return Reply("completed", result.value, result.type[:_MAX_TYPE], result.size)
    try:
        value = validate(result.value)
    except (ValidationError, Mismatch) as error:
        last = len(script.source.rstrip().split("\n"))
        return Reply("failed", error=_not_of_type(error, last, script.source_line(last)))
    return Reply("completed", value, result.type[:_MAX_TYPE], result.size, whole=True)


_FRAME_SLACK = 4096
_MAX_TYPE = 1000
_MAX_MESSAGE = 2_000
"""Characters: a key of the value may be in it."""
_MAX_EXPLAINED = 2_000
"""Errors that are told apart, which takes a kilobyte and two microseconds each: a value has millions."""


def _not_of_type(error: ValidationError | Mismatch, line: int, source_line: str | None) -> Diagnostic:
    if isinstance(error, ValidationError) and error.error_count() > _MAX_EXPLAINED:
        where = f"it is wrong in {error.error_count():,} places"
        return _unfit(where, line, source_line)
    if isinstance(error, Mismatch):
        count, said, path = len(error.problems), error.problems[0].message, error.problems[0].path
        path = f".{path}" if path and not path.startswith("[") else path
    else:
        first = error.errors(include_url=False, include_input=False)[0]
        count, said, path = error.error_count(), first["msg"], "".join(f"[{part!r}]" for part in first["loc"])
    more = f" (and {count - 1} more)" if count > 1 else ""
    return _unfit(f"at value{path}: {said}{more}", line, source_line)


def _unfit(where: str, line: int, source_line: str | None) -> Diagnostic:
    return Diagnostic(
        kind="invalid_result",
        message=f"the value is not what was asked for: {where}"[:_MAX_MESSAGE],
        line=line,
        source_line=source_line,
        hint="end the script with a value of the type the caller asked for",
    )


def _json_text(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        return to_json_text(value)
