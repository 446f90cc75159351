"""The frames that cross, both ways, as types. Bytes from a guest are hostile until `parse` has checked them.

A batch is a JSON list of frames, a frame a JSON list that begins with its name. Values inside are restored by the
codec, so a value can never look like a frame.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from isolith_runtime import json_bounds
from isolith_runtime.errors import ProtocolError
from isolith_runtime.guest import codec
from isolith_runtime.guest.keys import FLOOD

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_FRAMES = 2_000
"""In a batch; a guest of ours writes when it has a thousand."""
_LIGHT = 16 * 1024
"""Bytes of a batch that is not worth weighing."""
_MAX_NAME = 200
_MAX_LINE = 10_000_000
LEVELS = ("debug", "info", "warning", "error")
WARNINGS = ("not_a_script", "check", "cancelled", "exception")


@dataclass(frozen=True, slots=True)
class Call:
    """The script wants a method used. `line` is the script's own claim."""

    number: int
    connector: str
    method: str
    arguments: dict[str, object]
    line: int | None
    size: int
    """Bytes of its arguments where there is `text`, or where they are too many; else of the batch, which are more."""
    weight: int = 0
    """Its share of what that batch takes in the host's memory, where that is much."""
    text: str = ""
    """Its arguments as they cross, where that is much."""


@dataclass(frozen=True, slots=True)
class Cancel:
    """The script gave a call up."""

    number: int


@dataclass(frozen=True, slots=True)
class Log:
    """One line that was logged or printed."""

    level: str
    message: str
    attrs: dict[str, object]
    line: int | None


@dataclass(frozen=True, slots=True)
class Emit:
    """A value for whoever follows the run."""

    value: object
    size: int
    weight: int = 0
    """As of a call."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the script says it is."""

    done: float
    total: float | None
    text: str | None


@dataclass(frozen=True, slots=True)
class Warn:
    """Something to say of a line of the script. `kind` is one of `WARNINGS`."""

    kind: str
    message: str
    line: int | None


@dataclass(frozen=True, slots=True)
class Parked:
    """Nothing is ready. `delay`: seconds until the next timer, or None; `line`: where the script waits for it."""

    delay: float | None
    line: int | None


@dataclass(frozen=True, slots=True)
class Result:
    """The script's value. `size`: bytes of the batch it came in."""

    value: object
    type: str
    size: int


@dataclass(frozen=True, slots=True)
class Failure:
    """What ended the script, in the guest's words."""

    kind: str
    message: str
    line: int | None
    column: int | None
    hint: str | None
    tool: str | None
    retriable: bool
    traceback: str


Frame = Call | Cancel | Log | Emit | Progress | Warn | Parked | Result | Failure


def parse(batch: bytes) -> list[Frame]:
    """The frames of a batch. Raises ProtocolError for anything no guest of ours sends."""
    is_much = json_bounds.check(batch)
    try:
        items = codec.loads(batch)
    except (codec.Malformed, UnicodeDecodeError) as error:
        raise ProtocolError(FLOOD if str(error) == FLOOD else "a batch is not data") from None
    if not isinstance(items, list):
        raise ProtocolError("a batch is not a list of frames")
    frames = cast("list[object]", items)
    if len(frames) > MAX_FRAMES:
        raise ProtocolError(f"a batch of more than {MAX_FRAMES:,} frames")
    if is_much:
        _refuse_too_much(frames)
    found = [_frame(item, len(batch)) for item in frames]
    if len(batch) < _LIGHT:
        return found
    share = json_bounds.weight(batch) // len(found)
    return [_weighed(frame, share) for frame in found]


def _weighed(frame: Frame, share: int) -> Frame:
    """With what it takes. Arguments are written here, on the guest's time, and not where everybody waits for it."""
    if not isinstance(frame, Call):
        return replace(frame, weight=share) if isinstance(frame, Emit) else frame
    try:
        text = codec.dumps(frame.arguments)
    except (codec.NoDataForm, codec.TooLarge):
        return replace(frame, weight=share, size=sys.maxsize)
    return replace(frame, weight=share, size=len(text.encode()), text=text)


def _refuse_too_much(frames: list[object]) -> None:
    """What no encoder of ours writes could not be written again either. Text has two levels for one of some values."""
    try:
        for frame in frames:
            for part in cast("list[object]", frame) if isinstance(frame, list) else ():
                codec.encode(part)
    except (codec.NoDataForm, codec.TooLarge):
        raise ProtocolError(f"a value that is nested more than {codec.MAX_DEPTH} deep, or too large") from None


def _frame(item: object, size: int) -> Frame:
    if not isinstance(item, list) or not item:
        raise ProtocolError("a frame that is no list")
    name, *parts = cast("list[object]", item)
    if not isinstance(name, str) or name not in _PARSERS:
        raise ProtocolError("an unknown frame")
    count, parser = _PARSERS[name]
    if len(parts) != count:
        raise ProtocolError(f"a frame {name!r} of {len(parts)} parts")
    return parser(parts, size)


def _call(parts: list[object], size: int) -> Frame:
    number, connector, method, arguments, line = parts
    return Call(_number(number), _name(connector), _name(method), _mapping(arguments), _line(line), size)


def _log(parts: list[object], _size: int) -> Frame:
    level, message, attrs, line = parts
    if level not in LEVELS:
        raise ProtocolError("an unknown log level")
    return Log(str(level), _text(message), _mapping(attrs), _line(line))


def _progress(parts: list[object], _size: int) -> Frame:
    done, total, text = parts
    return Progress(_float(done), None if total is None else _float(total), None if text is None else _text(text))


def _warning(parts: list[object], _size: int) -> Frame:
    kind, message, line = parts
    if kind not in WARNINGS:
        raise ProtocolError("an unknown warning")
    return Warn(str(kind), _text(message), _line(line))


def _parked(parts: list[object], _size: int) -> Frame:
    delay, line = parts
    return Parked(None if delay is None else max(0.0, _float(delay)), _line(line))


def _failure(parts: list[object], _size: int) -> Frame:
    found = _mapping(parts[0])
    try:
        return Failure(
            kind=_text(found["kind"]),
            message=_text(found["message"]),
            line=_line(found["line"]),
            column=_line(found["column"]),
            hint=_optional(found["hint"]),
            tool=_optional(found["tool"]),
            retriable=found["retriable"] is True,
            traceback=_text(found["traceback"]),
        )
    except KeyError:
        raise ProtocolError("a failure without one of its parts") from None


_PARSERS: dict[str, tuple[int, Callable[[list[object], int], Frame]]] = {
    "call": (5, _call),
    "cancel": (1, lambda parts, _size: Cancel(_number(parts[0]))),
    "log": (4, _log),
    "emit": (1, lambda parts, size: Emit(parts[0], size)),
    "progress": (3, _progress),
    "warning": (3, _warning),
    "parked": (2, _parked),
    "result": (2, lambda parts, size: Result(parts[0], _text(parts[1]), size)),
    "failure": (1, _failure),
}


def _number(value: object) -> int:
    if type(value) is not int or not 0 < value < 2**31:
        raise ProtocolError("a call without a proper number")
    return value


def _name(value: object) -> str:
    if not isinstance(value, str) or len(value) > _MAX_NAME:
        raise ProtocolError("a name that is none")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ProtocolError("a text that is none")
    return value


def _optional(value: object) -> str | None:
    return None if value is None else _text(value)


def _line(value: object) -> int | None:
    return value if type(value) is int and 0 < value < _MAX_LINE else None


def _float(value: object) -> float:
    if type(value) not in {int, float} or not -1e15 < value < 1e15:  # type: ignore[operator]
        raise ProtocolError("a number that is none")
    return float(value)  # type: ignore[arg-type]


def _mapping(value: object) -> dict[str, object]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in cast("dict[object, object]", value)):
        raise ProtocolError("a mapping that is none")
    return cast("dict[str, object]", value)


def answer(number: int, value: object) -> str:
    """The frame that delivers a call's result. Raises NoDataForm or TooLarge."""
    return f'["answer",{number},{codec.dumps(value)}]'


def failure(number: int, error: dict[str, object]) -> str:
    """The frame that delivers a call's failure."""
    return f'["error",{number},{codec.dumps(error)}]'


def start(parts: dict[str, object]) -> str:
    """The frame that begins a run."""
    return f'["start",{codec.dumps(parts)}]'


def batch(frames: list[str]) -> bytes:
    """Frames as one batch for the guest."""
    return f"[{','.join(frames)}]".encode()
