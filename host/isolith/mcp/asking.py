"""A run that waits is decided where the MCP client can ask a person: multi-round-trip requests of 2026-07-28.

Only where the host says that whoever answers at its clients may decide. What a client sends back is sealed by the SDK
and bound to the request that it came from; an answer is for a call and the digest of its arguments, once. What the
server of a call asks is passed on as it asks it, marked as its words; an answer to it is bound to the question as well.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import mcp_types as mcp
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from isolith.json_form import to_json_text
from isolith.visible import visible
from isolith_bindings.schema.quoting import quoted

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from isolith.journal.model import Verdict
    from isolith.outcome import Outcome, PendingCall, PendingQuestion

_SECONDS = 7 * 24 * 3600.0
"""How long an answer may take: as long as the question waits in the journal."""
_MAX_ASKED = 20
_MAX_ARGUMENTS = 2_000
_NO_FIELDS: dict[str, object] = {"type": "object", "properties": {}}
_SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"allow": {"type": "boolean", "title": "Allow this call", "default": False}},
    "required": ["allow"],
}


Mode = Literal["form", "url"]


@dataclass(frozen=True)
class AskedCall:
    """One call that was asked about: what its answer is bound to, and the names of its server's questions."""

    call_id: str
    digest: str
    names: tuple[str, ...] = ()
    """Empty where a policy asks whether the call may be made."""


@dataclass(frozen=True)
class Asked:
    """What was asked, as it was shown."""

    execution_id: str
    calls: tuple[AskedCall, ...]


@dataclass(frozen=True)
class Said:
    """What a person has decided of one call. `answer`: what its server asked for, by the names of the questions."""

    verdict: Verdict
    reason: str | None = None
    answer: dict[str, object] | None = None


def boundary(key: bytes | None) -> RequestStateBoundary:
    """Seals what clients send back: with a key that replicas share, or with one of this process."""
    security = RequestStateSecurity(keys=[key], ttl=_SECONDS) if key else RequestStateSecurity.ephemeral(ttl=_SECONDS)
    return RequestStateBoundary(security, default_audience="isolith")


def modes(context: ServerRequestContext) -> frozenset[Mode]:
    """How this client can ask a person within a request: with a form, by a page to visit, both, or not at all."""
    declared = context.session.client_capabilities
    elicitation = None if declared is None else declared.elicitation
    if elicitation is None or context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return frozenset()
    found = set[Mode]()
    if elicitation.form is not None or elicitation.url is None:
        found.add("form")
    if elicitation.url is not None:
        found.add("url")
    return frozenset(found)


def question(outcome: Outcome, can: frozenset[Mode]) -> mcp.InputRequiredResult:
    """Ask about everything that waits and that this client can ask."""
    asked = allowable(outcome, can)[:_MAX_ASKED]
    calls = [[call.call_id, call.digest, [each.name for each in call.questions]] for call in asked]
    requests: mcp.InputRequests = {key: request for call in asked for key, request in _requests(call).items()}
    state = json.dumps({"execution": outcome.execution_id, "calls": calls})
    return mcp.InputRequiredResult(input_requests=requests, request_state=state)


def allowable(outcome: Outcome, can: frozenset[Mode]) -> list[PendingCall]:
    """What can be answered at a client that asks in these ways. All else waits for somebody elsewhere."""
    return [call for call in outcome.pending if all(mode in can for mode in _needed(call))]


def asked_of(state: str) -> Asked:
    """What was asked, from a state whose seal was found whole. Raises MCPError for what is none of ours."""
    try:
        told = json.loads(state)
        calls = (AskedCall(str(call), str(digest), tuple(map(str, names))) for call, digest, names in told["calls"])
        return Asked(str(told["execution"]), tuple(calls))
    except (ValueError, TypeError, KeyError) as error:
        raise MCPError(mcp.INVALID_PARAMS, "Invalid or expired requestState") from error


def said(call: AskedCall, responses: mcp.InputResponses) -> Said | None:
    """What a person has said of a call; None where nobody has decided yet.

    A call that waits to be allowed goes on waiting where it is put aside. To a server's question, putting it aside is
    an answer as well: the call ends, and the script is told.
    """
    if not call.names:
        verdict = _verdict(responses.get(call.call_id))
        return None if verdict is None else Said(verdict)
    given = [responses.get(_key(call.call_id, number)) for number in range(len(call.names))]
    results = [each for each in given if isinstance(each, mcp.ElicitResult)]
    refused = next((each for each in results if each.action != "accept"), None)
    if refused is not None:
        how = "declined to answer" if refused.action == "decline" else "put aside"
        return Said("reject", f"{how} what its server asks")
    if len(results) < len(call.names):
        return None
    contents: list[dict[str, object]] = [dict(each.content or {}) for each in results]
    return Said("approve", None, contents[0] if len(contents) == 1 else dict(zip(call.names, contents, strict=True)))


def _verdict(response: object) -> Verdict | None:
    """Anything but a yes is a no."""
    if not isinstance(response, mcp.ElicitResult) or response.action == "cancel":
        return None
    return "approve" if response.action == "accept" and (response.content or {}).get("allow") is True else "reject"


def _needed(call: PendingCall) -> list[Mode]:
    return [_mode(each) for each in call.questions] if call.kind == "question" else ["form"]


def _mode(asked: PendingQuestion) -> Mode:
    return "form" if asked.url is None else "url"


def _key(call_id: str, number: int) -> str:
    """The name of one question of a server in a request: by its place, for names are the server's."""
    return f"{call_id}?{number}"


def _requests(call: PendingCall) -> dict[str, mcp.ElicitRequest]:
    if call.kind == "approval":
        asking = mcp.ElicitRequestFormParams(message=_message(call), requested_schema=_SCHEMA)
        return {call.call_id: mcp.ElicitRequest(params=asking)}
    return {
        _key(call.call_id, number): mcp.ElicitRequest(params=_passed_on(call, each))
        for number, each in enumerate(call.questions)
    }


def _passed_on(call: PendingCall, asked: PendingQuestion) -> mcp.ElicitRequestParams:
    words = "\n".join(quoted(asked.message, theirs=True))
    message = visible(f"A script called {_shown(call)}, and its server asks:\n{words}")
    if asked.url is not None:
        return mcp.ElicitRequestURLParams(message=message, url=asked.url)
    return mcp.ElicitRequestFormParams(message=message, requested_schema=asked.answer or _NO_FIELDS)


def _message(call: PendingCall) -> str:
    return visible(f"A script wants to call {_shown(call)}. {call.reason}")


def _shown(call: PendingCall) -> str:
    arguments = to_json_text(call.arguments)
    if len(arguments) > _MAX_ARGUMENTS:
        arguments = f"{arguments[:_MAX_ARGUMENTS]}... ({len(arguments):,} characters)"
    return f"{call.connector}.{call.method}({arguments})"
