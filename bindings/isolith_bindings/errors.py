"""What can go wrong between a script and its tools.

BindingError
├── BindError             an object cannot become a connector; nothing was bound
│   ├── InvalidName       a name that no connector may have
│   └── NameCollision     two connectors of one name
├── CallError             one call failed; the script sees it as `ToolError`, the connector stays usable
└── Suspended             (in `connector`) no failure: the call is to be made again when a person has answered
"""

from __future__ import annotations


class BindingError(Exception):
    """The base of every exception of this package; its message is for the person who reads it."""


class BindError(BindingError):
    """An object cannot become a connector. The message names the object and says what to write instead."""


class InvalidName(BindError):
    """A name that no connector may have: empty, or that of a global of every script."""


class NameCollision(BindError):
    """Two connectors have one name. The message names both."""


class CallError(BindingError):
    """One call failed, for a reason that its caller may see.

    `kind` is one of the diagnostic kinds of the outcome (`unknown_tool`, `invalid_arguments`, `invalid_result`,
    `tool_error`, `tool_timeout`, `tool_unavailable`, `denied`, ...). `exception` is the name of the built-in exception
    class that the script can also catch it as. `data` goes to the script with it. The message never holds a traceback.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        data: object = None,
        exception: str | None = None,
        retriable: bool = False,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.data = data
        self.exception = exception
        self.retriable = retriable
        self.hint = hint
