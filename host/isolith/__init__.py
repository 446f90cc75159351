"""Isolith: scripts that a model wrote, each in a fresh WebAssembly isolate, with typed data as the answer."""

from isolith.budgets import UNLIMITED, Budgets, HostPolicy
from isolith.code_mode import CodeMode
from isolith.errors import BudgetError, ConnectError, IsolithError, UsageError
from isolith.execution import Execution
from isolith.outcome import Diagnostic, Outcome, Usage
from isolith_bindings.connector import CallContext
from isolith_bindings.errors import CallError
from isolith_bindings.functions import connector, method

__all__ = [
    "UNLIMITED",
    "BudgetError",
    "Budgets",
    "CallContext",
    "CallError",
    "CodeMode",
    "ConnectError",
    "Diagnostic",
    "Execution",
    "HostPolicy",
    "IsolithError",
    "Outcome",
    "Usage",
    "UsageError",
    "connector",
    "method",
]
