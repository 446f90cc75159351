"""What can be found: one entry for each connector, method, snippet and collision, with the words that find it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol, cast

from isolith_bindings.lexicon import INTENTS, STOP_WORDS, Intent
from isolith_bindings.rendering import first_paragraph
from isolith_bindings.schema.quoting import one_line, unmarked
from isolith_bindings.stemming import stem
from isolith_bindings.words import words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isolith_bindings.connector import JsonSchema, Method, Policy

Kind = Literal["connector", "method", "snippet", "excluded"]
"""`excluded`: a method that is there, but not bound; its description says why."""

MAX_TEXT = 2_000
"""Characters of one description that are searched; the names before it are searched whole."""
NAME, CONNECTOR, SUMMARY, TAGS, PARAMETERS, TEXT = PLACES = (1.0, 0.9, 0.85, 0.6, 0.5, 0.35)
"""What a match is worth in each place."""
_MAX_PARAMETERS, _MAX_SAID = 100, 10
_MAX_SHOWN = 300
"""Characters of what a result says of itself."""


class Snippet(Protocol):
    """A reviewed script, as far as finding it goes; `input_schema` is that of its input."""

    @property
    def name(self) -> str:
        """What scripts call it: `snippets.NAME`."""
        ...

    @property
    def description(self) -> str:
        """What it does."""
        ...

    @property
    def signature(self) -> str:
        """How it is called."""
        ...

    @property
    def input_schema(self) -> JsonSchema | None:
        """JSON Schema of its input."""
        ...


@dataclass(frozen=True)
class SearchResult:
    """One thing found. `path` is what a script writes; `score` is from 0 to 1, and 0 for all when browsing.

    `outside`: the description is in the words of a server or a document, not in those of the host.
    """

    path: str
    description: str
    signature: str | None
    kind: Kind
    requires_approval: bool
    score: float = 0.0
    policy: Policy | None = None
    outside: bool = False


@dataclass(frozen=True)
class Entry:
    """A result before it is scored, and the stems that find it.

    `name`: those of the name, in order; `said`: the first of what is said of it. `places`: of each stem the best place
    where it is, as what a match there is worth. `spoken`: words of names as they are written, which a typo is held
    against. `does`: what a method does, as far as its words tell. `method`: whose signature belongs to the result;
    it is asked for one when it is shown, because writing all of a large document takes seconds.
    """

    result: SearchResult
    connector: str
    name: tuple[str, ...]
    said: tuple[str, ...]
    places: Mapping[str, float]
    spoken: frozenset[str] = frozenset()
    does: Intent | None = None
    deprecated: bool = False
    method: Method | None = None


def connector_entry(connector: str, description: str, *, outside: bool = False) -> Entry:
    """A connector itself."""
    shown = _shown(description)
    result = SearchResult(connector, shown, None, "connector", requires_approval=False, outside=outside)
    return _entry(result, connector, connector, description, ())


def method_entry(connector: str, method: Method, *, outside: bool = False) -> Entry:
    """A method that scripts may call."""
    result = SearchResult(
        f"{connector}.{method.name}",
        _shown(method.description),
        None,
        "method",
        requires_approval=method.policy == "ask",
        policy=method.policy,
        outside=outside,
    )
    # What was written on the other side says where words begin and end; the Python name may not.
    made = _entry(
        result,
        connector,
        method.original or method.name,
        method.description,
        _parameters(method.parameters),
        tags=method.tags,
        deprecated=method.deprecated,
    )
    return replace(made, method=method)


def excluded_entry(connector: str, original: str, reason: str) -> Entry:
    """A method that could not be bound."""
    path = f"{connector}[{original!r}]"
    result = SearchResult(
        path, f"not available: {one_line(reason, _MAX_SHOWN)}", None, "excluded", requires_approval=False
    )
    return _entry(result, connector, original, "", ())


def snippet_entry(snippet: Snippet) -> Entry:
    """A reviewed script."""
    path = f"snippets.{snippet.name}"
    result = SearchResult(path, _shown(snippet.description), snippet.signature, "snippet", requires_approval=False)
    return _entry(result, "snippets", snippet.name, snippet.description, _parameters(snippet.input_schema or {}))


def _shown(description: str) -> str:
    return one_line(first_paragraph(description), _MAX_SHOWN)


def stems(text: str) -> list[str]:
    """The stems of the words of a text, in order."""
    return [stem(word) for word in words(text)]


def _entry(  # noqa: PLR0913 - one for each place
    result: SearchResult,
    connector: str,
    name: str,
    description: str,
    parameters: Iterable[tuple[str, str]],
    tags: tuple[str, ...] = (),
    *,
    deprecated: bool = False,
) -> Entry:
    # What is found is looked for in the words as they were written, not in what is shown of them.
    said_of_it = result.description if result.kind == "excluded" else first_paragraph(description)
    pairs, summary = list(parameters), said_of_it[:MAX_TEXT]
    named = " ".join(parameter for parameter, _ in pairs)
    texts = {
        NAME: name,
        CONNECTOR: connector,
        SUMMARY: summary,
        TAGS: " ".join(tags),
        PARAMETERS: named,
        TEXT: " ".join([unmarked(description)[:MAX_TEXT], *(unmarked(said)[:MAX_TEXT] for _, said in pairs)]),
    }
    places: dict[str, float] = {}
    for place, text in sorted(texts.items()):
        places |= dict.fromkeys((stem(word) for word in words(text) if place == NAME or word not in STOP_WORDS), place)
    spoken = frozenset(words(f"{connector} {name} {' '.join(tags)} {summary} {named}"))
    said = [stem(word) for word in words(summary) if word not in STOP_WORDS][:_MAX_SAID]
    return Entry(
        result,
        connector,
        tuple(stems(name)),
        tuple(dict.fromkeys(said)),
        places,
        spoken,
        _does(summary, name),
        deprecated,
    )


def _does(summary: str, name: str) -> Intent | None:
    """What a method does: the first words of what is said of it tell, `Notion | Search by title`, else its name."""
    for word in (*stems(summary[:40])[:2], *stems(name)):
        if word in INTENTS:
            return INTENTS[word]
    return None


def _parameters(schema: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Name and description of each, as far as a schema that nobody checked has such."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return
    for name, part in list(cast("Mapping[object, object]", properties).items())[:_MAX_PARAMETERS]:
        said = cast("Mapping[object, object]", part).get("description") if isinstance(part, Mapping) else None
        yield str(name), said if isinstance(said, str) else ""
