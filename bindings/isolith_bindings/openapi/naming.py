"""The names of operations: `issues.list_for_repo` from the document's words, deterministic and told apart loudly.

Where an operationId is divided (`issues/list-for-repo`, `users.list`), so is the name. In a document of many operations
the first tag comes before the name. What several operations would be called, none of them is: they take the whole
operationId, or the method and the path, and a note says so.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

from isolith_bindings.names import from_class_name, sanitise

NEST_FROM = 20
"""Operations from which on a document is divided by its tags."""
MAX_TAG = 32
"""Characters of a tag that is put before names."""

_DIVIDED = re.compile(r"[A-Za-z][\w\-]*(?:[./][A-Za-z][\w\-]*)+")
_ACRONYMS = re.compile(r"(?<![A-Za-z])[A-Z]{2,}s(?![a-z])")
_VERSIONED = re.compile(r"_v[0-9]")
_BRACES = re.compile(r"[{}]")
_SEPARATORS = re.compile(r"[^\w]+|_+")


@dataclass(frozen=True)
class Wanted:
    """What names an operation. `key`: the method and the path; `id`: its operationId, if it has one."""

    key: str
    method: str
    path: str
    id: str | None
    tag: str | None


@dataclass(frozen=True)
class Names:
    """By key: the name, or why there is none; and for what was called otherwise than it would be, why."""

    names: dict[str, str]
    excluded: dict[str, str]
    notes: dict[str, str]


def name_all(operations: list[Wanted]) -> Names:
    """Names for all operations of a document."""
    tags = {operation.tag for operation in operations if operation.tag}
    nested = len(operations) >= NEST_FROM and len(tags) > 1
    options = {operation.key: _options(operation, nested=nested) for operation in operations}
    level = dict.fromkeys(options, 0)
    excluded: dict[str, str] = {}
    while True:
        chosen = {key: names[level[key]] for key, names in options.items() if key not in excluded}
        clashes = _clashes(chosen)
        if not clashes:
            notes = {
                key: f"`{options[key][0]}` would be the name of other operations as well: it is `{name}`"
                for key, name in chosen.items()
                if level[key] > 0
            }
            return Names(chosen, excluded, notes)
        for key, others in clashes.items():
            if level[key] + 1 < len(options[key]):
                level[key] += 1
            else:
                excluded[key] = f"it would be called `{chosen[key]}`, as is {others}: give it an operationId of its own"


def _clashes(chosen: dict[str, str]) -> dict[str, str]:
    """Those that are called like another one, or like what others are nested in; and the other one."""
    alike: dict[str, list[str]] = defaultdict(list)
    for key, name in chosen.items():
        alike[name].append(key)
    inside: dict[str, str] = {}
    for key, name in chosen.items():
        parts = name.split(".")
        for end in range(1, len(parts)):
            inside.setdefault(".".join(parts[:end]), key)
    found: dict[str, str] = {}
    for name, keys in alike.items():
        if len(keys) > 1:
            found.update({key: next(other for other in keys if other != key) for key in keys})
        elif name in inside:
            found[keys[0]] = f"the group of {inside[name]}"
    return found


def _options(operation: Wanted, *, nested: bool) -> list[str]:
    """The names an operation may have, best first; the last is unlike all others."""
    plain = _words(f"{operation.method.lower()} {_BRACES.sub(' ', operation.path)}")
    group = _group(operation.tag) if nested and operation.tag else None
    if operation.id is None:
        return [_path(group, plain)]
    if _DIVIDED.fullmatch(operation.id):
        parts = [sanitise(_words(part)) for part in re.split(r"[./]", operation.id)]
        return list(dict.fromkeys([".".join(parts), _path(group, plain)]))
    words = _words(operation.id)
    short = _without_path(operation, words)
    names = [_path(group, _without_tag(short, group)), _path(group, short), _path(group, words), _path(group, plain)]
    return list(dict.fromkeys(names))


def _path(group: str | None, words: str) -> str:
    return f"{group}.{sanitise(words)}" if group else sanitise(words)


def _words(text: str) -> str:
    """Any text as words in lower case, joined by `_`."""
    joined = "_".join(word for word in _SEPARATORS.split(text) if word)
    plural = _ACRONYMS.sub(lambda match: match[0].capitalize(), joined)
    return re.sub("_+", "_", from_class_name(plural))


def _group(tag: str) -> str | None:
    found = _words(tag)
    return sanitise(found) if len(found) <= MAX_TAG and any(map(str.isalpha, tag)) else None


def _without_path(operation: Wanted, words: str) -> str:
    """FastAPI puts path and method behind the name of the function: `list_items_items__get`."""
    tail = re.sub(r"\W", "_", operation.path) + "_" + operation.method.lower()
    given = operation.id or ""
    short = given.removesuffix(tail)
    return _words(short) if short != given and short.strip("_") else words


def _without_tag(words: str, group: str | None) -> str:
    """Without the words of the tag: in front, or anywhere where it is a version of something (`core_v1`)."""
    if group is None:
        return words
    padded, inner = f"_{words}_", f"_{group}_"
    if not (padded.startswith(inner) or (_VERSIONED.search(group) and inner in padded)):
        return words
    rest = padded.replace(inner, "_", 1).strip("_")
    return rest if rest and not rest[0].isdigit() else words
