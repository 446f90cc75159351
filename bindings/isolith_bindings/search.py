"""Finding methods by words: the share of the query's words that a name, a parameter or a description holds.

Deterministic and in memory; the whole catalogue is read for each query, which is fit for hundreds of methods.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from isolith_bindings.connector import Connector, Method, offered
from isolith_bindings.rendering import first_paragraph

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Kind = Literal["connector", "method", "excluded"]
"""`excluded`: a method that is there, but not bound; its description says why."""

_PATH, _PARAMETERS, _DESCRIPTION = 3, 2, 1
_MIN_PREFIX = 3
_WORDS = re.compile(r"[^\W_]+")
_CAMEL = re.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True)
class SearchResult:
    """One thing found. `path` is what a script writes; `score` is from 0 to 1, and 0 for all when browsing."""

    path: str
    description: str
    signature: str | None
    kind: Kind
    requires_approval: bool
    score: float = 0.0


@dataclass(frozen=True)
class SearchPage:
    """One page of results, best first. `next` is the offset of the next page, None behind the last one."""

    results: list[SearchResult]
    remaining: int
    next: int | None


@dataclass(frozen=True)
class Entry:
    """A result before it is scored, with the words that can find it and what a match of each is worth."""

    result: SearchResult
    words: dict[str, int]


def entries(connectors: Iterable[Connector]) -> Iterator[Entry]:
    """Everything that can be found. What is denied cannot."""
    for connector in connectors:
        yield _connector_entry(connector)
        for method in offered(connector).values():
            yield _method_entry(connector, method)
        for original, reason in connector.excluded.items():
            path = f"{connector.name}[{original!r}]"
            yield _entry(SearchResult(path, f"not available: {reason}", None, "excluded", requires_approval=False), ())


def rank(found: Iterable[Entry], query: str) -> list[tuple[float, Entry]]:
    """Those that share a word with the query, best first; all of them by path where the query has no words."""
    wanted = words(query)
    scored = [(_score(wanted, entry.words), entry) for entry in found]
    kept = [(score, entry) for score, entry in scored if score or not wanted]
    return sorted(kept, key=lambda pair: (-pair[0], pair[1].result.path))


def words(text: str) -> list[str]:
    """The words of a text or a name, each once: `listContacts` is `list`, `contacts`."""
    spaced = _CAMEL.sub(" ", unicodedata.normalize("NFKC", text))
    return list(dict.fromkeys(_WORDS.findall(spaced.casefold())))


def _connector_entry(connector: Connector) -> Entry:
    summary = first_paragraph(connector.description)
    return _entry(SearchResult(connector.name, summary, None, "connector", requires_approval=False), ())


def _method_entry(connector: Connector, method: Method) -> Entry:
    result = SearchResult(
        f"{connector.name}.{method.name}",
        first_paragraph(method.description),
        method.signature,
        "method",
        requires_approval=method.policy == "ask",
    )
    return _entry(result, cast("dict[str, object]", method.parameters.get("properties") or {}), method.description)


def _entry(result: SearchResult, parameters: Iterable[str], description: str = "") -> Entry:
    weights: dict[str, int] = {}
    for weight, texts in (
        (_DESCRIPTION, (description or result.description,)),
        (_PARAMETERS, parameters),
        (_PATH, (result.path,)),
    ):
        weights |= dict.fromkeys((word for text in texts for word in words(text)), weight)
    return Entry(result, weights)


def _score(wanted: list[str], weights: dict[str, int]) -> float:
    if not wanted:
        return 0.0
    return round(sum(_worth(word, weights) for word in wanted) / (_PATH * len(wanted)), 3)


def _worth(word: str, weights: dict[str, int]) -> float:
    """What a word of the query is worth: half where one is the beginning of the other (`contact`, `contacts`)."""
    beginnings = (weight / 2 for known, weight in weights.items() if _begin_alike(word, known))
    return max(weights.get(word, 0), *beginnings, 0)


def _begin_alike(one: str, other: str) -> bool:
    return min(len(one), len(other)) >= _MIN_PREFIX and (one.startswith(other) or other.startswith(one))
