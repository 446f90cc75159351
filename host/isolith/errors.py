"""What the host package raises. Failures of a script are no exceptions: they are diagnostics in its outcome.

IsolithError
└── UsageError            Isolith was used wrongly: the API, a flag, a file; the command line ends with 2
    ├── BudgetError       a budget that makes no sense
    └── ConnectError      a `--connect` that gives no connector
"""

from __future__ import annotations


class IsolithError(Exception):
    """The base of every exception of ours; its message is for the person who reads it."""


class UsageError(IsolithError):
    """Isolith was used wrongly. The message says where, and what to write instead."""


class BudgetError(UsageError):
    """A budget that makes no sense; nothing was started."""


class ConnectError(UsageError):
    """What was given to connect to is missing, does not load, or is nothing to connect to."""
