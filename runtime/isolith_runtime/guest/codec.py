"""Values as JSON with their types kept: the one codec of both sides of the border.

What JSON has is itself. Anything else is an object of one member whose name begins with `$`:
`{"$datetime": "2026-01-01T00:00:00+00:00"}`. A mapping that could be mistaken for one of those (a key that is not
text or begins with `$`) becomes `{"$dict": [[key, value], ...]}`, so nothing inside a value can look like a tag.

Limits: `MAX_DEPTH` levels, `max_nodes` items. Encoding raises `NoDataForm` with the path of what has no data form.
"""

from __future__ import annotations

import base64
import collections
import dataclasses
import datetime
import decimal
import enum
import json
import types
import uuid
from collections.abc import Callable, Iterable, Mapping

MAX_DEPTH = 200
MAX_NODES = 4_000_000
_SAFE_BITS = 4096
_MAX_EQUAL_HASHES = 64
_MAX_PATH = 60

_PLAIN = {type(None), bool, int, float, str}
_TEXT_KEYS = {str}
VIEWS = (type({}.keys()), type({}.values()), type({}.items()), range, collections.deque)
"""What leaves as a list beside lists."""

Encoder = Callable[[object, int], object]


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


def loads(text: str | bytes) -> object:
    """The value of JSON text that `dumps` wrote. Raises `Malformed` for anything else."""
    try:
        return _reader(text if isinstance(text, str) else str(text, "utf-8"))
    except Malformed:
        raise
    except (ValueError, TypeError, ArithmeticError, RecursionError) as error:
        raise Malformed(f"not data: {type(error).__name__}") from None


def encode(value: object, *, max_nodes: int = MAX_NODES) -> object:
    """`value` in its tagged form, ready for `to_text`."""
    return _Encoding(max_nodes).encode(value, 0)


class _Encoding:
    """One walk over one value; counts what it has seen, so that shared parts cannot explode."""

    def __init__(self, max_nodes: int) -> None:
        self.left = max_nodes

    def encode(self, value: object, depth: int) -> object:
        kind = type(value)
        if kind is str or kind is bool or value is None:
            return value
        if kind is int:
            return value if value.bit_length() <= _SAFE_BITS else {"$int": hex(value)}  # type: ignore[attr-defined]
        if kind is float:
            return value if value - value == 0 else {"$float": repr(value)}  # type: ignore[operator]
        if depth >= MAX_DEPTH:
            raise NoDataForm(f"is nested more than {MAX_DEPTH} deep, or contains itself")
        if kind is list:
            return self.items(value, depth)  # type: ignore[arg-type]
        if kind is dict:
            return self.mapping(value, depth)  # type: ignore[arg-type]
        return self.other(value, depth)

    def spend(self, count: int) -> None:
        self.left -= count
        if self.left < 0:
            raise TooLarge

    def items(self, values: Iterable[object], depth: int) -> list[object]:
        encoded: list[object] = []
        values = values if isinstance(values, list) else list(values)
        self.spend(len(values))
        kinds = set(map(type, values))
        if kinds <= _PLAIN and (int not in kinds and float not in kinds):
            return values
        try:
            for value in values:
                encoded.append(self.encode(value, depth + 1))  # noqa: PERF401 - its length is the failing index
        except NoDataForm as error:
            error.path = f"[{len(encoded)}]{error.path}"
            raise
        return encoded

    def mapping(self, value: dict[object, object], depth: int) -> object:
        self.spend(len(value))
        if not value:
            return value
        if set(map(type, value)) != _TEXT_KEYS or _has_tag(value):
            return {"$dict": [[self.key(k, depth), self.member(k, v, depth)] for k, v in value.items()]}
        kinds = set(map(type, value.values()))
        if kinds <= _PLAIN and (int not in kinds and float not in kinds):
            return value
        return {k: self.member(k, v, depth) for k, v in value.items()}

    def key(self, key: object, depth: int) -> object:
        try:
            return self.encode(key, depth + 1)
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

    def other(self, value: object, depth: int) -> object:
        if isinstance(value, enum.Enum):
            return self.encode(value.value, depth + 1)
        tag = TAGGED.get(type(value))
        if tag is not None:
            return {tag[0]: tag[1](value)}
        for kind, name in _CONTAINERS:
            if isinstance(value, kind):
                return {name: self.items(value, depth)}  # type: ignore[arg-type]
        return self.by_base(value, depth)

    def by_base(self, value: object, depth: int) -> object:
        if isinstance(value, (bytes, bytearray, memoryview)):
            return {"$bytes": base64.b64encode(bytes(value)).decode()}
        for kind, plain in _BASES:
            if isinstance(value, kind):
                return self.encode(plain(value), depth)
        for kind, (name, write) in TAGGED.items():
            if isinstance(value, kind):
                return {name: write(value)}
        if isinstance(value, VIEWS):
            return self.items(value, depth)
        fields = fields_of(value)
        if fields is None:
            raise NoDataForm(_why_not(value))
        return self.mapping(fields, depth)


def fields_of(value: object) -> dict[object, object] | None:
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
        dumped = dump(value)
        return dumped if isinstance(dumped, dict) else None
    return None


def _why_not(value: object) -> str:
    kind = type(value).__name__
    reason = getattr(value, "__no_data_form__", None)
    if isinstance(reason, str):
        return reason
    if hasattr(value, "__next__"):
        return f"is of type {kind}, which has no data form: wrap it in list(...)"
    if isinstance(value, type) or callable(value):
        return f"is of type {kind}, which has no data form: call it, or leave it out"
    return f"is of type {kind}, which has no data form: make it a dict, a list or text"


def _has_tag(value: dict[object, object]) -> bool:
    """Whether a key begins with `$`; the joined keys are searched first because that is one C call."""
    return "$" in "".join(value) and any(key[:1] == "$" for key in value)  # type: ignore[arg-type,index]


def _timedelta(value: object) -> list[int]:
    assert isinstance(value, datetime.timedelta)  # noqa: S101
    return [value.days, value.seconds, value.microseconds]


def _isoformat(value: object) -> str:
    return value.isoformat()  # type: ignore[attr-defined,no-any-return]


def _complex(value: object) -> list[str]:
    return [repr(value.real), repr(value.imag)]  # type: ignore[attr-defined]


TAGGED: dict[type, tuple[str, Callable[[object], object]]] = {
    datetime.datetime: ("$datetime", _isoformat),
    datetime.date: ("$date", _isoformat),
    datetime.time: ("$time", _isoformat),
    datetime.timedelta: ("$timedelta", _timedelta),
    decimal.Decimal: ("$decimal", str),
    uuid.UUID: ("$uuid", str),
    complex: ("$complex", _complex),
}
_CONTAINERS = ((tuple, "$tuple"), (set, "$set"), (frozenset, "$frozenset"))


_BASES: tuple[tuple[type, Callable[..., object]], ...] = (
    # The base's own method on the subclass: nothing the script overrides is asked.
    (str, str.__str__),
    (int, int.__int__),
    (float, float.__float__),
    (list, list.copy),
    (dict, dict.copy),
)

# --------------------------------------------------------------------------------------------- decoding


def _float(text: str) -> float:
    if text not in {"nan", "inf", "-inf"}:
        raise Malformed("a tagged float is not nan or an infinity")
    return float(text)


def _no_flood(values: list[object]) -> list[object]:
    """Refuse keys that were chosen to share one hash: a table of them takes quadratic time to fill."""
    if len(values) > _MAX_EQUAL_HASHES:
        most = max(collections.Counter(map(hash, values)).values())
        if most > _MAX_EQUAL_HASHES:
            raise Malformed("too many keys of one hash")
    return values


def _pairs(pairs: list[list[object]]) -> dict[object, object]:
    _no_flood([key for key, _ in pairs])
    return {key: value for key, value in pairs}  # noqa: C416 - each pair is checked to have two parts


_DECODERS: dict[str, Callable[..., object]] = {
    "$int": lambda text: int(text, 16),
    "$float": _float,
    "$complex": lambda parts: complex(float(parts[0]), float(parts[1])),
    "$bytes": lambda text: base64.b64decode(text, validate=True),
    "$datetime": datetime.datetime.fromisoformat,
    "$date": datetime.date.fromisoformat,
    "$time": datetime.time.fromisoformat,
    "$timedelta": lambda parts: datetime.timedelta(*parts),
    "$decimal": decimal.Decimal,
    "$uuid": uuid.UUID,
    "$tuple": tuple,
    "$set": lambda values: set(_no_flood(values)),
    "$frozenset": lambda values: frozenset(_no_flood(values)),
    "$dict": _pairs,
}


def _restore(found: dict[str, object]) -> object:
    if len(found) == 1:
        [(name, content)] = found.items()
        if name[:1] == "$":
            decoder = _DECODERS.get(name)
            if decoder is None:
                raise Malformed("an unknown tag")
            return decoder(content)
    return found


def _refuse_constant(_name: str) -> object:
    raise Malformed("a bare NaN or infinity")


_writer = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
_tagged_reader = json.JSONDecoder(object_hook=_restore, parse_constant=_refuse_constant).decode
_plain_reader = json.JSONDecoder(parse_constant=_refuse_constant).decode


def _reader(text: str) -> object:
    return _tagged_reader(text) if '"$' in text else _plain_reader(text)
