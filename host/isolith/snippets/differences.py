"""What one version of a snippet changes against another, part by part. Pure."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isolith.errors import UsageError
from isolith.journal.errors import UnknownEntry
from isolith.snippets.content import methods_of, schema_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isolith.journal.snippet_model import Snippet


@dataclass(frozen=True)
class Difference:
    """Of two versions of one snippet. Texts are unified diffs, empty where nothing has changed.

    `methods`: what it may call, each with `+`, `-`, or `~` where the schemas that it is reviewed against are others.
    `marks`: what else has changed, a line each.
    """

    old: Snippet
    new: Snippet
    script: str
    description: str
    input_schema: str
    methods: tuple[str, ...]
    marks: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.script or self.description or self.input_schema or self.methods or self.marks)

    def lines(self) -> Iterator[str]:
        """For a reader: the diffs as they are, then what is no text."""
        for part in (self.script, self.description, self.input_schema):
            yield from part.split("\n") if part else ()
        if self.methods:
            yield "methods that it may call (~ is another by its schemas):"
            yield from self.methods
        yield from self.marks

    def to_json(self) -> dict[str, object]:
        """As data."""
        return {
            "name": self.new.name,
            "old": {"version": self.old.version, "state": self.old.state, "content_hash": self.old.content_hash},
            "new": {"version": self.new.version, "state": self.new.state, "content_hash": self.new.content_hash},
            "script": self.script,
            "description": self.description,
            "input_schema": self.input_schema,
            "methods": list(self.methods),
            "marks": list(self.marks),
        }


def compared(old: Snippet, new: Snippet) -> Difference:
    """What `new` changes against `old`."""
    return Difference(
        old,
        new,
        script=_diff(old, new, _lines(old.code), _lines(new.code)),
        description=_diff(old, new, _lines(old.description), _lines(new.description), "description"),
        input_schema=_diff(old, new, _schema(old), _schema(new), "input schema"),
        methods=tuple(_methods(methods_of(old), methods_of(new))),
        marks=tuple(_marks(old, new)),
    )


def chosen_pair(versions: Sequence[Snippet], old: int | None, new: int | None) -> tuple[Snippet, Snippet]:
    """Two of the versions of one snippet: the newest that nobody has said no to, behind what `pair_of` puts it beside.

    Raises UsageError where there are no two, UnknownEntry.
    """
    by_number = {snippet.version: snippet for snippet in versions}
    for number in (old, new):
        if number is not None and number not in by_number:
            known = ", ".join(map(str, by_number))
            raise UnknownEntry(f"there is no version {number} of snippet {versions[-1].name}: there are {known}")
    fitting = [one for one in versions if one.state in {"proposed", "approved"}] or list(versions)
    newer = fitting[-1] if new is None else by_number[new]
    if old is not None:
        return by_number[old], newer
    pair = pair_of(versions, newer.version)
    if pair is None:
        raise UsageError(f"version {newer.version} of snippet {newer.name} is the first: there is nothing before it")
    return pair


def pair_of(versions: Sequence[Snippet], number: int) -> tuple[Snippet, Snippet] | None:
    """A version that is there, behind the one that a review of it compares it with; None where it is the first.

    That is the newest before it that is approved, else the newest that was until it was revoked, else the last one.
    """
    [newer] = [one for one in versions if one.version == number]
    before = [one for one in versions if one.version < number]
    for state in ("approved", "revoked"):
        read = [one for one in before if one.state == state]
        if read:
            return read[-1], newer
    return (before[-1], newer) if before else None


def _diff(old: Snippet, new: Snippet, before: list[str], after: list[str], part: str = "") -> str:
    first, second = (f"{one.name} {one.version}{f' ({part})' if part else ''}" for one in (old, new))
    return "\n".join(difflib.unified_diff(before, after, first, second, lineterm=""))


def _lines(text: str) -> list[str]:
    """As Python reads them: what other characters `splitlines` takes for the end of one may hide code in a comment."""
    return text.split("\n")


def _schema(snippet: Snippet) -> list[str]:
    return json.dumps(schema_of(snippet), indent=2, sort_keys=True).splitlines()


def _methods(old: dict[str, str], new: dict[str, str]) -> list[str]:
    paths = sorted(old.keys() | new.keys())
    sign = {path: "+" if path not in old else "-" if path not in new else "~" for path in paths}
    return [f"{sign[path]} {path}" for path in paths if old.get(path) != new.get(path)]


def _marks(old: Snippet, new: Snippet) -> list[str]:
    found: list[str] = []
    if old.tool != new.tool:
        found.append("a tool of its own for MCP clients" if new.tool else "no tool of its own any more")
    if old.image != new.image:
        found.append(f"read for {new.image}, and before for {old.image}")
    if old.tests != new.tests:
        found.append("its tests are others")
    return found
