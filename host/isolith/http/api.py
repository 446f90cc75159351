"""All operations of `/v1`: what is routed, what is described, what is tested."""

from __future__ import annotations

from typing import Final

from isolith.http import approvals, discovery, events, executions, links, models, settings, snippets
from isolith.http.operations import Operation

_KEY: Final = {
    executions.KEY_HEADER: "The same key and body begin one execution, for 24 hours, whichever host is asked."
}
_LAST: Final = {"Last-Event-ID": "The number of the last event that was read: as `after`."}

EXECUTION: Final = "/v1/executions/{execution_id}"
PENDING: Final = "/v1/approvals/{execution_id}/{call}"
LINK: Final = "/v1/approval-links/{token}"
SNIPPET: Final = "/v1/snippets/{name}/{version}"

_EXECUTIONS: Final = (
    Operation(
        "POST", "/v1/executions", "create", "execute", "Run a script.", executions.create,
        {201: models.Outcome, 202: models.Outcome}, models.NewExecution, headers=_KEY, problems=(409, 503),
    ),
    Operation(
        "GET", "/v1/executions", "list", "execute", "List executions, newest first.", executions.list_,
        {200: models.Executions}, query=models.ExecutionsQuery, decides=True,
    ),
    Operation(
        "GET", EXECUTION, "get", "execute", "How an execution ended, or where it stands.", executions.get,
        {200: models.Outcome, 202: models.Outcome}, problems=(404,), decides=True,
    ),
    Operation(
        "GET", f"{EXECUTION}/events", "events", "execute", "Follow an execution, from any event on.", events.events,
        {200: (events.SSE, events.NDJSON)}, query=models.EventsQuery, headers=_LAST, problems=(404, 406), decides=True,
        streams=True,
    ),
    Operation(
        "POST", f"{EXECUTION}/cancel", "cancel", "execute", "End a run.", executions.cancel,
        {200: models.Outcome, 202: models.Outcome}, models.Waiting, problems=(404, 409, 503),
    ),
    Operation(
        "POST", f"{EXECUTION}/retry", "retry", "execute", "Run one that failed again, without what succeeded.",
        executions.retry, {200: models.Outcome, 202: models.Outcome}, models.Waiting, problems=(404, 409, 503),
    ),
    Operation(
        "POST", f"{EXECUTION}/rollback", "rollback", "approve", "Undo what an ended run did.", executions.rollback,
        {200: models.Outcome, 202: models.Outcome}, models.Undoing, problems=(404, 409, 503),
    ),
)  # fmt: skip

_APPROVALS: Final = (
    Operation(
        "GET", "/v1/approvals", "pending", "execute", "What waits for people, oldest first.", approvals.list_,
        {200: models.PendingPage}, query=models.PendingQuery, problems=(404,), decides=True,
    ),
    Operation(
        "POST", f"{PENDING}/approve", "approve", "approve", "Let a pending call be made, edited where you like.",
        approvals.approve, {200: models.Outcome, 202: models.Outcome}, models.Approval, problems=(404, 409, 503),
    ),
    Operation(
        "POST", f"{PENDING}/reject", "reject", "approve", "Refuse a pending call.", approvals.reject,
        {200: models.Outcome, 202: models.Outcome}, models.Rejection, problems=(404, 409, 503),
    ),
    Operation(
        "POST", f"{PENDING}/links", "link", "approve", "Make a link by which one person decides.", links.make,
        {201: models.Link}, models.NewLink, problems=(404, 409),
    ),
    Operation(
        "GET", LINK, "look", None, "What a link would decide.", links.look, {200: models.LinkShown},
        problems=(404, 409, 410), public=True,
    ),
    Operation(
        "POST", LINK, "redeem", None, "Decide as a link says, once.", links.redeem,
        {200: models.LinkUsed, 202: models.LinkUsed}, models.LinkAnswer, problems=(404, 409, 410), public=True,
    ),
)  # fmt: skip

_SNIPPETS: Final = (
    Operation(
        "GET", "/v1/snippets", "snippets", "execute", "List snippets, all versions.", snippets.list_,
        {200: models.Snippets}, query=models.SnippetsQuery, decides=True,
    ),
    Operation(
        "POST", "/v1/snippets", "propose", "execute", "Propose the script of an execution.", snippets.propose,
        {201: models.Snippet}, models.NewSnippet, problems=(404, 409),
    ),
    Operation(
        "GET", SNIPPET, "snippet", "execute", "One version of a snippet.", snippets.get, {200: models.Snippet},
        problems=(404,), decides=True,
    ),
    Operation(
        "POST", f"{SNIPPET}/approve", "approve_snippet", "approve", "Let scripts call it.", snippets.approve,
        {200: models.Snippet}, models.SnippetApproval, problems=(404, 409),
    ),
    Operation(
        "POST", f"{SNIPPET}/refuse", "refuse_snippet", "approve", "Say no to a proposal.", snippets.refuse,
        {200: models.Snippet}, models.SnippetRefusal, problems=(404, 409),
    ),
    Operation(
        "POST", f"{SNIPPET}/revoke", "revoke_snippet", "approve", "Take an approval back.", snippets.revoke,
        {200: models.Snippet}, models.SnippetRefusal, problems=(404, 409),
    ),
)  # fmt: skip

_THERE: Final = (
    Operation(
        "GET", "/v1/search", "search", "execute", "Find methods by words.", discovery.search, {200: models.Anything},
        query=models.SearchQuery, problems=(404,),
    ),
    Operation(
        "GET", "/v1/describe", "describe", "execute", "Describe what a path names.", discovery.describe,
        {200: models.Anything}, query=models.DescribeQuery, problems=(404,),
    ),
    Operation(
        "GET", "/v1/catalog", "catalog", "execute", "What a model is told before it asks.", discovery.catalog,
        {200: models.Anything}, query=models.CatalogQuery,
    ),
    Operation(
        "GET", "/v1/connectors", "connectors", "execute", "What is connected, and how it is.", discovery.connectors,
        {200: models.Anything},
    ),
    Operation(
        "POST", "/v1/connectors/{name}/reconnect", "reconnect", "admin", "Connect a server anew.",
        discovery.reconnect, {200: models.Anything}, models.Nothing, problems=(404, 409),
    ),
    Operation(
        "GET", "/v1/artifacts/{execution_id}/{handle}", "artifact", "execute", "The bytes of an artifact.",
        discovery.artifact, {200: ("*/*",)}, problems=(404,), decides=True,
    ),
    Operation(
        "GET", "/v1/settings", "settings", "admin", "What counts at this host.", settings.settings,
        {200: models.Settings},
    ),
)  # fmt: skip

OPERATIONS: Final = (*_EXECUTIONS, *_APPROVALS, *_SNIPPETS, *_THERE)
