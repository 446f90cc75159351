"""The catalogues as connectors, and the queries."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from isolith_bindings import names
from isolith_bindings.connector import CallContext, Method
from isolith_bindings.errors import CallError

HERE = Path(__file__).parent
CATALOGUES = HERE.parents[2] / "fixtures" / "catalogues"


@dataclass(frozen=True)
class Query:
    """Words of a user, and the paths of which each is right."""

    text: str
    right: frozenset[str]


class Listed:
    """A connector that is only looked at: the operations of one catalogue."""

    description = ""
    excluded: Mapping[str, str] = {}

    def __init__(self, file: Path) -> None:
        self.name = file.name.partition(".")[0]
        lines = gzip.decompress(file.read_bytes()).decode().splitlines()
        self.methods = {method.name: method for method in map(_method, lines)}

    async def call(self, method: Method, arguments: Mapping[str, object], context: CallContext) -> object:
        raise CallError("tool_unavailable", "this connector is only looked at")

    async def start(self) -> None: ...

    async def aclose(self) -> None: ...


def connectors() -> list[Listed]:
    """All catalogues, by name."""
    return [Listed(file) for file in sorted(CATALOGUES.glob("*.jsonl.gz"))]


def queries(half: str) -> list[Query]:
    """Those of `held_out` or `tuning`."""
    return list(_queries((HERE / f"{half}.tsv").read_text("utf-8")))


def _queries(text: str) -> Iterator[Query]:
    for line in text.splitlines():
        if line and not line.startswith("#"):
            words, _, right = line.partition("\t")
            yield Query(words, frozenset(map(_path, right.split("|"))))


def _path(operation: str) -> str:
    connector, _, name = operation.partition(":")
    return f"{connector}.{names.sanitise(name)}"


def _method(line: str) -> Method:
    tool = cast("dict[str, object]", json.loads(line))
    original = str(tool["name"])
    parameters = cast("dict[str, str]", tool["parameters"])
    name = names.sanitise(original)
    return Method(
        name=name,
        original=original,
        description=str(tool["description"]),
        parameters={"type": "object", "properties": {key: {"description": said} for key, said in parameters.items()}},
        returns=None,
        signature=f"async def {name}(*, {', '.join(f'{names.sanitise(key)}=...' for key in list(parameters)[:8])})",
        tags=tuple(cast("list[str]", tool["tags"])),
    )
