"""The globals of a script that are neither its connectors nor its output: search, describe, artifact, budget, snippets."""

from __future__ import annotations

from typing import Any

from isolith_runtime.guest.capabilities import Caller
from isolith_runtime.guest.toolerror import InvalidArguments, UnknownTool

HOST = ""
"""The connector name under which the host's own services are called."""


class Budget:
    """`budget.remaining`: what is left of the run's budgets. `budget.limits`: what it began with."""

    def __init__(self, caller: Caller, limits: dict[str, object]) -> None:
        self._caller = caller
        self.limits = dict(limits)

    @property
    def remaining(self) -> object:
        """What is left; the host counts. A value in a synchronous script, else await it."""
        return self._caller.call(HOST, "remaining", {})


class Snippets:
    """`snippets.NAME(...)`: reviewed scripts, called like methods."""

    def __init__(self, caller: Caller, names: list[str]) -> None:
        self._caller = caller
        self._names = names

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in self._names:
            hint = f"there are: {', '.join(self._names)}" if self._names else "no snippet has been approved yet"
            raise UnknownTool(f"there is no snippet {name!r}", connector="snippets", kind="unknown_tool", hint=hint)
        return lambda **named: self._caller.call("snippets", name, named)

    def __dir__(self) -> list[str]:
        return list(self._names)


class Artifact:
    """Bytes kept outside the guest, known inside by a handle."""

    def __init__(self, handle: str, name: str, mime: str, size: int) -> None:
        self.handle, self.name, self.mime, self.size = handle, name, mime, size

    def __repr__(self) -> str:
        return f"<artifact {self.handle}: {self.name}, {self.mime}, {self.size} bytes>"

    def model_dump(self) -> dict[str, object]:
        """The handle as data."""
        return {"handle": self.handle, "name": self.name, "mime": self.mime, "bytes": self.size}


def services(caller: Caller, start: dict[str, Any]) -> dict[str, object]:
    """The globals, for one run."""

    def search(query: str = "", **options: object) -> object:
        """Find methods: search("invoices", connector=None, kind=None, limit=10, offset=0)."""
        return caller.call(HOST, "search", {"query": query, **options})

    def describe(target: str, detail: str = "signature") -> object:
        """What a connector or method takes and gives: describe("crm.list_contacts", detail="full")."""
        return caller.call(HOST, "describe", {"target": str(target), "detail": detail})

    def artifact(data: bytes | str, *, name: str = "artifact", mime: str | None = None) -> object:
        """Keep bytes or text outside the guest; gives a handle with `.handle`, `.name`, `.mime`, `.size`."""
        if not isinstance(data, (bytes, bytearray, str)):
            raise InvalidArguments("artifact(...) takes bytes or text", method="artifact", kind="invalid_arguments")
        mime = mime or ("text/plain" if isinstance(data, str) else "application/octet-stream")
        content = data.encode() if isinstance(data, str) else bytes(data)
        return caller.call(HOST, "artifact", {"content": content, "name": name, "mime": mime})

    return {
        "search": search,
        "describe": describe,
        "artifact": artifact,
        "budget": Budget(caller, start["limits"]),
        "snippets": Snippets(caller, start["snippets"]),
    }
