"""What the other side of a call asks a person while the call is under way, and who answers.

A host that has nobody to ask declines at once. The words of a question are those of a server, and untrusted.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from isolith_bindings.connector import Answer, Question


@dataclass(frozen=True)
class Asked:
    """A question with the call that it belongs to."""

    question: Question
    execution_id: str
    call_id: str
    connector: str
    method: str
    arguments: Mapping[str, object]
    principal: str | None
    session: str | None


Questions = Callable[[Asked], Awaitable[Answer]]
"""Answers for a host. The call waits for it, within its own time; what it raises fails the call."""
