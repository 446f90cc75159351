"""How two others order what fits, written anew from descriptions of what they do; none of their code is here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from isolith_bindings.connector import Method

_CAMEL = re.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, eq=False)
class Tool:
    """What both of them look at."""

    path: str
    connector: str
    method: Method


def opencode(query: str, tools: Iterable[Tool]) -> list[str]:
    """Points for each term where it is found, as itself or without `s` or `es`; the sum, then the path."""
    terms = [_singulars(term) for term in _tokens(query)]
    scored = [(_opencode(tool, terms), tool.path) for tool in tools]
    return [path for points, path in sorted(scored, key=lambda pair: (-pair[0], pair[1])) if points]


def _opencode(tool: Tool, terms: list[set[str]]) -> int:
    path, description = tool.path.lower(), tool.method.description.lower()
    last = path.rpartition(".")[2]
    everything = f"{path} {description} {_inputs(tool)}"
    points = 0
    for forms in terms:
        if not any(form in everything for form in forms):
            continue
        points += 20 * any(form in {path, last} for form in forms)
        points += 8 * any(form in path for form in forms)
        points += 4 * any(form in description for form in forms)
        points += 2
    return points


def _tokens(text: str) -> list[str]:
    return [token for token in re.split("[^a-z0-9]+", _CAMEL.sub(" ", text).lower()) if token]


def _singulars(term: str) -> set[str]:
    forms = {term}
    if term.endswith("es") and len(term) > 2:
        forms.add(term[:-2])
    if term.endswith("s") and len(term) > 1:
        forms.add(term[:-1])
    return forms


_PATH, _METHOD, _CONNECTOR, _DESCRIPTION = 12, 10, 8, 5


def cloudflare(query: str, tools: Iterable[Tool]) -> list[str]:
    """Weighted fields, each by phrase and by token; most tokens have to be found at all."""
    phrase = _normal(query)
    tokens = re.findall("[a-z0-9]+", phrase)
    if not tokens:
        return []
    scored = [(_cloudflare(tool, phrase, tokens), tool.path) for tool in tools]
    return [path for points, path in sorted(scored, key=lambda pair: (-pair[0], pair[1])) if points][:50]


@lru_cache(maxsize=100_000)
def _normal(text: str) -> str:
    return " ".join(re.sub("[_./:-]", " ", _CAMEL.sub(" ", text)).lower().split())


def _cloudflare(tool: Tool, phrase: str, asked: list[str]) -> float:
    path, method = _normal(tool.path), _normal(tool.method.original)
    fields = (
        (_PATH, path),
        (_METHOD, method),
        (_CONNECTOR, _normal(tool.connector)),
        (_DESCRIPTION, _normal(tool.method.description)),
    )
    anywhere = _words(" ".join(text for _, text in fields))
    tokens = [token for token in asked if anywhere.worth(token)]
    points = 0
    exact = False
    found: set[str] = set()
    for weight, text in fields:
        whole = 14 if text == phrase else 9 if text.startswith(phrase) else 6 if phrase in text else 0
        exact = exact or text == phrase
        points += weight * whole
        words = _words(text)
        for token in tokens:
            worth = words.worth(token)
            if worth:
                found.add(token)
                points += weight * worth
    share = len(found) / len(set(asked))
    if not exact and share < (1.0 if len(asked) <= 2 else 0.6):
        return 0
    points += 25 if share == 1 else round(share * 10)
    points += 8 * any(words and words[0] == asked[0] for words in (path.split(), method.split()))
    return points + 20 * (phrase in {path, method})


@dataclass(frozen=True)
class _Words:
    each: frozenset[str]
    joined: str

    def worth(self, token: str) -> int:
        """Equal; one the beginning of the other; within another."""
        if token in self.each:
            return 4
        if f" {token}" in self.joined or any(token[:size] in self.each for size in range(1, len(token))):
            return 2
        return int(token in self.joined)


@lru_cache(maxsize=100_000)
def _words(text: str) -> _Words:
    words = re.findall("[a-z0-9]+", text)
    return _Words(frozenset(words), f" {' '.join(words)}")


@lru_cache(maxsize=10_000)
def _inputs(tool: Tool) -> str:
    properties = cast("Mapping[str, Mapping[str, str]]", tool.method.parameters["properties"])
    return " ".join(f"{name} {schema.get('description', '')}" for name, schema in properties.items()).lower()
