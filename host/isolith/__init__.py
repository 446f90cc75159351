"""Isolith: scripts that a model wrote, each in a fresh WebAssembly isolate, with typed data as the answer."""

from typing import TYPE_CHECKING

from isolith.approvals.terms import GrantTerms
from isolith.budgets import UNLIMITED, Budgets, HostPolicy
from isolith.code_mode import CodeMode
from isolith.durable.reverts import Revert
from isolith.errors import BudgetError, ConnectError, IsolithError, UsageError
from isolith.outcome import Diagnostic, Outcome, Usage
from isolith.run.execution import Execution
from isolith_bindings.connector import CallContext
from isolith_bindings.errors import CallError
from isolith_bindings.functions import connector, method
from isolith_bindings.policy import Policy
from isolith_bindings.predicates import Condition
from isolith_bindings.rules import Rule
from isolith_bindings.secrets import Secret

if TYPE_CHECKING:
    from isolith_bindings.mcp.connector import McpServer
    from isolith_bindings.mcp.descriptions import HttpServer, SseServer, StdioServer
    from isolith_bindings.mcp.scopes import Sharing
    from isolith_bindings.openapi import ApiKey, Basic, ClientCertificate, OAuthClient, OpenApi

__all__ = [
    "UNLIMITED",
    "ApiKey",
    "Basic",
    "BudgetError",
    "Budgets",
    "CallContext",
    "CallError",
    "ClientCertificate",
    "CodeMode",
    "Condition",
    "ConnectError",
    "Diagnostic",
    "Execution",
    "GrantTerms",
    "HostPolicy",
    "HttpServer",
    "IsolithError",
    "McpServer",
    "OAuthClient",
    "OpenApi",
    "Outcome",
    "Policy",
    "Revert",
    "Rule",
    "Secret",
    "Sharing",
    "SseServer",
    "StdioServer",
    "Usage",
    "UsageError",
    "connector",
    "method",
]

_LATER = {
    "ApiKey": "isolith_bindings.openapi",
    "Basic": "isolith_bindings.openapi",
    "ClientCertificate": "isolith_bindings.openapi",
    "HttpServer": "isolith_bindings.mcp.descriptions",
    "McpServer": "isolith_bindings.mcp.connector",
    "OAuthClient": "isolith_bindings.openapi",
    "OpenApi": "isolith_bindings.openapi",
    "Sharing": "isolith_bindings.mcp.scopes",
    "SseServer": "isolith_bindings.mcp.descriptions",
    "StdioServer": "isolith_bindings.mcp.descriptions",
}
"""What is loaded when it is first named: the SDK behind it takes its time."""


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _LATER:
            raise AttributeError(f"module 'isolith' has no attribute {name!r}")
        from importlib import import_module  # noqa: PLC0415 - for these alone

        return getattr(import_module(_LATER[name]), name)
