"""Python values as JSON: the documented rules by which an outcome loses its Python types.

| Python | JSON |
|---|---|
| `None`, `bool`, `int`, `float`, `str`, `list`, `dict` | themselves |
| `int` past 2^53 - 1, where the reader asked for safe integers | decimal text |
| `int` of more than 4,096 bits | hexadecimal text, `"0x…"` |
| `nan`, `inf`, `-inf` | `"NaN"`, `"Infinity"`, `"-Infinity"` |
| `complex` | `{"real": …, "imag": …}` |
| `datetime`, `date`, `time` | ISO 8601 text |
| `timedelta` | ISO 8601 duration, `"P1DT2H3M4.5S"` |
| `Decimal`, `UUID` | text |
| `bytes` | base64 text |
| `tuple`, `deque`, `range` | array |
| `set`, `frozenset` | array: numbers in order, then the rest by its text |
| `Enum` | its value |
| artifact | object: `handle`, `name`, `mime`, `bytes` |
| dataclass, pydantic model | object |
| a key that is not text | its JSON text: `1` is `"1"`, `None` is `"null"`, `(1, 2)` is `"[1,2]"` |
| a mapping where two keys would have one text | array of `[key, value]` |
"""

from __future__ import annotations

import base64
import collections
import dataclasses
import datetime as dt
import decimal
import enum
import json
import math
import uuid
from collections.abc import Callable, Iterable, Mapping, MappingView
from typing import cast

from pydantic import BaseModel

from isolith_runtime.guest.artifact import Artifact

JsonValue = None | bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"]

SAFE_INTEGER = 2**53 - 1
# Decimal text of a huge integer takes quadratic time, and CPython refuses to read it back; hexadecimal does neither.
_DECIMAL_BITS = 4096
_ARRAYS = (list, tuple, collections.deque, range, MappingView)


class NoJsonForm(TypeError):
    """A value of the host's that no rule covers; the message names its path, `$` being the whole."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.path = ""

    def __str__(self) -> str:
        return f"the value at ${self.path} {self.args[0]}"


def to_json_form(value: object, *, safe_integers: bool = False) -> JsonValue:
    """`value` by the rules of this module, ready for `json.dumps`. Raises `NoJsonForm`.

    With `safe_integers`, integers that JavaScript would round become text.
    """
    return _Writing(safe_integers=safe_integers).form(value)


def to_json_text(value: object, *, safe_integers: bool = False, indent: int | None = None) -> str:
    """The same as text. A lone surrogate is kept as its escape, so the text always encodes."""
    form = to_json_form(value, safe_integers=safe_integers)
    text = json.dumps(form, ensure_ascii=False, allow_nan=False, indent=indent)
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


@dataclasses.dataclass(frozen=True, slots=True)
class _Writing:
    safe_integers: bool

    def form(self, value: object) -> JsonValue:
        if value is None or type(value) is str or type(value) is bool:
            return value
        if isinstance(value, enum.Enum):
            return self.form(value.value)
        if isinstance(value, (int, float)):
            return self.number(value)
        if isinstance(value, _ARRAYS):
            return self.array(cast("Iterable[object]", value))
        if isinstance(value, Mapping):
            return self.mapping(cast("Mapping[object, object]", value))
        return self.other(value)

    def number(self, value: float) -> JsonValue:
        if isinstance(value, int):
            if value.bit_length() > _DECIMAL_BITS:
                return hex(value)
            return str(int(value)) if self.safe_integers and abs(value) > SAFE_INTEGER else int(value)
        if math.isfinite(value):
            return float(value)
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"

    def array(self, values: Iterable[object]) -> list[JsonValue]:
        written: list[JsonValue] = []
        try:
            for value in values:
                written.append(self.form(value))  # noqa: PERF401 - its length is the failing index
        except NoJsonForm as error:
            error.path = f"[{len(written)}]{error.path}"
            raise
        return written

    def mapping(self, values: Mapping[object, object]) -> JsonValue:
        written: dict[str, JsonValue] = {}
        for key, value in values.items():
            text = self.key(key)
            if text in written:
                return [[self.form(key), self.form(value)] for key, value in values.items()]
            try:
                written[text] = self.form(value)
            except NoJsonForm as error:
                error.path = f".{text}{error.path}"
                raise
        return written

    def key(self, key: object) -> str:
        form = self.form(key)
        return form if isinstance(form, str) else json.dumps(form, ensure_ascii=False, separators=(",", ":"))

    def other(self, value: object) -> JsonValue:
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, (set, frozenset)):
            return sorted(self.array(cast("Iterable[object]", value)), key=_order)
        for kind, write in _AS_TEXT:
            if isinstance(value, kind):
                return write(value)
        if isinstance(value, complex):
            return {"real": self.number(value.real), "imag": self.number(value.imag)}
        fields = _fields(value)
        if fields is not None:
            return self.mapping(fields)
        raise NoJsonForm(f"is a {type(value).__name__}, which has no JSON form: make it a dict, a list or text")


def _fields(value: object) -> Mapping[object, object] | None:
    """What is written of an object that has named parts."""
    if isinstance(value, Artifact):
        return {"handle": value.handle, "name": value.name, "mime": value.mime, "bytes": value.size}
    if isinstance(value, BaseModel):
        return cast("Mapping[object, object]", value.model_dump())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return None


def _order(item: JsonValue) -> tuple[bool, float, str]:
    """Numbers first, by size; the rest by its text. A set has no order of its own, the document must have one."""
    if isinstance(item, (int, float)):
        return False, item, ""
    return True, 0, item if isinstance(item, str) else json.dumps(item, sort_keys=True)


def _base64(value: bytes | bytearray | memoryview) -> str:
    return base64.b64encode(value).decode()


def _duration(value: dt.timedelta) -> str:
    """ISO 8601, as pydantic writes and reads it: a sign in front, days the largest unit."""
    sign, value = ("-", -value) if value.days < 0 else ("", value)
    minutes, seconds = divmod(value.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    fraction = f".{value.microseconds:06}".rstrip("0") if value.microseconds else ""
    days = f"{value.days}D" if value.days else ""
    time = (
        f"{hours}H" * bool(hours) + f"{minutes}M" * bool(minutes) + f"{seconds}{fraction}S" * bool(seconds or fraction)
    )
    if not time and not days:
        return "PT0S"
    return f"{sign}P{days}T{time}" if time else f"{sign}P{days}"


def _iso(value: dt.date | dt.time) -> str:
    return value.isoformat()


_AS_TEXT: tuple[tuple[tuple[type[object], ...], Callable[..., str]], ...] = (
    ((dt.date, dt.time), _iso),
    ((dt.timedelta,), _duration),
    ((decimal.Decimal, uuid.UUID), str),
    ((bytes, bytearray, memoryview), _base64),
)
