"""A run that waits is decided where the MCP client can ask a person: multi-round-trip requests of 2026-07-28.

Only where the host says that whoever answers at its clients may decide. What a client sends back is sealed by the SDK
and bound to the request that it came from; an answer is for a call and the digest of its arguments, once.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import mcp_types as mcp
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from isolith.command_line.terminal import visible
from isolith.json_form import to_json_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server.context import ServerRequestContext

    from isolith.journal.model import Verdict
    from isolith.outcome import Outcome, PendingCall

_SECONDS = 7 * 24 * 3600.0
"""How long an answer may take: as long as the question waits in the journal."""
_MAX_ASKED = 20
_MAX_ARGUMENTS = 2_000
_SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"allow": {"type": "boolean", "title": "Allow this call", "default": False}},
    "required": ["allow"],
}


@dataclass(frozen=True)
class Asked:
    """What was asked: the digest of each call's arguments, as they were shown."""

    execution_id: str
    digests: Mapping[str, str]


def boundary(key: bytes | None) -> RequestStateBoundary:
    """Seals what clients send back: with a key that replicas share, or with one of this process."""
    security = RequestStateSecurity(keys=[key], ttl=_SECONDS) if key else RequestStateSecurity.ephemeral(ttl=_SECONDS)
    return RequestStateBoundary(security, default_audience="isolith")


def can_ask(context: ServerRequestContext) -> bool:
    """Whether this client can put a form to a person within a request."""
    declared = context.session.client_capabilities
    elicitation = None if declared is None else declared.elicitation
    if elicitation is None or context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return False
    return elicitation.form is not None or elicitation.url is None


def question(outcome: Outcome) -> mcp.InputRequiredResult:
    """Ask about everything that waits."""
    asked = allowable(outcome)[:_MAX_ASKED]
    state = {"execution": outcome.execution_id, "digests": {call.call_id: call.digest for call in asked}}
    requests: mcp.InputRequests = {
        call.call_id: mcp.ElicitRequest(
            params=mcp.ElicitRequestFormParams(message=_message(call), requested_schema=_SCHEMA)
        )
        for call in asked
    }
    return mcp.InputRequiredResult(input_requests=requests, request_state=json.dumps(state))


def allowable(outcome: Outcome) -> list[PendingCall]:
    """What can be allowed by a yes. What a server asks needs more than that, and waits for somebody else."""
    return [call for call in outcome.pending if call.kind == "approval"]


def asked_of(state: str) -> Asked:
    """What was asked, from a state whose seal was found whole. Raises MCPError for what is none of ours."""
    try:
        told = json.loads(state)
        return Asked(str(told["execution"]), cast("dict[str, str]", dict(told["digests"])))
    except (ValueError, TypeError, KeyError) as error:
        raise MCPError(mcp.INVALID_PARAMS, "Invalid or expired requestState") from error


def verdict(response: object) -> Verdict | None:
    """What a person has decided; None where nobody has."""
    if not isinstance(response, mcp.ElicitResult) or response.action == "cancel":
        return None
    return "approve" if response.action == "accept" and (response.content or {}).get("allow") is True else "reject"


def _message(call: PendingCall) -> str:
    arguments = to_json_text(call.arguments)
    if len(arguments) > _MAX_ARGUMENTS:
        arguments = f"{arguments[:_MAX_ARGUMENTS]}... ({len(arguments):,} characters)"
    return visible(f"A script wants to call {call.connector}.{call.method}({arguments}). {call.reason}")
