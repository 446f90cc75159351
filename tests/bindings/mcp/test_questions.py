"""What a server asks in return: who is asked, what goes back, and when it ends."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import mcp_types as types
import pytest

from isolith_bindings.connector import Answer, CallContext, Question, Resumed, Suspended, Variant
from isolith_bindings.errors import CallError
from isolith_bindings.mcp import calls, rounds
from isolith_bindings.mcp.catalogue import read_catalogue
from isolith_bindings.mcp.failures import BadAnswer, ProtocolError
from isolith_bindings.mcp.listing import Listing
from isolith_bindings.mcp.questions import Questions
from isolith_bindings.testing import a_context

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.client.session import ClientRequestContext

    from isolith_bindings.mcp.connection import Connection

pytestmark = pytest.mark.anyio
DONE: dict[str, object] = {"resultType": "complete", "content": [{"type": "text", "text": "done"}]}
ROOTS = {"method": "roots/list"}
ELICIT = {"method": "elicitation/create", "params": {"message": "Sure?", "requestedSchema": {"type": "object"}}}


class Scripted:
    """A connection that answers one request after another, with a result or an error."""

    def __init__(self, *answers: dict[str, object] | ProtocolError) -> None:
        self.answers = list(answers)
        self.sent: list[dict[str, object]] = []

    async def request(
        self, request: types.Request[Any, Any], *, told: Callable[..., None] | None = None
    ) -> dict[str, object]:
        self.sent.append(request.model_dump(by_alias=True, mode="json", exclude_none=True)["params"])
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, ProtocolError):
            raise answer
        return answer


class Person:
    """Says the same to everything."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.asked: list[Question] = []

    async def __call__(self, question: Question) -> Answer:
        self.asked.append(question)
        return self.answer


async def call(
    scripted: Scripted, person: Person | None = None, questions: Questions | None = None, variant: Variant = ""
) -> object:
    bound = read_catalogue(Listing(({"name": "tool"},)), (), modern=True).bound["tool"]
    context = replace(a_context(), ask=person or Person(Answer("decline")), variant=variant)
    order = calls.Order("box.tool", bound, {"a": 1})
    return await calls.make(cast("Connection", scripted), order, context, questions or Questions())


def asks(state: object = "opaque", **requests: object) -> dict[str, object]:
    return {"resultType": "input_required", "inputRequests": requests, "requestState": state}


async def test_what_is_asked_is_answered_and_the_state_goes_back_as_it_came() -> None:
    person = Person(Answer("accept", {"sure": True}))
    scripted = Scripted(asks("\u00e9 {odd}\n", one=ELICIT, two=ELICIT), asks(None, three=ELICIT), DONE)
    assert await call(scripted, person) == "done"
    assert len(person.asked) == 3
    first, second, third = scripted.sent
    assert "requestState" not in first
    assert second["requestState"] == "\u00e9 {odd}\n"
    assert set(cast("dict[str, object]", second["inputResponses"])) == {"one", "two"}
    assert "requestState" not in third
    assert [sent["arguments"] for sent in scripted.sent] == [{"a": 1}] * 3


async def test_a_server_that_only_wants_to_be_asked_again() -> None:
    scripted = Scripted({"resultType": "input_required", "requestState": "later"}, DONE)
    assert await call(scripted) == "done"
    assert scripted.sent[1]["requestState"] == "later"
    assert "inputResponses" not in scripted.sent[1]


async def test_rounds_without_end_end() -> None:
    scripted = Scripted(asks(one=ELICIT))
    with pytest.raises(CallError, match=f"asked {rounds.MAX_ROUNDS} times in a row"):
        await call(scripted)
    assert len(scripted.sent) == rounds.MAX_ROUNDS + 1


@pytest.mark.parametrize("kind", ["task", "odd", 3, None])
async def test_a_kind_of_result_that_was_not_offered(kind: object) -> None:
    with pytest.raises(BadAnswer, match="a kind that was not offered"):
        await call(Scripted({"resultType": kind}))


@pytest.mark.parametrize("method", ["sampling/createMessage", "roots/list", "files/delete", None])
async def test_what_was_not_offered_is_not_answered(method: object) -> None:
    with pytest.raises(CallError, match="which it was not offered"):
        await call(Scripted(asks(one={"method": method, "params": {}}), DONE))


async def test_an_answer_that_a_form_cannot_hold() -> None:
    with pytest.raises(CallError, match="not text, numbers and yes or no"):
        await call(Scripted(asks(one=ELICIT), DONE), Person(Answer("accept", {"a": {"b": object()}})))


async def test_a_question_that_is_none_is_still_asked_as_text() -> None:
    person = Person(Answer("decline"))
    odd = {"method": "elicitation/create", "params": {"message": 3, "requestedSchema": "x", "url": []}}
    assert await call(Scripted(asks(one=odd), DONE), person) == "done"
    assert person.asked == [Question("", may_wait=True)]


async def test_a_page_that_has_to_be_visited_first() -> None:
    data = {"elicitations": [{"mode": "url", "message": "Go", "url": "https://example.com", "elicitationId": "1"}]}
    required = ProtocolError(types.URL_ELICITATION_REQUIRED, "visit first", data)
    person = Person(Answer("accept"))
    assert await call(Scripted(required, DONE), person) == "done"
    assert person.asked == [Question("Go", url="https://example.com", may_wait=True)]
    with pytest.raises(ProtocolError, match="visit first"):
        await call(Scripted(required, DONE), Person(Answer("decline")))


async def test_the_raw_result_is_the_last_one() -> None:
    assert await call(Scripted(asks(one=ELICIT), DONE), variant="raw") == DONE


# a call that waits for a person


async def put_off(scripted: Scripted, resumed: Resumed | None = None) -> Suspended:
    """What a call is put off with, and that it is."""
    with pytest.raises(Suspended) as caught:
        await again(scripted, resumed)
    # It may be kept anywhere, as JSON.
    caught.value.state = json.loads(json.dumps(caught.value.state))
    return caught.value


async def again(scripted: Scripted, resumed: Resumed | None = None) -> object:
    bound = read_catalogue(Listing(({"name": "tool"},)), (), modern=True).bound["tool"]
    context = replace(a_context(), waits=True, resumed=resumed)
    order = calls.Order("box.tool", bound, {"a": 1})
    return await calls.make(cast("Connection", scripted), order, context, Questions(roots=("file:///a",)))


def accepted(suspended: Suspended, **content: object) -> Resumed:
    return Resumed(suspended.state, dict.fromkeys(suspended.questions, Answer("accept", content)))


async def test_it_is_sent_again_with_the_answer_and_the_state_as_it_came() -> None:
    first, second = Scripted(asks("\u00e9", one=ELICIT, two=ROOTS)), Scripted(DONE)
    suspended = await put_off(first)
    # Only what people have to answer is asked of people.
    assert suspended.questions == {"one": Question("Sure?", {"type": "object"})}
    assert await again(second, accepted(suspended, sure=True)) == "done"
    [sent] = second.sent
    assert sent["requestState"] == "\u00e9"
    assert sent["inputResponses"] == {
        "one": {"action": "accept", "content": {"sure": True}},
        "two": {"roots": [{"uri": "file:///a"}]},
    }


async def test_a_server_that_has_forgotten_is_asked_anew_and_what_was_answered_is_answered_the_same() -> None:
    forgot = ProtocolError(types.INVALID_PARAMS, "Invalid or expired requestState")
    one = await put_off(Scripted(asks("s1", one=ELICIT)))
    other = {**ELICIT, "params": {"message": "Really?"}}
    two = await put_off(Scripted(asks("s2", two=other)), accepted(one, sure=True))
    assert set(two.questions) == {"two"}
    scripted = Scripted(forgot, asks("t1", one=ELICIT), asks("t2", two=other), DONE)
    assert await again(scripted, accepted(two)) == "done"
    assert [sent.get("requestState") for sent in scripted.sent] == ["s2", None, "t1", "t2"]
    answers = [cast("dict[str, dict[str, object]]", sent.get("inputResponses") or {}) for sent in scripted.sent]
    assert [{key: answer["content"] for key, answer in each.items()} for each in answers] == [
        {"two": {}},
        {},
        {"one": {"sure": True}},
        {"two": {}},
    ]
    # Another question under the same name is another question.
    changed = {**ELICIT, "params": {"message": "Sure, and everything else as well?", "requestedSchema": {}}}
    anew = await put_off(Scripted(forgot, asks("t1", one=changed)), accepted(one, sure=True))
    assert anew.questions["one"].message == "Sure, and everything else as well?"


async def test_an_error_that_is_about_something_else_is_one() -> None:
    one = await put_off(Scripted(asks("s", one=ELICIT)))
    with pytest.raises(ProtocolError, match="no"):
        await again(Scripted(ProtocolError(-32000, "no")), accepted(one))
    stateless = await put_off(Scripted(asks(None, one=ELICIT)))
    with pytest.raises(ProtocolError, match="no"):
        await again(Scripted(ProtocolError(types.INVALID_PARAMS, "no")), accepted(stateless))


async def test_pages_to_visit_are_waited_for_as_well() -> None:
    data = {"elicitations": [{"mode": "url", "message": "Go", "url": "https://example.com", "elicitationId": "1"}]}
    required = ProtocolError(types.URL_ELICITATION_REQUIRED, "visit first", data)
    suspended = await put_off(Scripted(required))
    assert suspended.questions == {"0": Question("Go", url="https://example.com")}
    assert await again(Scripted(DONE), accepted(suspended)) == "done"


async def test_a_state_that_is_too_large_to_keep() -> None:
    with pytest.raises(CallError, match="a state of more than"):
        await again(Scripted(asks("x" * rounds.MAX_STATE, one=ELICIT)))


# before 2026-07-28


async def elicited(questions: Questions) -> str:
    params = types.ElicitRequestFormParams(message="Sure?", requested_schema={"type": "object", "properties": {}})
    result = await questions.elicit(cast("ClientRequestContext", None), params)
    return result.action if isinstance(result, types.ElicitResult) else result.message


def of(execution: str, person: Person) -> CallContext:
    return replace(a_context(), execution_id=execution, ask=person)


async def test_a_question_that_belongs_to_no_one_is_declined() -> None:
    questions, one, two = Questions(), Person(Answer("accept", {})), Person(Answer("accept", {}))
    assert await elicited(questions) == "decline"
    with questions.during(of("e", one)):
        assert await elicited(questions) == "accept"
        with questions.during(of("e", one)):
            assert await elicited(questions) == "accept"
        with questions.during(of("f", two)):
            # It does not say which of the two it is about.
            assert await elicited(questions) == "decline"
    assert (len(one.asked), len(two.asked)) == (2, 0)
