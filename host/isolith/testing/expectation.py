"""What a script is expected to come to, and in what an outcome differs from that. Pure, but for reading the file."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from isolith.configuration.documents import explain, read_document
from isolith.errors import UsageError
from isolith.json_form import to_json_form, to_json_text
from isolith.outcome import Kind, Status

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from isolith.outcome import Outcome

_MOST_LINES = 40
_MOST_SHOWN = 200
"""Characters of a value that are shown on one line."""


class ExpectedError(BaseModel):
    """The diagnostic, as far as it is said. `message`: some text that is in it."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    kind: Kind
    line: int | None = Field(default=None, ge=1)
    message: str | None = None


class Expectation(BaseModel):
    """What is said of a script; of what is not said, anything is right. `value`: by the rules of JSON of outcomes."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    status: Status = "completed"
    value: object = None
    error: ExpectedError | None = None
    calls: tuple[str, ...] | None = None
    """Every call, `connector.method`, in the order in which they were made."""
    pending: tuple[str, ...] | None = None
    """The calls that wait for a person, `connector.method`."""
    input: object = None
    """What `input` is in the script."""


def read_expectation(path: Path) -> Expectation:
    """From JSON or TOML. Raises UsageError, which names the file and the place."""
    try:
        return Expectation.model_validate(read_document(path, "the expectation"))
    except ValidationError as error:
        raise UsageError(f"the expectation `{path}`: {explain(error)}") from None


def expected_of(outcome: Outcome, data: object) -> dict[str, object]:
    """What would be expected of a script that came to this, to be written."""
    told: dict[str, object] = {} if data is None else {"input": to_json_form(data)}
    told["status"] = outcome.status
    if outcome.status == "completed":
        told["value"] = to_json_form(outcome.value)
    if outcome.error is not None:
        told["error"] = {"kind": outcome.error.kind, "line": outcome.error.line}
    if outcome.pending:
        told["pending"] = [f"{call.connector}.{call.method}" for call in outcome.pending]
    return told


def differences(expected: Expectation, outcome: Outcome) -> list[str]:
    """What is not as expected, a few lines each; nothing where all is."""
    return list(_differences(expected, outcome))


def _differences(expected: Expectation, outcome: Outcome) -> Iterator[str]:
    if outcome.status != expected.status:
        why = f": {outcome.error.kind}: {outcome.error.message}" if outcome.error else ""
        yield f"status: expected {expected.status}, was {outcome.status}{why}"
    if "value" in expected.model_fields_set and outcome.status == "completed":
        yield from _of_value(expected.value, outcome)
    if "error" in expected.model_fields_set:
        yield from _of_error(expected.error, outcome)
    for name, wanted, were in (
        ("calls", expected.calls, outcome.calls),
        ("pending", expected.pending, outcome.pending),
    ):
        made = [f"{call.connector}.{call.method}" for call in were]
        if wanted is not None and list(wanted) != made:
            yield "\n".join([f"{name}:", *_diff("\n".join(wanted), "\n".join(made))])


def _of_value(wanted: object, outcome: Outcome) -> Iterator[str]:
    was = to_json_form(outcome.value)
    if outcome.truncated and was != wanted:
        yield "value: it is too large to be compared: end the script with less, such as a digest of it"
    elif type(was) is not type(wanted) or was != wanted:
        texts = to_json_text(wanted, indent=2), to_json_text(was, indent=2)
        if max(map(len, texts)) <= _MOST_SHOWN and "\n" not in "".join(texts):
            yield f"value: expected {texts[0]}, was {texts[1]}"
        else:
            yield "\n".join(["value:", *_diff(*texts)])


def _of_error(wanted: ExpectedError | None, outcome: Outcome) -> Iterator[str]:
    was = outcome.error
    if wanted is None or was is None:
        if (wanted is None) != (was is None):
            kinds = [None if error is None else error.kind for error in (wanted, was)]
            yield f"error: expected {kinds[0] or 'none'}, was {kinds[1] or 'none'}"
        return
    if wanted.kind != was.kind:
        yield f"error.kind: expected {wanted.kind}, was {was.kind}: {was.message}"
    if wanted.line is not None and wanted.line != was.line:
        yield f"error.line: expected {wanted.line}, was {was.line}: {was.source_line or ''}".rstrip(": ")
    if wanted.message is not None and wanted.message not in was.message:
        yield f"error.message: expected to find {wanted.message!r} in {was.message!r}"


def _diff(wanted: str, was: str) -> list[str]:
    lines = list(difflib.unified_diff(wanted.splitlines(), was.splitlines(), "expected", "was", lineterm="", n=2))
    more = [f"... and {len(lines) - _MOST_LINES} more lines"] if len(lines) > _MOST_LINES else []
    return [*lines[:_MOST_LINES], *more]
