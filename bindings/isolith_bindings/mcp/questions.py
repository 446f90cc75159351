"""What a server asks in return: a person's answer, a model's, or which folders it may look at.

In 2026-07-28 a question comes as the result of the very call that it belongs to. Before, it comes by itself: then it
is asked on behalf of the calls that are under way, if they all belong to one execution, and declined if they do not.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

import mcp_types as types
from pydantic import ValidationError

from isolith_bindings.connector import Question
from isolith_bindings.errors import CallError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Mapping

    from mcp.client.session import ClientRequestContext, ListRootsFnT, SamplingFnT

    from isolith_bindings.connector import Answer, CallContext, JsonSchema

ELICITATION = "elicitation/create"
_LONGEST_MESSAGE = 4_000


@dataclass
class Questions:
    """Answers one server. `sampling` gives a model's answer in the protocol's JSON form; `roots` are file URIs."""

    sampling: Callable[[dict[str, object]], Awaitable[Mapping[str, object]]] | None = None
    roots: tuple[str, ...] = ()
    _calls: list[CallContext] = field(default_factory=list["CallContext"])

    @contextlib.contextmanager
    def during(self, context: CallContext) -> Generator[None]:
        """A call is under way."""
        self._calls.append(context)
        try:
            yield
        finally:
            self._calls.remove(context)

    # before 2026-07-28

    async def elicit(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        """Ask on behalf of the calls under way; decline where that is nobody, or more than one execution."""
        del context
        if len({call.execution_id for call in self._calls}) != 1:
            return types.ElicitResult(action="decline")
        asked = params.model_dump(by_alias=True, mode="json", exclude_none=True)
        try:
            return await asked_person(question_of(asked), self._calls[-1])
        except CallError as error:
            return types.ErrorData(code=types.INVALID_REQUEST, message=error.message)

    @property
    def sample(self) -> SamplingFnT | None:
        """What the SDK calls; None where no model is offered, which is then said to the server."""
        sampling = self.sampling
        if sampling is None:
            return None

        async def sample(
            context: ClientRequestContext, params: types.CreateMessageRequestParams
        ) -> types.CreateMessageResult | types.ErrorData:
            del context
            return await _sampled(sampling, params.model_dump(by_alias=True, mode="json", exclude_none=True))

        return sample

    @property
    def list_roots(self) -> ListRootsFnT | None:
        """What the SDK calls; None where there are no roots, which is then said to the server."""
        if not self.roots:
            return None

        async def list_roots(context: ClientRequestContext) -> types.ListRootsResult:
            del context
            return self._roots()

        return list_roots

    def _roots(self) -> types.ListRootsResult:
        return types.ListRootsResult.model_validate({"roots": [{"uri": uri} for uri in self.roots]})

    # since 2026-07-28

    async def answer(self, method: object, params: dict[str, object], context: CallContext) -> types.InputResponse:
        """Answer one question inside a result. Raises CallError for one that was not offered."""
        if method == ELICITATION:
            return await asked_person(replace(question_of(params), may_wait=True), context)
        if method == "roots/list" and self.roots:
            return self._roots()
        if method == "sampling/createMessage" and self.sampling is not None:
            sampled = await _sampled(self.sampling, params)
            if not isinstance(sampled, types.ErrorData):
                return sampled
            raise CallError("tool_error", f"the model that the server asked for failed: {sampled.message}")
        raise CallError("tool_error", f"the server asks for `{method}`, which it was not offered")


def question_of(params: Mapping[str, object]) -> Question:
    """What a server asks a person, as far as it has the form of that."""
    schema, url, message = params.get("requestedSchema"), params.get("url"), params.get("message")
    return Question(
        message=message[:_LONGEST_MESSAGE] if isinstance(message, str) else "",
        schema=cast("JsonSchema", schema) if isinstance(schema, dict) else None,
        url=url if isinstance(url, str) else None,
    )


async def asked_person(question: Question, context: CallContext) -> types.ElicitResult:
    """Put a server's question to whoever answers for this call. Raises CallError for an answer that is none."""
    return elicit_result(question, await context.ask(question))


def elicit_result(question: Question, answer: Answer) -> types.ElicitResult:
    """An answer in the form of the protocol. Raises CallError for one that has none."""
    content = dict(answer.content or {}) if answer.action == "accept" and question.url is None else None
    try:
        return types.ElicitResult.model_validate({"action": answer.action, "content": content})
    except ValidationError:
        raise CallError(
            "tool_error", "the answer to the server's question is not text, numbers and yes or no"
        ) from None


async def _sampled(
    sampling: Callable[[dict[str, object]], Awaitable[Mapping[str, object]]], params: dict[str, object]
) -> types.CreateMessageResult | types.ErrorData:
    try:
        return types.CreateMessageResult.model_validate(dict(await sampling(params)))
    except CallError as error:
        return types.ErrorData(code=types.INTERNAL_ERROR, message=error.message)
    except ValidationError:
        return types.ErrorData(code=types.INTERNAL_ERROR, message="the answer of the model has another form")
