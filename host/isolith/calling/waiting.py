"""A call that waits for a person: as it is shown, as the journal keeps it, and what an answer must be like.

It waits before it is made, because a policy asks; or it has been made, and its server asks a person, in words that are
the server's and untrusted. Then it is made again with the answer.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, cast

from isolith.errors import UsageError
from isolith.journal.errors import DigestMismatch
from isolith.outcome import PendingCall, PendingQuestion
from isolith.visible import mixed_words
from isolith_bindings.connector import Answer, Question, Resumed, Suspended
from isolith_bindings.schema.quoting import MARK, clean, one_line
from isolith_bindings.schema.validate import Validator
from isolith_runtime.guest import codec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isolith.calling.use import Use
    from isolith.journal.model import Call, Verdict

_SHORT = 12
"""Characters of a digest that are enough to tell it from others."""
_MAX_MESSAGE = 4_000
_MAX_REASON = 500
_INSET = "\n    | "


@dataclass(frozen=True)
class Given:
    """What a person gave with an answer: other arguments for a call, or the answer to a server's question."""

    arguments: dict[str, object] | None = None
    answer: dict[str, object] | None = None


# what is put down, and taken up again


def put_down(use: Use, suspended: Suspended) -> tuple[str, str]:
    """Why a person is asked, and all that is needed to make the call again, as the journal keeps them."""
    asked = {key: asdict(question) for key, question in suspended.questions.items()}
    kept = {"asked": asked, "state": suspended.state, "arguments": codec.dumps(use.arguments)}
    words = "; ".join(one_line(question.message, _MAX_REASON) for question in suspended.questions.values())
    return f"the server of {use.path} asks: {MARK}{words}", json.dumps(kept)


def take_up(use: Use, call: Call) -> None:
    """A call of the journal is about to be made, with what people said about it."""
    arguments = edited(call)
    use.arguments = use.arguments if arguments is None else arguments
    if call.question is not None:
        kept = _kept(call)
        said = {} if call.edited_arguments is None else cast("dict[str, Any]", codec.loads(call.edited_arguments))
        answers = {key: Answer("accept", said.get(key)) for key in kept["asked"]}
        use.resumed = Resumed(kept["state"], answers)


def edited(call: Call) -> dict[str, object] | None:
    """The arguments that are sent in place of the script's, where an approver may have written others."""
    text = call.edited_arguments if call.question is None else cast("str", _kept(call)["arguments"])
    return None if text is None else cast("dict[str, object]", codec.loads(text))


def sent(call: Call) -> dict[str, object]:
    """The arguments that are sent: the script's own, where nobody has written others."""
    found = edited(call)
    return cast("dict[str, object]", codec.loads(call.arguments)) if found is None else found


# as it is shown


def pending_call(call_id: str, arguments: dict[str, object], call: Call) -> PendingCall:
    """What waits, as an outcome shows it."""
    return PendingCall(
        call_id=call_id,
        connector=call.connector,
        method=call.method,
        arguments=arguments,
        digest=shown_digest(call),
        reason=_why(call),
        kind="approval" if call.question is None else "question",
        questions=tuple(
            PendingQuestion(name=key, message=clean(asked.message, _MAX_MESSAGE), answer=asked.schema, url=asked.url)
            for key, asked in _questions(call).items()
        ),
    )


def _why(call: Call) -> str:
    """Why a person is asked, what the call would do, and what a no comes to."""
    reason = call.reason or "it needs a person's answer"
    if call.on_rejection == "end":
        reason += "; a no ends the run"
    # Escapes of the arguments' JSON are of control characters only, so that each word is there as it is written.
    if mixed := mixed_words(call.edited_arguments or call.arguments):
        reason += f"; look twice: {', '.join(mixed)}"
    if call.effect:
        # Last, and inset: a script's arguments may be in it, and would pass for words of ours.
        reason += f"; it would: {_INSET.join(call.effect.splitlines())}"
    return reason


def shown_digest(call: Call) -> str:
    """What an answer is bound to: the arguments, what asks (a policy, or a server's question), and the round."""
    if call.policy is None and call.question is None and call.asked == 1 and call.edited_arguments is None:
        return call.digest  # there is nothing but the arguments
    asks = json.dumps([call.digest, call.edited_arguments, call.asked, call.policy, call.question])
    return hashlib.sha256(asks.encode("utf-8", "backslashreplace")).hexdigest()


# what an answer must be like


def seen_digest(call: Call, digest: str | None) -> str:
    """The digest of the arguments that an answer is about. Raises DigestMismatch where something else waits by now.

    Raises UsageError for one that is too short to tell what was looked at.
    """
    shown = shown_digest(call)
    if digest is not None and len(digest) < _SHORT:
        raise UsageError(f"`{digest}` is too short for a digest: give at least the first {_SHORT} characters of it")
    if digest is None or shown.startswith(digest) or call.status != "pending_approval":
        return call.digest  # whoever answers what waits no more is told what was decided
    what = "other arguments, or what another policy asked" if call.question is None else "another question"
    raise DigestMismatch(
        f"the answer to call {call.number} of {call.execution_id} is about {what}: look at what waits now"
    )


def encoded(call: Call, verdict: Verdict, given: Given) -> str | None:
    """What was given, as the journal keeps it. Raises UsageError for what the pending call cannot take."""
    if call.status != "pending_approval" or verdict == "reject":
        return None if given.arguments is None else codec.dumps(given.arguments)
    if call.question is None:
        if given.answer is not None:
            raise UsageError("no server asks: the call waits to be allowed; give other arguments with `--arguments`")
        return None if given.arguments is None else codec.dumps(given.arguments)
    if given.arguments is not None:
        raise UsageError("the call was made, and its server asks: give what it asks for with `--answer`")
    return codec.dumps(_answers(_questions(call), given.answer))


def _answers(questions: Mapping[str, Question], answer: dict[str, object] | None) -> dict[str, object]:
    """By question; the answer to a single one is its content as it stands."""
    forms = {key: question for key, question in questions.items() if question.url is None}
    if not forms:
        return {}
    if answer is None:
        wanted = ", ".join(json.dumps(question.schema or {}) for question in forms.values())
        raise UsageError(f"the server asks for data: give it with `--answer`, by the schema {wanted}")
    given = dict.fromkeys(forms, cast("object", answer)) if len(forms) == 1 else answer
    for key, question in forms.items():
        content = given.get(key)
        if not isinstance(content, dict):
            raise UsageError(f"the server asks {len(forms)} questions: answer with an object for each, by its name")
        problems = [] if question.schema is None else Validator(question.schema).problems(cast("object", content))
        if problems:
            raise UsageError(f"the answer does not fit what the server asks for: {'; '.join(map(str, problems[:3]))}")
    return {key: given[key] for key in forms}


def _questions(call: Call) -> dict[str, Question]:
    return {} if call.question is None else {key: Question(**asked) for key, asked in _kept(call)["asked"].items()}


def _kept(call: Call) -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(call.question or "{}"))
