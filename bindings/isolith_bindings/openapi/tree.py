"""Bytes of a document to plain data, JSON or YAML, and no more of it than was asked for.

YAML is read by the rules of its version 1.2, as OpenAPI asks: `no` and `on` are text, and so are dates. Aliases share
what they point to, so that their expansion is counted before anything walks it. Nothing is ever constructed but
mappings, lists and scalars.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# PyYAML has stubs that say half of it.

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, TypeGuard, cast

import yaml

from isolith_bindings.errors import BindError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Tree = dict[str, object]


def is_mapping(value: object) -> TypeGuard[Tree]:
    """Whether it is a mapping; in a document that was read, its keys are text."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[object]]:
    """Whether it is a list."""
    return isinstance(value, list)


def is_container(value: object) -> TypeGuard[Tree | list[object]]:
    """Whether something may be in it."""
    return isinstance(value, (dict, list))


MAX_BYTES = 64 * 1024 * 1024
"""Bytes of one document."""
MAX_NODES = 8_000_000
"""Values of one document, aliases expanded."""
MAX_DEPTH = 200
"""Levels of nesting."""

_JSON_START = re.compile(rb"\s*[{\[]")
_BASE = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class DocumentError(BindError):
    """A document that cannot be read at all. The message names it, the place in it, and the mend."""


def read(content: bytes, name: str, repeated: list[str] | None = None) -> Tree:
    """The document as data; its keys are text throughout. `name` is what errors call it. Raises DocumentError.

    `repeated` takes the keys that stand twice in one mapping, of which the last counts.
    """
    if len(content) > MAX_BYTES:
        raise DocumentError(f"{name} has {len(content):,} bytes; a document may have {MAX_BYTES:,}")
    try:
        tree, twice = _parse(content, name)
        _measure(tree, name)
    except RecursionError:
        raise DocumentError(f"{name} is nested deeper than {MAX_DEPTH} levels") from None
    if repeated is not None:
        repeated += twice
    if not is_mapping(tree):
        raise DocumentError(f"{name} holds {_kind(tree)}; an OpenAPI document is a mapping with `openapi` or `swagger`")
    return tree


def _parse(content: bytes, name: str) -> tuple[object, list[str]]:
    """The data, and the keys that stand twice in a mapping. Raises DocumentError."""
    repeated: list[str] = []

    def made(pairs: list[tuple[str, object]]) -> Tree:
        tree = dict(pairs)
        if len(tree) != len(pairs):
            repeated.extend(_twice(key for key, _ in pairs))
        return tree

    problem = None
    if _JSON_START.match(content.removeprefix(b"\xef\xbb\xbf")):
        try:
            return json.loads(content.removeprefix(b"\xef\xbb\xbf"), object_pairs_hook=made), repeated
        except ValueError as error:
            problem = error  # a flow mapping of YAML begins like JSON
            repeated.clear()
    try:
        return _yaml(content, repeated), repeated
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, TypeError) as error:
        told = problem or error
        shown = " ".join(str(told).split())
        raise DocumentError(f"{name} is neither JSON nor YAML: {shown:.300}") from None


def _twice(keys: Iterable[str]) -> list[str]:
    return [key for key, count in Counter(keys).items() if count > 1]


def _measure(tree: object, name: str) -> None:
    """Refuse what would expand without bound: an alias to itself, or aliases of aliases of aliases."""
    sizes: dict[int, int] = {}
    open_: set[int] = set()
    stack: list[tuple[object, bool]] = [(tree, False)]
    while stack:
        node, done = stack.pop()
        if done:
            sizes[id(node)] = 1 + sum(sizes.get(id(child), 1) for child in _children(node))
            open_.discard(id(node))
            if sizes[id(node)] > MAX_NODES:
                raise DocumentError(f"{name} expands to more than {MAX_NODES:,} values: too many aliases")
            continue
        if id(node) in sizes:
            continue
        if id(node) in open_:
            raise DocumentError(f"{name} has an alias inside of what it stands for: use `$ref` for circular schemas")
        open_.add(id(node))
        if len(open_) > MAX_DEPTH:
            raise DocumentError(f"{name} is nested deeper than {MAX_DEPTH} levels")
        stack.append((node, True))
        stack.extend((child, False) for child in _children(node))


def _children(node: object) -> Iterator[object]:
    """The containers in a container."""
    values = list(node.values()) if is_mapping(node) else node if is_list(node) else []
    for child in values:
        if is_container(child):
            yield child


def _kind(value: object) -> str:
    known: dict[type[object], str] = {list: "a list", str: "text", type(None): "nothing"}
    return known.get(type(value), f"a {type(value).__name__}")


# ---------------------------------------------------------------------------------------------- YAML 1.2, core schema


class _Loader(_BASE):  # type: ignore[misc, valid-type]
    """Mappings, lists, text, numbers, true, false, null. A tag of any other kind is an error."""

    repeated: list[str]
    yaml_implicit_resolvers: dict[str | None, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - its base has it so


def _resolve(tag: str, pattern: str, first: str) -> None:
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"^(?:{pattern})$"), list(first))


_resolve("bool", "true|True|TRUE|false|False|FALSE", "tTfF")
_resolve("int", "[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789")
_FLOAT = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
_resolve("float", _FLOAT, "-+.0123456789")
_resolve("null", "~|null|Null|NULL", "~nN")
_Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile("^$"), [""])
_resolve("merge", "<<", "<")


def _int(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    text = str(loader.construct_scalar(node))
    return int(text, 0) if text[:2] in {"0o", "0x"} else int(text)


def _float(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> float:
    return float(str(loader.construct_scalar(node)).lower().replace(".inf", "inf").replace(".nan", "nan"))


def _keys(node: yaml.MappingNode) -> list[str]:
    own = cast("list[tuple[yaml.Node, yaml.Node]]", node.value)
    return [str(cast("object", key.value)) for key, _ in own if isinstance(key, yaml.ScalarNode)]


def _mapping(loader: _Loader, node: yaml.MappingNode) -> Iterator[Tree]:
    """A mapping whose keys are the text that was written: `200:` is "200"."""
    tree: Tree = {}
    yield tree
    # Before it takes in what is merged into it, which its own keys replace.
    loader.repeated.extend(_twice(_keys(node)))
    loader.flatten_mapping(node)
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise yaml.constructor.ConstructorError(None, None, "a key is no text", key.start_mark)
        name = str(cast("object", loader.construct_scalar(key)))
        tree[name] = loader.construct_object(value, deep=False)


_TAGS = ("null", "bool", "str", "seq")
_Loader.yaml_constructors = {
    **{f"tag:yaml.org,2002:{tag}": yaml.SafeLoader.yaml_constructors[f"tag:yaml.org,2002:{tag}"] for tag in _TAGS},
    None: yaml.SafeLoader.yaml_constructors[None],
}
_Loader.add_constructor("tag:yaml.org,2002:int", _int)
_Loader.add_constructor("tag:yaml.org,2002:float", _float)
_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)


def _yaml(content: bytes, repeated: list[str]) -> object:
    loader = _Loader(content)
    loader.repeated = repeated
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()
