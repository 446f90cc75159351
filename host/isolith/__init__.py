"""Isolith: scripts that a model wrote, each in a fresh WebAssembly isolate, with typed data as the answer.

Each name is loaded when it is first used: what starts pays for what it uses, and for no SDK that only others need.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isolith.approvals.terms import GrantTerms
    from isolith.budgets import UNLIMITED, Budgets, HostPolicy
    from isolith.code_mode import CodeMode
    from isolith.durable.reverts import Revert
    from isolith.errors import BudgetError, ConnectError, IsolithError, UsageError
    from isolith.outcome import Diagnostic, Outcome, Usage
    from isolith.run.execution import Execution
    from isolith_bindings.connector import CallContext
    from isolith_bindings.errors import CallError
    from isolith_bindings.functions import as_connector, connector, method
    from isolith_bindings.mcp.connector import McpServer
    from isolith_bindings.mcp.descriptions import HttpServer, SseServer, StdioServer
    from isolith_bindings.mcp.scopes import Sharing
    from isolith_bindings.openapi import ApiKey, Basic, ClientCertificate, OAuthClient, OpenApi
    from isolith_bindings.policy import Policy
    from isolith_bindings.predicates import Condition
    from isolith_bindings.rules import Rule
    from isolith_bindings.secrets import Secret

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
    "as_connector",
    "connector",
    "method",
]

_HOME = {
    "UNLIMITED": "isolith.budgets",
    "ApiKey": "isolith_bindings.openapi",
    "Basic": "isolith_bindings.openapi",
    "BudgetError": "isolith.errors",
    "Budgets": "isolith.budgets",
    "CallContext": "isolith_bindings.connector",
    "CallError": "isolith_bindings.errors",
    "ClientCertificate": "isolith_bindings.openapi",
    "CodeMode": "isolith.code_mode",
    "Condition": "isolith_bindings.predicates",
    "ConnectError": "isolith.errors",
    "Diagnostic": "isolith.outcome",
    "Execution": "isolith.run.execution",
    "GrantTerms": "isolith.approvals.terms",
    "HostPolicy": "isolith.budgets",
    "HttpServer": "isolith_bindings.mcp.descriptions",
    "IsolithError": "isolith.errors",
    "McpServer": "isolith_bindings.mcp.connector",
    "OAuthClient": "isolith_bindings.openapi",
    "OpenApi": "isolith_bindings.openapi",
    "Outcome": "isolith.outcome",
    "Policy": "isolith_bindings.policy",
    "Revert": "isolith.durable.reverts",
    "Rule": "isolith_bindings.rules",
    "Secret": "isolith_bindings.secrets",
    "Sharing": "isolith_bindings.mcp.scopes",
    "SseServer": "isolith_bindings.mcp.descriptions",
    "StdioServer": "isolith_bindings.mcp.descriptions",
    "Usage": "isolith.outcome",
    "UsageError": "isolith.errors",
    "as_connector": "isolith_bindings.functions",
    "connector": "isolith_bindings.functions",
    "method": "isolith_bindings.functions",
}
"""The module of each."""


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _HOME:
            raise AttributeError(f"module 'isolith' has no attribute {name!r}")
        from importlib import import_module  # noqa: PLC0415 - for these alone

        return getattr(import_module(_HOME[name]), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *_HOME})
