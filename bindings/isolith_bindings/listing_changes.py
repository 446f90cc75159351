"""What has changed between two listings, for a model that has read the first: changes, or all anew if shorter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isolith_bindings import tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isolith_bindings.listing import Listed, Listing
    from isolith_bindings.tokens import Count

_ANEW = "The tools have changed. Now they are:\n"
_CHANGES = "The tools have changed:\n"


@dataclass(frozen=True)
class Changes:
    """What to say; `text` is empty where nothing has changed. `whole`: it is the second listing, not what differs."""

    text: str
    tokens: int
    whole: bool


def changes(before: Listing, after: Listing, count: Count = tokens.count) -> Changes:
    """From the first to the second. Of what neither shows only numbers are told: a search finds it."""
    if before.connectors == after.connectors:
        return Changes("", 0, whole=False)
    anew = f"{_ANEW}{after.text}"
    whole = Changes(anew, count(anew), whole=True)
    if before.complete != after.complete or after.unnamed or before.unnamed:
        return whole
    told = "".join(_told(before, after))
    if not told:
        return Changes("", 0, whole=False)
    text = f"{_CHANGES}{told}"
    spent = count(text)
    return Changes(text, spent, whole=False) if spent < whole.tokens else whole


def _told(before: Listing, after: Listing) -> Iterator[str]:
    old = {each.name: each for each in before.connectors}
    new = {each.name: each for each in after.connectors}
    for name in sorted(old.keys() | new.keys()):
        if name not in new:
            yield f"{name} is gone\n"
        elif name not in old:
            yield f"new: {new[name].head(None)}"
            yield from _lines(None, new[name], before, after)
        else:
            yield from _changed(old[name], new[name], before, after)


def _changed(old: Listed, new: Listed, before: Listing, after: Listing) -> Iterator[str]:
    if old.head(None) != new.head(None):
        yield f"now: {new.head(None)}"
    yield from _lines(old, new, before, after)


def _lines(old: Listed | None, new: Listed, before: Listing, after: Listing) -> Iterator[str]:
    """The tools of one connector: those that the first showed and that are gone, those that the second shows anew."""
    was = old.lines if old else dict[str, str]()
    for path in before.shown:
        connector, _, name = path.partition(".")
        if connector == new.name and name not in new.lines:
            yield f"  {path} is gone\n"
    seen = set(before.shown)
    for path in after.shown:
        connector, _, name = path.partition(".")
        if connector != new.name:
            continue
        if name not in was:
            yield f"  new:{new.lines[name][1:]}"
        elif was[name] != new.lines[name] and (path in seen or before.complete):
            yield f"  now:{new.lines[name][1:]}"
