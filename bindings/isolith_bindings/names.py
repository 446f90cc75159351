"""Names: from what is written elsewhere to what a script can write, and back from every spelling.

The mapping is deterministic and idempotent: separators become `_`, Unicode letters stay (NFKC), a leading digit gets
`_` before it, a keyword `_` behind it, and what is longer than `MAX_LENGTH` characters ends in a hash of the whole.
"""

from __future__ import annotations

import builtins
import hashlib
import keyword
import re
import unicodedata
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

from isolith_bindings.closest import closest
from isolith_bindings.errors import InvalidName

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

MAX_LENGTH = 64
GUEST_GLOBALS = frozenset(
    {"artifact", "asyncio", "budget", "describe", "emit", "input", "log", "print", "progress", "search", "snippets"}
    | {"tools", "Rejected", "ToolError"}
)
"""What every script has under these names already."""

_HASH_DIGITS = 8
# The soft ones are spelt out: the host's Python may be older than the guest's.
_RESERVED = frozenset(keyword.kwlist) | {"case", "match", "type"}
_BUILTINS = frozenset(dir(builtins))
_MAX_COMPARED = 200
_PREFIXES = frozenset({"tools", "functions", "default_api"})
"""What models write before a connector."""
_SPLIT = re.compile(r"[^\W_]+")
_CALLED = re.compile(r"\(.*\)?\s*$", re.DOTALL)
_BRACKETS = re.compile(r"""\[\s*(?:"([^"]*)"|'([^']*)')\s*\]""")
_SEPARATORS = {place: None for place in range(128) if not chr(place).isalnum()}
_DUNDER = re.compile("^__+")
_WORD_START = re.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def sanitise(text: str) -> str:
    """The Python identifier for any text, at most `MAX_LENGTH` characters. Never begins with `__`."""
    normal = unicodedata.normalize("NFKC", text)
    kept = "".join(character if f"a{character}".isidentifier() else " " for character in normal)
    name = _DUNDER.sub("_", "_".join(kept.split()))
    if not name.strip("_"):
        name = "unnamed"
    if not name.isidentifier():
        name = f"_{name}"
    if name in _RESERVED:
        name = f"{name}_"
    if len(name) > MAX_LENGTH:
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_DIGITS]
        name = f"{name[: MAX_LENGTH - _HASH_DIGITS - 1]}_{digest}"
    return name


def connector_name(text: str) -> str:
    """The global of a connector. Raises InvalidName for an empty name and for those that scripts have already."""
    if not any(character.isalnum() for character in text):
        raise InvalidName(f"{text!r} cannot name a connector: give it a name of letters and digits")
    name = sanitise(text)
    if name in GUEST_GLOBALS or name in _BUILTINS:
        raise InvalidName(
            f"`{name}` cannot name a connector: every script has a `{name}` already. Choose another, "
            f'such as @connector("{name}_tools")'
        )
    return name


def from_class_name(text: str) -> str:
    """`BillingApi` as `billing_api`."""
    return _WORD_START.sub("_", text).lower()


def bind(originals: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Python names for the methods of one connector: `{python: original}`, and `{original: reason}` for what collides.

    A collision costs only those that collide; none of them is bound, for a script could not tell which it calls.
    """
    alike: dict[str, list[str]] = defaultdict(list)
    for original in originals:
        alike[sanitise(original)].append(original)
    bound = {name: found[0] for name, found in alike.items() if len(found) == 1}
    excluded = {
        original: f"{_listed(found)} would both be called `{name}`: rename one"
        for name, found in alike.items()
        if len(found) > 1
        for original in found
    }
    return bound, excluded


def fold(text: str) -> str:
    """What all spellings of a name that a model is likely to try have in common."""
    if text.isascii():
        return text.lower().translate(_SEPARATORS)
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())


def resolve(name: str, known: Mapping[str, str]) -> str | None:
    """The Python name meant by any spelling; `known` maps Python names to originals. None if there is none or several.

    An exact Python name wins, then an exact original, then a spelling with other case or separators.
    """
    if name in known:
        return name
    originals, folded = _spellings(tuple(known.items()))
    candidates = originals.get(name) or folded.get(fold(name)) or []
    return candidates[0] if len(candidates) == 1 else None


@lru_cache(64)
def _spellings(known: tuple[tuple[str, str], ...]) -> tuple[Mapping[str, list[str]], Mapping[str, list[str]]]:
    """The Python names by their originals, and by folded spelling: kept, for a script may ask a thousand times."""
    originals: dict[str, list[str]] = defaultdict(list)
    folded: dict[str, list[str]] = defaultdict(list)
    for python, original in known:
        originals[original].append(python)
        for spelling in {fold(python), fold(original)} - {""}:
            folded[spelling].append(python)
    return originals, folded


def aliases(connector: str, bound: Mapping[str, str]) -> dict[str, str]:
    """What scripts may write besides the Python names of `bound` (`{python: original}`), as `{spelling: python}`.

    The original names, and those that repeat the connector's without it: `slack.post_message` for
    `slack_post_message`. A spelling that could mean two methods is left out.
    """
    spellings = {original: python for python, original in bound.items() if original != python}
    taken = {fold(name) for name in (*bound, *spellings)}
    shorter: dict[str, list[str]] = defaultdict(list)
    for python in bound:
        rest = _without(connector, python)
        if rest and fold(rest) not in taken:
            shorter[rest].append(python)
    return {**{rest: found[0] for rest, found in shorter.items() if len(found) == 1}, **spellings}


def _without(connector: str, name: str) -> str:
    """A name without the connector's before it; empty where it does not begin so."""
    rest = name[len(connector) :].lstrip("_") if name.casefold().startswith(f"{connector}_".casefold()) else ""
    return sanitise(rest) if rest else ""


def paths(text: str, connectors: Iterable[str]) -> Iterator[tuple[str, str]]:
    """What a model may have meant by the path of a method, as (connector, method), the likeliest first.

    `crm.list`, `tools.crm.list`, `tools["crm"]["list"]`, `crm.list(...)`, `await crm.list`, `mcp__crm__list`,
    `crm/list`, `crm:list` and `crm_list` all give (`crm`, `list`); a name by itself gives (name, "").
    """
    known = sorted(connectors, key=len, reverse=True)
    plain = _BRACKETS.sub(lambda match: f".{match[1] or match[2]}", _uncalled(text.strip(" `\n;"))).strip()
    plain = plain.removeprefix("await ").strip()
    prefix, _, rest = plain.partition(".")
    if rest and prefix in _PREFIXES and prefix not in known:
        plain = rest
    yield _split(plain, ".")
    for separator in ("__", "::", ":", "/", "->"):
        shorter = plain.removeprefix("mcp__") if separator == "__" else plain
        if separator in shorter:
            yield _split(shorter, separator)
    folded = fold(plain)
    for connector in known:
        start = len(connector) + 1
        if (
            folded.startswith(fold(connector))
            and plain[start - 1 : start] in {"_", "-", " "}
            and plain[start : start + 1].isalnum()
        ):
            yield connector, plain[start:]


def _uncalled(text: str) -> str:
    """A call as what is called; a name in brackets may hold brackets of its own."""
    return text if text.endswith("]") else _CALLED.sub("", text)


def _split(text: str, separator: str) -> tuple[str, str]:
    """The two sides of the first separator; all of it and nothing where there is none."""
    first, _, rest = text.partition(separator)
    return first, rest


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """Up to three of the known names that look like this one, best first: the same words, close letters, more words."""
    folded = _folded(tuple(known))
    wanted = _words(name)
    said = {
        candidate: _words(candidate)
        for letters, found in folded.items()
        for candidate in found
        if wanted and _may_say(candidate, letters, wanted)
    }
    same = [candidate for candidate, words in said.items() if words == wanted]
    close = closest(fold(name[:_MAX_COMPARED]), list(folded), 3, 0.6)
    letters = [candidate for match in close for candidate in folded[match]]
    more = sorted(
        (candidate for candidate, words in said.items() if words > wanted), key=lambda found: (len(found), found)
    )
    return list(dict.fromkeys([*same, *letters, *more]))[:3]


@lru_cache(64)
def _folded(known: tuple[str, ...]) -> Mapping[str, list[str]]:
    folded: dict[str, list[str]] = defaultdict(list)
    for candidate in known:
        folded[fold(candidate)].append(candidate)
    return folded


def _may_say(name: str, letters: str, words: frozenset[str]) -> bool:
    """Whether all these may be words of a name, as its letters tell: of most names they are not."""
    return not name.isascii() or all(word in letters for word in words)


def _words(name: str) -> frozenset[str]:
    """The words of a name without their plurals."""
    return frozenset(word.removesuffix("s") for word in _SPLIT.findall(from_class_name(name[:_MAX_COMPARED])))


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`did you mean `x` or `y`?`, or nothing."""
    close = nearest(name, known)
    return f"did you mean {' or '.join(f'`{match}`' for match in close)}?" if close else ""


def _listed(found: list[str]) -> str:
    return " and ".join(f"`{original}`" for original in found)
