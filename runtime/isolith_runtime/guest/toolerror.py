"""What a failed call raises in the script.

`ToolError` and its subclasses by cause. A built-in exception class that a Python function raised is kept as well:
`except ToolError` and `except ValueError` both catch it.
"""

from __future__ import annotations

import builtins
import types
from types import CodeType

Place = tuple[CodeType, int, int]
"""Where in the script a call was made: the code, its instruction, the line (0: not in the script)."""

_UNMIXABLE = (BaseExceptionGroup, StopIteration, StopAsyncIteration)


class ToolError(Exception):
    """A call that failed. `kind` says how, `data` carries what the connector sent with it, if anything."""

    def __init__(  # noqa: PLR0913 - the parts of one diagnostic, as the contract names them
        self,
        message: str,
        *,
        connector: str = "",
        method: str = "",
        kind: str = "tool_error",
        data: object = None,
        hint: str | None = None,
        retriable: bool = False,
    ) -> None:
        Exception.__init__(self, message)
        self.message = message
        self.connector = connector
        self.method = method
        self.kind = kind
        self.data = data
        self.hint = hint
        self.retriable = retriable
        self.place: Place | None = None

    def __str__(self) -> str:
        return self.message

    @property
    def tool(self) -> str:
        """The method as the script calls it: `crm.list_contacts`."""
        return ".".join(filter(None, (self.connector, self.method)))


class UnknownTool(ToolError, AttributeError):
    """There is no such connector or method in this run."""


class InvalidArguments(ToolError, TypeError):
    """The arguments were refused before anything was called."""


class Rejected(ToolError):
    """A person was asked and said no: nothing was called."""


_BY_KIND: dict[str, type[ToolError]] = {
    "unknown_tool": UnknownTool,
    "invalid_arguments": InvalidArguments,
    "rejected": Rejected,
}
_cache: dict[tuple[type[ToolError], str], type[ToolError]] = {}


def _in_this_module(namespace: dict[str, object]) -> None:
    namespace["__module__"] = __name__


def make(kind: str, exception: object) -> type[ToolError]:
    """The class to raise for a kind and the name of a built-in exception class (or anything else, ignored)."""
    base = _BY_KIND.get(kind, ToolError)
    mixin = getattr(builtins, exception, None) if isinstance(exception, str) else None
    if not isinstance(mixin, type) or not issubclass(mixin, Exception) or issubclass(mixin, _UNMIXABLE):
        return base
    if issubclass(base, mixin):
        return base
    key = (base, mixin.__name__)
    if key not in _cache:
        _cache[key] = types.new_class("ToolError", (base, mixin), exec_body=_in_this_module)
    return _cache[key]
