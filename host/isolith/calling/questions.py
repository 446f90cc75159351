"""What the other side of a call asks a person while the call is under way, and who answers.

A host that has nobody to ask declines at once. The words of a question are those of a server, and untrusted.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from isolith_bindings.connector import Answer, Question

if TYPE_CHECKING:
    from isolith.calling.use import Identity, Use
    from isolith.events import EventLog
    from isolith_bindings.connector import Ask


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


Answers = Callable[[Asked], Awaitable[Answer]]
Questions = Answers | Literal["pause"]
"""Answers for a host: the call waits for it, within its own time; what it raises fails the call. `pause`: the run waits
for a person, as for an approval, where the server can be asked again (MCP since 2026-07-28); else it is declined.
"""

_NOBODY = "nobody is there to ask; with `--questions pause` the run waits for a person"
_CANNOT_WAIT = "its server asks in the middle of a call, as MCP did before 2026-07-28, and cannot wait for a person"
_ONE_OF_MANY = "a call of `.pages` cannot wait for a person: call the method itself"
_NOT_KEPT = "nothing here keeps a run that waits"


class Questioner:
    """Passes on what servers ask during the calls of one execution. `keeps`: whether a run that waits is kept."""

    def __init__(self, questions: Questions | None, identity: Identity, events: EventLog, *, keeps: bool) -> None:
        self._questions, self._identity, self._events, self._keeps = questions, identity, events, keeps

    def during(self, use: Use, arguments: Mapping[str, object]) -> tuple[Ask, bool]:
        """What a call is made with: who answers for it, and whether it may wait."""
        waits = self._questions == "pause" and self._keeps and use.variant != "pages"
        return functools.partial(self._ask, use, arguments), waits

    async def _ask(self, use: Use, arguments: Mapping[str, object], question: Question) -> Answer:
        connector, method = use.names
        event: dict[str, object] = {"call_id": use.call_id, "connector": connector, "method": method}
        event |= {"message": question.message, "url": question.url}
        answers = self._questions
        if answers is None or isinstance(answers, str):
            self._events.append("question", **event, declined=self._why_declined(use, question))
            return Answer("decline")
        self._events.append("question", **event, declined=None)
        who = self._identity
        asked = Asked(question, who.execution_id, use.call_id, connector, method, arguments, who.principal, who.session)
        return await answers(asked)

    def _why_declined(self, use: Use, question: Question) -> str:
        """Whoever is told so tries what is advised: nothing is, where it would not help."""
        if not question.may_wait:
            return _CANNOT_WAIT
        if use.variant == "pages":
            return _ONE_OF_MANY
        return _NOBODY if self._questions is None else _NOT_KEPT
