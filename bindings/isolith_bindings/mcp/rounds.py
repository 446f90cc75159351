"""A call that its server answers with questions (2026-07-28): asked and sent again, until there is a result.

Nothing of it is open between two rounds, so a call whose host lets it wait is put off until a person has answered,
perhaps by another process. What the server gave as `requestState` goes back as it came; a server that no longer takes
it, because it has been started anew since, is asked from the beginning, and a question that was answered already is
answered the same way if it is the same to the letter.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import mcp_types as types

from isolith_bindings.connector import Answer, Suspended
from isolith_bindings.errors import CallError
from isolith_bindings.mcp.failures import BadAnswer, ProtocolError
from isolith_bindings.mcp.questions import ELICITATION, elicit_result, question_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from isolith_bindings.connector import Action, CallContext, Resumed
    from isolith_bindings.mcp.questions import Questions

    Send = Callable[[types.InputResponses | None, str | None], Awaitable[dict[str, object]]]

MAX_ROUNDS = 10
"""How often a server may answer a call with questions."""

MAX_STATE = 256 << 10
"""Characters of all that has to be kept of a call that waits."""

_PAUSE_S = (0.05, 0.1, 0.25)


@dataclass
class Rounds:
    """One call. `said`: the answers of people so far, by the question to the letter."""

    send: Send
    context: CallContext
    questions: Questions
    said: dict[str, Answer] = field(default_factory=dict[str, Answer])

    async def result(self) -> dict[str, object]:
        """Send, and answer what is asked, until there is a result. Raises Suspended where a person is waited for."""
        resumed = self.context.resumed
        result = await (self.send(None, None) if resumed is None else self._taken_up(resumed))
        for number in range(MAX_ROUNDS):
            kind = result.get("resultType", "complete")
            if kind == "complete":
                return result
            if kind != "input_required":
                raise BadAnswer(f"the result is of a kind that was not offered: {kind!r}")
            result = await self._answered(result, number)
        raise CallError("tool_error", f"the server asked {MAX_ROUNDS} times in a row and did not come to an end")

    async def _answered(self, result: Mapping[str, object], number: int) -> dict[str, object]:
        asked, given = result.get("inputRequests"), result.get("requestState")
        state = given if isinstance(given, str) else None
        if not isinstance(asked, dict) or not asked:
            await asyncio.sleep(_PAUSE_S[min(number, len(_PAUSE_S) - 1)])
            return await self.send(None, state)
        requests = cast("dict[str, object]", asked)
        if self.context.waits:
            self._put_off(requests, state)
        return await self.send(await self._answers(requests), state)

    def _put_off(self, requests: Mapping[str, object], state: str | None) -> None:
        """Raises Suspended where a person has something to answer that was not answered yet."""
        people = {
            key: question_of(_params(request))
            for key, request in requests.items()
            if _method(request) == ELICITATION and _letter(key, request) not in self.said
        }
        if not people:
            return
        said = {letter: [answer.action, answer.content] for letter, answer in self.said.items()}
        kept = {"requests": requests, "state": state, "said": said}
        if len(json.dumps(kept)) > MAX_STATE:
            message = f"the server asks a person, with a state of more than {MAX_STATE:,} characters, which is not kept"
            raise CallError("tool_error", message)
        raise Suspended(people, kept)

    async def _taken_up(self, resumed: Resumed) -> dict[str, object]:
        """A call that was put off, sent with the answers; from the beginning where its server has forgotten it."""
        kept = cast("Mapping[str, object]", resumed.state)
        said = cast("dict[str, tuple[Action, dict[str, object] | None]]", kept.get("said") or {})
        self.said |= {letter: Answer(action, content) for letter, (action, content) in said.items()}
        requests = cast("dict[str, object]", kept.get("requests") or {})
        for key, answer in resumed.answers.items():
            self.said[_letter(key, requests.get(key))] = answer
        if not requests:
            return await self.send(None, None)
        state = cast("str | None", kept.get("state"))
        try:
            return await self.send(await self._answers(requests), state)
        except ProtocolError as error:
            # It was not even begun: the state was sealed by a process of the server that is no more.
            if error.code != types.INVALID_PARAMS or state is None:
                raise
            return await self.send(None, None)

    async def _answers(self, requests: Mapping[str, object]) -> dict[str, types.InputResponse]:
        """All at once, so that a person sees all questions. The first that fails ends the others."""
        try:
            async with asyncio.TaskGroup() as group:
                tasks = {key: group.create_task(self._one(key, request)) for key, request in requests.items()}
        except* CallError as errors:
            raise _first(errors) from None
        return {key: task.result() for key, task in tasks.items()}

    async def _one(self, key: str, request: object) -> types.InputResponse:
        said = self.said.get(_letter(key, request))
        if said is not None:
            return elicit_result(question_of(_params(request)), said)
        return await self.questions.answer(_method(request), _params(request), self.context)


def _method(request: object) -> object:
    return cast("dict[str, object]", request).get("method") if isinstance(request, dict) else None


def _params(request: object) -> dict[str, object]:
    params = cast("dict[str, object]", request).get("params") if isinstance(request, dict) else None
    return cast("dict[str, object]", params) if isinstance(params, dict) else {}


def _letter(key: str, request: object) -> str:
    return json.dumps([key, request], sort_keys=True)


def _first(errors: BaseExceptionGroup[CallError]) -> CallError:
    found: BaseException = errors
    while isinstance(found, BaseExceptionGroup):
        found = cast("BaseExceptionGroup[BaseException]", found).exceptions[0]
    return cast("CallError", found)
