"""What the API takes and answers, as pydantic models: the OpenAPI description is made of them, and of nothing else.

An outcome is the `Outcome` of every other door.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from isolith.approvals.terms import GrantTerms
from isolith.budgets import Budgets
from isolith.journal.statuses import SnippetState
from isolith.outcome import Outcome, PendingCall, Status

Name = Annotated[str, Field(pattern=r"^[0-9A-Za-z_.-]{1,200}$")]
"""An id in a path."""
Text = Annotated[str, Field(max_length=2_000, pattern=r"^[^\x00]*$")]
Short = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{12,64}$")]
Wait = Annotated[float, Field(ge=0, le=600, allow_inf_nan=False)]


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)


class _Query(BaseModel):
    """Of text, as a query is."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class _Told(BaseModel):
    model_config = ConfigDict(
        extra="forbid", use_attribute_docstrings=True, json_schema_serialization_defaults_required=True
    )


# ---------------------------------------------------------------------------------------------- executions


class NewExecution(_Given):
    """A script that is to be run."""

    script: Annotated[str, Field(validation_alias=AliasChoices("script", "code"))]
    """Python 3.14 with top-level `await`; the value of its last expression is the result. `code`, as `execute` of MCP
    calls it, is taken as well."""
    input: Any = None
    """Any JSON: `input` in the script."""
    budgets: Budgets | None = None
    """What it may spend; lowered to what this host grants."""
    session: Short | None = None
    """What shares stateful servers."""
    wait_s: Wait = 30
    """How long to wait for its end. Whoever does not wait that long follows its events, or gets it later."""


class Waiting(_Given):
    """How long to wait for what follows."""

    wait_s: Wait = 30


class Undoing(_Given):
    """How to undo."""

    again: bool = False
    """Also the calls of which nobody knows whether they were undone."""


class Execution(_Told):
    """Where one execution stands."""

    execution_id: str
    status: Status
    principal: str | None
    session: str | None
    created_at: datetime
    updated_at: datetime
    ended_at: datetime | None
    pending: Annotated[int, Field(ge=0)]
    """Calls that wait for a person."""


class Executions(_Told):
    """A page of executions, newest first."""

    executions: list[Execution]
    next: str | None
    """The `cursor` of the next page; null behind the last one."""


class ExecutionsQuery(_Query):
    """Which executions."""

    status: Status | None = None
    principal: Short | None = None
    """Of others only where the token may see them."""
    session: Short | None = None
    parts: bool = False
    """Also those within another one, a snippet's, which is named in its calls. Those that wait are always listed."""
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    cursor: Annotated[str, Field(max_length=200)] | None = None


class EventsQuery(_Query):
    """Which events."""

    after: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    """Only those behind this sequence number. `Last-Event-ID` says the same."""
    follow: bool = True
    """Stay until the execution has ended; else only what has happened so far."""


class OneEvent(BaseModel):
    """One thing that happened; what else is there depends on `event`."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)

    event: str
    execution_id: str
    seq: Annotated[int, Field(ge=1)]
    at: datetime


# ---------------------------------------------------------------------------------------------- approvals


class PendingQuery(_Query):
    """Which pending calls."""

    execution_id: Name | None = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    cursor: Annotated[str, Field(max_length=200)] | None = None


class Pending(PendingCall):
    """One call that waits for a person, and for whom its run is."""

    execution_id: str
    number: int
    """Which of its execution: the last part of `call_id`. In the address of a decision stands either."""
    principal: str | None
    expires_at: datetime | None
    """When nobody's answer ends it."""


class PendingPage(_Told):
    """A page of what waits, oldest first."""

    pending: list[Pending]
    next: str | None


class NewGrant(_Given):
    """Further calls of the same method that are made unasked."""

    uses: Annotated[int, Field(ge=1, le=100_000)]
    lasts_s: Annotated[int, Field(ge=1, le=366 * 86_400)] = 3_600
    everywhere: bool = False
    """In any execution of the same principal, not in this one alone."""
    reason: Text | None = None

    def terms(self) -> GrantTerms:
        """As the host takes them."""
        return GrantTerms(self.uses, timedelta(seconds=self.lasts_s), everywhere=self.everywhere, reason=self.reason)


class Approval(_Given):
    """A yes, bound to what was looked at."""

    digest: Digest
    """Of the arguments that were shown, or its first 12 characters."""
    arguments: dict[str, Any] | None = None
    """To be sent in place of the script's."""
    answer: dict[str, Any] | None = None
    """What the call's server asks for, where it does."""
    grant: NewGrant | None = None
    wait_s: Wait = 30


class Rejection(_Given):
    """A no, bound to what was looked at."""

    digest: Digest
    reason: Text | None = None
    """What the script is told."""
    wait_s: Wait = 30


class NewLink(_Given):
    """A link that decides one call, for one person."""

    verdict: Literal["approve", "reject"]
    who: Short
    """In whose name it decides: give it to them alone."""
    lasts_s: Annotated[int, Field(ge=1, le=366 * 86_400)] = 86_400


class Link(_Told):
    """A link: whoever has it decides."""

    token: str
    path: str


class LinkAnswer(_Given):
    """What whoever uses a link says."""

    reason: Text | None = None
    wait_s: Wait = 30


class LinkShown(_Told):
    """What a link would decide."""

    verdict: Literal["approve", "reject"]
    who: str
    expires_at: datetime
    pending: PendingCall


class LinkUsed(_Told):
    """What became of the run."""

    status: Status


# ---------------------------------------------------------------------------------------------- snippets


class SnippetsQuery(_Query):
    """Which snippets."""

    name: Name | None = None
    state: SnippetState | None = None


class NewSnippet(_Given):
    """The script of an execution that completed, proposed for reuse."""

    execution_id: Name
    name: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,59}$")]
    description: Annotated[str, Field(min_length=1, max_length=4_000, pattern=r"^[^\x00]*$")]
    tool: bool = False
    """Once approved, MCP clients are given it as a tool of its own."""


class SnippetApproval(_Given):
    """A yes to a snippet, bound to the content that was read."""

    content_hash: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    reason: Text | None = None


class SnippetRefusal(_Given):
    """A no to a snippet, or a yes taken back."""

    reason: Text | None = None


class Snippet(_Told):
    """One version of a snippet."""

    name: str
    version: Annotated[int, Field(ge=1)]
    state: SnippetState
    description: str
    code: str
    content_hash: str
    input_schema: dict[str, Any]
    methods: list[str]
    """What it may call."""
    image: str
    """The major version of the guest that it was tested with."""
    tool: bool
    """Whether MCP clients are given it as a tool of its own, once approved."""
    execution_id: str | None
    proposed_by: str
    proposed_at: datetime
    reviewed_by: str | None
    reviewed_at: datetime | None
    reason: str | None


class Snippets(_Told):
    """All that fit, by name and version."""

    snippets: list[Snippet]


# ---------------------------------------------------------------------------------------------- what is there


class SearchQuery(_Query):
    """What to look for."""

    query: Annotated[str, Field(max_length=1_000)] = ""
    connector: Short | None = None
    kind: Literal["connector", "method", "snippet"] | None = None
    limit: Annotated[int, Field(ge=1, le=50)] = 10
    offset: Annotated[int, Field(ge=0, le=1_000_000)] = 0


class DescribeQuery(_Query):
    """What to describe."""

    target: Annotated[str, Field(max_length=1_000)] | None = None
    """A path such as `crm.list_contacts`; all, unless given."""
    detail: Literal["summary", "signature", "full"] = "signature"
    budget_tokens: Annotated[int, Field(ge=0, le=100_000)] | None = None


class CatalogQuery(_Query):
    """How much to tell."""

    budget_tokens: Annotated[int, Field(ge=0, le=100_000)] = 2_000


class Settings(_Told):
    """What counts at this host; another host of the journal may have others."""

    limits: dict[str, float]
    """Of each principal, and of all together."""
    ceilings: dict[str, object]
    """How far a caller may raise each budget."""
    policy: dict[str, object]
    """The preset and the rules, as they are written in a configuration."""


class Anything(BaseModel):
    """An object whose members the documentation of the command of the same name tells."""

    model_config = ConfigDict(extra="allow")


class NoQuery(_Query):
    """Nothing."""


class Nothing(_Given):
    """An empty object: a body that no page of another origin can send unasked."""


__all__ = [
    "Anything",
    "Approval",
    "CatalogQuery",
    "DescribeQuery",
    "EventsQuery",
    "Executions",
    "ExecutionsQuery",
    "Link",
    "LinkAnswer",
    "LinkShown",
    "LinkUsed",
    "NewExecution",
    "NewLink",
    "NewSnippet",
    "NoQuery",
    "Nothing",
    "OneEvent",
    "Outcome",
    "PendingPage",
    "PendingQuery",
    "Rejection",
    "SearchQuery",
    "Settings",
    "Snippet",
    "SnippetApproval",
    "SnippetRefusal",
    "Snippets",
    "SnippetsQuery",
    "Undoing",
    "Waiting",
]
