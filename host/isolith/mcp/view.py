"""An outcome as a model reads it: the value or what went wrong, then what was said beside it, within its tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from isolith.json_form import to_json_text
from isolith.visible import visible
from isolith_bindings import tokens
from isolith_bindings.description import cut

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from isolith.outcome import Diagnostic, Outcome, PendingCall

    Approving: TypeAlias = Callable[[PendingCall], str]

LEAST_BESIDE = 300
"""Tokens that what is beside the value has, however large the value is."""
_CHARACTERS_PER_TOKEN = 8
"""More of a text than this is not looked at before it is cut."""
_MAX_PENDING = 20
_MAX_ARGUMENTS = 2_000


def model_view(outcome: Outcome, max_tokens: int, approving: Approving | None = None) -> str:
    """The text of an outcome: `max_tokens` at most, or the value's own and `LEAST_BESIDE` more.

    `approving`: the command by which a person approves a pending call, for the model to tell its user.
    """
    head = visible("\n".join(_head(outcome, approving)))
    beside = visible("\n".join(_beside(outcome)))
    if not beside:
        return head
    left = max(max_tokens - tokens.count(head), LEAST_BESIDE)
    shown = cut(beside[: left * _CHARACTERS_PER_TOKEN], left)
    return f"{head}\n\n{shown}" if shown else head


def said_of(diagnostic: Diagnostic) -> str:
    """What went wrong, where, and what to do instead."""
    where = f"\nline {diagnostic.line}: {(diagnostic.source_line or '').strip()}" if diagnostic.line else ""
    hint = f"\nhint: {diagnostic.hint}" if diagnostic.hint else ""
    return f"{diagnostic.kind}: {diagnostic.message}{where}{hint}"


def _head(outcome: Outcome, approving: Approving | None) -> Iterator[str]:
    """What happened: always shown whole."""
    if outcome.status == "completed":
        yield to_json_text(outcome.value)
    elif outcome.status == "paused":
        yield f"paused: a person has to decide. Do not run the script again: `resume` {outcome.execution_id} later."
        for call in outcome.pending[:_MAX_PENDING]:
            yield _waiting(call)
            if approving is not None:
                yield f"tell your user that a person decides it with `{approving(call)}` (or `reject`)"
        if len(outcome.pending) > _MAX_PENDING:
            yield f"and {len(outcome.pending) - _MAX_PENDING} more calls"
        if not outcome.pending:
            yield "everything is decided: `resume` goes on with it"
    elif outcome.status != "failed" or outcome.error is None:
        yield outcome.status
    if outcome.error is not None:
        yield said_of(outcome.error)


def _waiting(call: PendingCall) -> str:
    arguments = to_json_text(call.arguments)
    if len(arguments) > _MAX_ARGUMENTS:
        arguments = f"{arguments[:_MAX_ARGUMENTS]}... ({len(arguments):,} characters)"
    return f"waiting {call.call_id}: {call.connector}.{call.method}({arguments}): {call.reason}"


def _beside(outcome: Outcome) -> Iterator[str]:
    """What else is to be known, the most useful first."""
    if outcome.truncated:
        yield "[cut: what is not shown of a value is in the artifact named `value`; bring back and print less]"
    if outcome.status == "completed" and outcome.holds_bytes:
        yield f"[bytes] the value is {outcome.value_type}: its bytes are shown as base64"
    for warning in outcome.warnings:
        yield f"[warning] {said_of(warning)}"
    for record in outcome.artifacts:
        yield f"[artifact] {record.name or ''} {record.mime} {record.bytes:,} bytes: {record.handle}"
    for line in outcome.logs:
        attributes = f" {to_json_text(line.attrs)}" if line.attrs else ""
        yield f"[{line.level}] {line.message}{attributes}"
