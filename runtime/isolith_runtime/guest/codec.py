"""Values as JSON with their types kept: the one codec of both sides of the border.

What JSON has is itself. Anything else is an object of one member whose name begins with `$`:
`{"$datetime": "2026-01-01T00:00:00+00:00"}`. A mapping that could be mistaken for one of those (a key that is not
text or begins with `$`) becomes `{"$dict": [key, value, key, value, ...]}`, so nothing inside a value can look like a
tag.

Limits: `MAX_DEPTH` levels, `max_nodes` items. Encoding raises `NoDataForm` with the path of what has no data form.
A time keeps its offset, not the name of its zone.
"""

from __future__ import annotations

import base64
import collections
import dataclasses
import datetime as dt
import decimal
import enum
import json
import types
import uuid
from collections.abc import Callable, Collection, ItemsView, KeysView, Mapping, ValuesView
from typing import Any

from isolith_runtime.guest import artifact
from isolith_runtime.guest.keys import FLOOD, is_flood

MAX_DEPTH = 100
"""Levels of a value: at six frames of ours a level, what fits into half of CPython's recursion limit."""

MAX_TEXT_DEPTH = 2 * MAX_DEPTH + 8
"""Levels of the JSON text of a batch: a tagged container takes two, a frame a few."""

MAX_NODES = 4_000_000
MAX_CONTAINERS = 1_000_000
"""Lists and mappings of the text of one value: two bytes there are a hundred to whoever reads it."""

MAX_DIGITS = 20_000
"""Of a Decimal; its point may be `MAX_POINT` digits away from them. Nine characters are an integer that takes hours."""
MAX_POINT = 2_000

_SAFE_BITS = 4096
_MAX_PATH = 60

_PLAIN: set[type] = {type(None), bool, int, float, str}
_TEXT_KEYS: set[type] = {str}
VIEWS: tuple[type[Collection[Any]], ...] = (KeysView, ValuesView, ItemsView, range, collections.deque)
"""What leaves as a list beside lists."""


class NoDataForm(TypeError):
    """A value, or a part of it, that cannot leave as data; `path` says where, `$` being the whole."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = ""

    def __str__(self) -> str:
        path = self.path if len(self.path) <= _MAX_PATH else f"{self.path[:_MAX_PATH]}…"
        return f"the value at ${path} {self.reason}"


class TooLarge(ValueError):
    """A value of more items, or of more bytes, than may leave; the message, if any, says how large it is."""


class Malformed(ValueError):
    """Encoded data that no encoder of ours wrote."""


def dumps(value: object, *, max_nodes: int = MAX_NODES) -> str:
    """`value` as JSON text. Raises `NoDataForm`, or `TooLarge` past `max_nodes` items."""
    return to_text(encode(value, max_nodes=max_nodes))


def to_text(encoded: object) -> str:
    """Encoded data as compact JSON text; valid Unicode or `NoDataForm`."""
    text = _writer(encoded)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise NoDataForm("holds text that is not valid Unicode (a lone surrogate)") from None
    return text


def loads(text: str | bytes | bytearray) -> object:
    """The value of JSON text that `dumps` wrote. Raises `Malformed` for anything else."""
    try:
        return _reader(text if isinstance(text, str) else str(text, "utf-8"))
    except Malformed:
        raise
    except (ValueError, TypeError, ArithmeticError, RecursionError) as error:
        raise Malformed(f"not data: {type(error).__name__}") from None


def encode(value: object, *, max_nodes: int = MAX_NODES) -> object:
    """`value` in its tagged form, ready for `to_text`; may share parts with it."""
    try:
        return _Encoding(max_nodes).encode(value, 0)
    except RecursionError:
        raise NoDataForm("is nested too deep for the stack that is left") from None


class _Encoding:
    """One walk over one value; counts what it has seen, so that shared parts cannot explode."""

    def __init__(self, max_nodes: int) -> None:
        self.left = max_nodes
        self.containers = MAX_CONTAINERS

    def encode(self, value: Any, depth: int) -> object:
        kind: type = type(value)
        if kind is str or kind is bool or value is None:
            return value
        if kind is int:
            return value if value.bit_length() <= _SAFE_BITS else {"$int": hex(value)}
        if kind is float:
            return value if value - value == 0 else {"$float": repr(value)}
        if depth >= MAX_DEPTH:
            raise NoDataForm(f"is nested more than {MAX_DEPTH} deep, or contains itself")
        self.contain()
        if kind is list:
            return self.items(value, depth)
        if kind is dict:
            return self.mapping(value, depth)
        return self.other(value, depth)

    def contain(self) -> None:
        self.containers -= 1
        if self.containers < 0:
            raise TooLarge

    def spend(self, count: int) -> None:
        self.left -= count
        if self.left < 0:
            raise TooLarge

    def items(self, values: Collection[object], depth: int) -> list[object]:
        self.spend(len(values))
        values = values if isinstance(values, list) else list(values)
        kinds = set(map(type, values))
        if kinds <= _PLAIN and (int not in kinds and float not in kinds):
            return values
        encoded: list[object] = []
        try:
            for value in values:
                encoded.append(self.encode(value, depth + 1))  # noqa: PERF401 - its length is the failing index
        except NoDataForm as error:
            error.path = f"[{len(encoded)}]{error.path}"
            raise
        return encoded

    def members(self, values: Collection[object], depth: int) -> list[object]:
        """The items of a set."""
        members = list(values)
        encoded = self.items(members, depth)
        for position, form in enumerate(encoded):
            try:
                _as_key(form, members[position])
            except NoDataForm as error:
                error.path = f"[{position}]"
                raise
        return encoded

    def mapping(self, value: dict[Any, Any], depth: int) -> object:
        self.spend(len(value))
        if not value:
            return value
        if set(map(type, value)) != _TEXT_KEYS or _has_tag(value):
            self.contain()
            flat: list[object] = []
            for key, item in value.items():
                flat += (self.key(key, depth), self.member(key, item, depth))
            return {"$dict": flat}
        kinds = set(map(type, value.values()))
        if kinds <= _PLAIN and (int not in kinds and float not in kinds):
            return value
        return {k: self.member(k, v, depth) for k, v in value.items()}

    def key(self, key: object, depth: int) -> object:
        try:
            return _as_key(self.encode(key, depth + 1), key)
        except NoDataForm as error:
            error.path = f".<key {key!r:.40}>{error.path}"
            raise

    def member(self, key: object, value: object, depth: int) -> object:
        try:
            return self.encode(value, depth + 1)
        except NoDataForm as error:
            shown = f".{key}" if isinstance(key, str) and key.isidentifier() else f"[{key!r:.40}]"
            error.path = f"{shown}{error.path}"
            raise

    def other(self, value: Any, depth: int) -> object:
        self.contain()
        if isinstance(value, enum.Enum):
            return self.encode(value.value, depth + 1)
        tag = TAGGED.get(type(value))
        if tag is not None:
            return {tag[0]: tag[1](value)}
        if isinstance(value, tuple):
            return {"$tuple": self.items(value, depth)}
        if isinstance(value, set):
            return {"$set": self.members(value, depth)}
        if isinstance(value, frozenset):
            return {"$frozenset": self.members(value, depth)}
        return self.by_base(value, depth)

    def by_base(self, value: Any, depth: int) -> object:
        if isinstance(value, (bytes, bytearray, memoryview)):
            return {"$bytes": base64.b64encode(memoryview(value).tobytes()).decode()}
        for kind, plain in _BASES:
            if isinstance(value, kind):
                return self.encode(plain(value), depth)
        for kind, (name, write) in TAGGED.items():
            if isinstance(value, kind):
                return {name: write(value)}
        if isinstance(value, VIEWS):
            return self.view(value, depth)
        of_the_host = getattr(type(value), "__artifact__", None)
        if of_the_host is not None:
            return {"$artifact": list(of_the_host(value))}
        fields = fields_of(value)
        if fields is None:
            raise NoDataForm(_why_not(value))
        return self.mapping(fields, depth)

    def view(self, value: Collection[object], depth: int) -> list[object]:
        try:
            return self.items(value, depth)
        except OverflowError:  # a range longer than any list
            raise TooLarge from None


def fields_of(value: Any) -> dict[Any, Any] | None:
    """What an object that leaves as a mapping leaves as; None for what has no data form."""
    if isinstance(value, type):
        return None
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, (Mapping, types.MappingProxyType)):
        return dict(value)
    if isinstance(value, BaseException):
        return {"error": type(value).__name__, "message": str(value)}
    dump = getattr(type(value), "model_dump", None)
    if callable(dump):
        dumped: Any = dump(value)
        return dumped if isinstance(dumped, dict) else None
    return None


def _why_not(value: object) -> str:
    kind = type(value).__name__
    reason = getattr(value, "__no_data_form__", None)
    if isinstance(reason, str):
        return reason
    if hasattr(value, "__await__"):
        return f"is of type {kind}, not its result: write `await` before it, or asyncio.gather(...) for several"
    if hasattr(value, "__next__"):
        return f"is of type {kind}, which has no data form: wrap it in list(...)"
    if isinstance(value, type) or callable(value):
        return f"is of type {kind}, which has no data form: call it, or leave it out"
    return f"is of type {kind}, which has no data form: make it a dict, a list or text"


def _as_key(form: object, value: object) -> object:
    """The form of a key or of a set's member; raises NoDataForm where it would be none outside."""
    if not _can_be_key(form):
        kind = type(value).__name__
        raise NoDataForm(f"is of type {kind}, which outside can be no key and in no set: use text, numbers or tuples")
    return form


def _can_be_key(form: Any) -> bool:
    """Whether the decoded form has a hash: a mapping has none, though what it was made from may have one."""
    kind: type = type(form)
    if kind is not dict and kind is not list:
        return True
    if kind is list or len(form) != 1:
        return False
    [(name, content)] = form.items()
    if name in {"$tuple", "$frozenset"}:
        return all(map(_can_be_key, content))
    return name in _DECODERS and name not in {"$set", "$dict"}


def _has_tag(value: dict[str, object]) -> bool:
    """Whether a key begins with `$`; the joined keys are searched first because that is one C call."""
    return "$" in "".join(value) and any(key[:1] == "$" for key in value)


def _decimal(value: decimal.Decimal) -> str:
    text = decimal.Decimal.__str__(value)
    if len(text) > MAX_DIGITS or abs(decimal.Decimal.adjusted(value)) > MAX_POINT + len(text):
        raise NoDataForm("is a Decimal of too many digits: leave it as text, or round it")
    return text


def _timedelta(value: dt.timedelta) -> list[int]:
    return [value.days, value.seconds, value.microseconds]


def _complex(value: complex) -> list[str]:
    return [repr(value.real), repr(value.imag)]


# Here and below the base's own method is used on a subclass: nothing it overrides is asked.
TAGGED: dict[type, tuple[str, Callable[[Any], object]]] = {
    dt.datetime: ("$datetime", dt.datetime.isoformat),
    dt.date: ("$date", dt.date.isoformat),
    dt.time: ("$time", dt.time.isoformat),
    dt.timedelta: ("$timedelta", _timedelta),
    decimal.Decimal: ("$decimal", _decimal),
    uuid.UUID: ("$uuid", uuid.UUID.__str__),
    complex: ("$complex", _complex),
    artifact.Artifact: ("$artifact", artifact.parts),
}

_BASES: tuple[tuple[type, Callable[[Any], object]], ...] = (
    (str, str.__str__),
    (int, int.__int__),
    (float, float.__float__),
    (list, list[Any].copy),
    # Its own order is not the one of the dict underneath.
    (collections.OrderedDict, lambda value: dict(collections.OrderedDict.items(value))),
    (dict, dict[Any, Any].copy),
)

# decoding


def _float(text: str) -> float:
    if text not in {"nan", "inf", "-inf"}:
        raise Malformed("a tagged float is not nan or an infinity")
    return float(text)


def _as_decimal(text: str) -> decimal.Decimal:
    value = decimal.Decimal(text) if len(text) <= MAX_DIGITS else None
    if value is None or abs(value.adjusted()) > MAX_POINT + len(text):
        raise Malformed("a Decimal of too many digits")
    return value


def _no_flood(values: list[object]) -> list[object]:
    if is_flood(values):
        raise Malformed(FLOOD)
    return values


def _pairs(flat: list[object]) -> dict[object, object]:
    return dict(zip(_no_flood(flat[::2]), flat[1::2], strict=True))


_DECODERS: dict[str, tuple[type, Callable[[Any], object]]] = {
    "$int": (str, lambda text: int(text, 16)),
    "$float": (str, _float),
    "$complex": (list, lambda parts: complex(*map(float, parts))),
    "$bytes": (str, lambda text: base64.b64decode(text, validate=True)),
    "$datetime": (str, dt.datetime.fromisoformat),
    "$date": (str, dt.date.fromisoformat),
    "$time": (str, dt.time.fromisoformat),
    "$timedelta": (list, lambda parts: dt.timedelta(*parts)),
    "$decimal": (str, _as_decimal),
    "$uuid": (str, uuid.UUID),
    "$tuple": (list, tuple),
    "$set": (list, lambda values: set(_no_flood(values))),
    "$frozenset": (list, lambda values: frozenset(_no_flood(values))),
    "$dict": (list, _pairs),
    "$artifact": (list, artifact.restore),
}
"""Tag to what its content is in JSON, and what is made of it."""


def _restore(found: dict[str, object]) -> object:
    if len(found) == 1:
        [(name, content)] = found.items()
        if name[:1] == "$":
            kind, decode = _DECODERS.get(name, (None, None))
            if decode is None or type(content) is not kind:
                raise Malformed("an unknown tag, or one with another content")
            return decode(content)
    return found


def _refuse_constant(_name: str) -> object:
    raise Malformed("a bare NaN or infinity")


_writer = json.JSONEncoder(ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":")).encode
_tagged_reader = json.JSONDecoder(object_hook=_restore, parse_constant=_refuse_constant).decode
_plain_reader = json.JSONDecoder(parse_constant=_refuse_constant).decode


def _reader(text: str) -> object:
    return _tagged_reader(text) if '"$' in text else _plain_reader(text)
