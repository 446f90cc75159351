"""Globals of a script beside its connectors and its output: search, describe, artifact, budget, snippets."""

from __future__ import annotations

from typing import Any

from isolith_runtime.guest.artifact import Artifact, read_with
from isolith_runtime.guest.calls import Caller
from isolith_runtime.guest.capabilities import one_mapping
from isolith_runtime.guest.hints_of_types import EVERYWHERE, signature
from isolith_runtime.guest.output import Output
from isolith_runtime.guest.toolerror import InvalidArguments, UnknownTool

HOST = ""
"""The connector name under which the host's own services are called."""


class Remaining(dict[str, object]):
    """What is left of a run's budgets, by name: as items and as attributes."""

    def __getattr__(self, name: str) -> object:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no budget {name!r} to ask for; there are: {', '.join(self)}") from None


class Budget:
    """`budget.remaining`: what is left, as this side counts it. `budget.limits`: what the run began with."""

    def __init__(self, caller: Caller, output: Output, limits: dict[str, Any]) -> None:
        self._caller, self._output = caller, output
        self._began = caller.loop.time()
        self.limits = dict(limits)

    @property
    def remaining(self) -> Remaining:
        """Calls, seconds, bytes of logs and emitted events that are left; never below 0."""
        left = {
            "calls": self.limits["calls"] - self._caller.made,
            "wall_s": self.limits["wall_s"] - (self._caller.loop.time() - self._began),
            "log_bytes": self._output.log_bytes,
            "emit_events": self._output.emit_events,
        }
        return Remaining({name: max(0, value) for name, value in left.items()})


class Snippets:
    """`snippets.NAME(...)`: reviewed scripts, called like methods."""

    def __init__(self, caller: Caller, names: list[str]) -> None:
        self._caller = caller
        self._names = names

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in self._names:
            hint = f"there are: {', '.join(self._names)}" if self._names else "no snippet is approved here"
            raise UnknownTool(
                f"there is no snippet {name!r}", connector="snippets", method=name, kind="unknown_tool", hint=hint
            )

        def snippet(*arguments: object, **named: object) -> object:
            return self._caller.call("snippets", name, one_mapping(f"snippets.{name}", arguments, named))

        return snippet

    def __dir__(self) -> list[str]:
        return list(self._names)


def _path(target: object) -> object:
    """A connector or a method itself names itself. Raises `InvalidArguments` for a function of every script."""
    name = getattr(target, "__qualname__", None)
    if callable(target) and name in EVERYWHERE:
        message = f"describe(...) tells of connectors, methods and snippets; {name} is in every script"
        hint = f"{signature(name, target)}: {target.__doc__}"
        raise InvalidArguments(message, connector="isolith", method="describe", kind="invalid_arguments", hint=hint)
    return target if target is None or isinstance(target, str) else getattr(target, "_path", str(target))


def services(caller: Caller, output: Output, start: dict[str, Any]) -> dict[str, object]:
    """The globals, for one run."""

    def search(query: str = "", **options: object) -> object:
        """Methods by what they do; options: connector=None, kind=None, limit=10, offset=0."""
        return caller.call(HOST, "search", {"query": query, **options})

    def describe(target: object = None, detail: str = "signature", budget_tokens: int | None = None) -> object:
        """What connectors, methods, types or snippets are; detail: "summary", "signature" or "full". Also of a list."""
        several = isinstance(target, (list, tuple))
        wanted = [_path(one) for one in target] if several else _path(target)  # type: ignore[attr-defined]
        options = {} if budget_tokens is None else {"budget_tokens": budget_tokens}
        return caller.call(HOST, "describe", {"target": wanted, "detail": detail, **options})

    def artifact(data: bytes | str, *, name: str = "artifact", mime: str | None = None) -> object:
        """Keep bytes or text outside the guest; gives a handle with `.handle`, `.name`, `.mime`, `.size`."""
        if not isinstance(data, (bytes, bytearray, str)):
            message = "artifact(...) takes bytes or text"
            raise InvalidArguments(message, connector="isolith", method="artifact", kind="invalid_arguments")
        mime = mime or ("text/plain" if isinstance(data, str) else "application/octet-stream")
        content = data.encode() if isinstance(data, str) else bytes(data)
        return caller.call(HOST, "artifact", {"content": content, "name": name, "mime": mime})

    def read(kept: Artifact, offset: int, size: int | None) -> object:
        return caller.call(HOST, "artifact.read", {"artifact": kept, "offset": offset, "size": size})

    read_with(read)

    for function in (search, describe, artifact):
        function.__qualname__ = function.__name__  # what Python's own errors call it
    return {
        "search": search,
        "describe": describe,
        "artifact": artifact,
        "budget": Budget(caller, output, start["limits"]),
        "snippets": Snippets(caller, start["snippets"]),
    }
