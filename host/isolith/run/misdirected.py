"""A model that calls a tool of the catalogue as if it were one of its own, and the script that it meant. Pure.

Models do that where a catalogue is shown to them: `crm.list_contacts`, `crm_list_contacts`, `mcp__crm__list_contacts`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from isolith.outcome import Diagnostic
from isolith_bindings.connector import offered
from isolith_bindings.errors import CallError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from isolith_bindings.catalog import Catalog

_MAX_NAME = 200
_MAX_SHOWN = 1_000
_SEPARATOR = re.compile(r"__|[./:_-]")
_PREFIXES = ("mcp__", "functions.", "tools.")


def misdirected(catalog: Catalog, name: str, arguments: Mapping[str, object]) -> Diagnostic:
    """What is told of a tool that is not there: the script to send, where the name is that of a method."""
    path = _path(catalog, name) if len(name) <= _MAX_NAME else None
    if path is None:
        hint = "find what there is: `execute` with the code `search('what it should do')`"
        return Diagnostic(kind="unknown_tool", message=f"there is no tool `{name:.60}`", hint=hint)
    given = ", ".join(f"{key}={value!r}" for key, value in arguments.items() if key.isidentifier())
    code = f"await {path}({given if len(given) <= _MAX_SHOWN else '...'})"
    message = f"`{path}` is called within a script, not as a tool of its own"
    return Diagnostic(kind="unknown_tool", message=message, hint=f"call `execute` with the code: {code}", tool=path)


def _path(catalog: Catalog, name: str) -> str | None:
    """The method that a name means; what is denied is nowhere."""
    for connector, method in _splits(name):
        try:
            found, meant = catalog.resolve(connector, method)
        except CallError:
            continue
        if meant.name in offered(found):
            return f"{found.name}.{meant.name}"
    return None


def _splits(name: str) -> Iterator[tuple[str, str]]:
    for prefix in ("", *_PREFIXES):
        if name.startswith(prefix):
            bare = name.removeprefix(prefix)
            for match in _SEPARATOR.finditer(bare):
                yield bare[: match.start()], bare[match.end() :]
