"""Type hints and signatures as text that a model reads."""

from __future__ import annotations

import enum
import reprlib
import types
import typing
from typing import Literal, Union, cast, get_args, get_origin

from isolith_bindings.names import did_you_mean
from isolith_bindings.schema.quoting import unmarked

if typing.TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

NO_DEFAULT = object()
"""Stands for "must be given" where None is a default like any other."""

_MAX_DEFAULT = 60
_MAX_BRIEF = 80
_MAX_BITS = 14_000
_PLAIN_DEFAULTS = (type(None), bool, int, float, str, bytes, tuple, list, dict, set, frozenset)


def render_hint(hint: object, within: tuple[object, ...] = ()) -> str:  # noqa: PLR0911 - one form of hint a line
    """A type hint without module names: `list[Contact] | None`. `within`: named tuples that it is written out in."""
    if hint is None or hint is type(None):
        return "None"
    if hint is Ellipsis:
        return "..."
    if isinstance(hint, str):
        return hint
    if isinstance(hint, list):
        return f"[{_listed(cast('list[object]', hint), within)}]"
    if isinstance(hint, enum.EnumMeta):
        # As a script writes it: an enum crosses as the value of its member.
        return f"Literal[{', '.join(map(_literal, cast('Iterable[enum.Enum]', hint)))}]"
    origin: object = get_origin(hint)
    if origin is None:
        return _tuple_of_fields(hint, within) or _name(hint)
    arguments: tuple[object, ...] = get_args(hint)
    if origin is typing.Annotated:
        return render_hint(arguments[0], within)
    if origin is Union or origin is types.UnionType:
        return " | ".join(render_hint(argument, within) for argument in arguments)
    if origin is Literal:
        return f"Literal[{', '.join(map(_literal, arguments))}]"
    return f"{_name(origin)}[{_listed(arguments, within) or '()'}]"


def render_signature(name: str, parameters: Iterable[tuple[str, object, object]], extra: object, result: object) -> str:
    """`async def NAME(*, a: int, b: str = 'x') -> R`. A hint or a result of NO_DEFAULT is not written.

    `parameters` are name, hint and default; `extra` is the hint of further keyword arguments, None if there are none.
    """
    parts = [_parameter(*parameter) for parameter in parameters]
    if parts:
        parts.insert(0, "*")
    if extra is not None:
        parts.append(_parameter("**others", extra, NO_DEFAULT))
    arrow = "" if result is NO_DEFAULT else f" -> {render_hint(result)}"
    return f"async def {name}({', '.join(parts)}){arrow}"


def _parameter(name: str, hint: object, default: object) -> str:
    if hint is NO_DEFAULT:
        return name if default is NO_DEFAULT else f"{name}={_default(default)}"
    shown = f"{name}: {render_hint(hint)}"
    return shown if default is NO_DEFAULT else f"{shown} = {_default(default)}"


def _default(value: object) -> str:
    if isinstance(value, enum.Enum):
        return repr(value.value)
    if not isinstance(value, _PLAIN_DEFAULTS):
        return "..."
    shown = repr(cast("object", value))
    return shown if len(shown) <= _MAX_DEFAULT else "..."


def _tuple_of_fields(hint: object, within: tuple[object, ...]) -> str | None:
    """A named tuple as it crosses, where the names of its items stay behind. One that holds itself ends in its name."""
    inside = (*within, hint)
    if not hasattr(hint, "_fields") or not isinstance(hint, type) or not issubclass(hint, tuple) or hint in within:
        return None
    try:
        fields = typing.get_type_hints(cast("type[object]", hint))
    except NameError:  # of a class inside a function
        return None
    return f"tuple[{_listed(fields.values(), inside)}]" if fields else None


def _literal(value: object) -> str:
    return repr(value.value) if isinstance(value, enum.Enum) else repr(value)


def _listed(hints: Iterable[object], within: tuple[object, ...]) -> str:
    return ", ".join(render_hint(hint, within) for hint in hints)


def _name(hint: object) -> str:
    name = getattr(hint, "__name__", None) or getattr(hint, "__forward_arg__", None)
    return name if isinstance(name, str) else str(hint).replace("typing.", "")


def first_paragraph(text: str) -> str:
    """The beginning of a description, on one line."""
    return " ".join(unmarked(text).strip().partition("\n\n")[0].split())


def signature_as(tool: str, name: str, signature: str) -> str:
    """The signature of the method `name` as a script calls it: under its connector's name."""
    text = signature.removeprefix("async ").removeprefix("def ")
    return f"{tool}{text[len(name) :]}" if text.startswith(f"{name}(") else text


def no_argument(tool: str, name: str, known: Iterable[str], *, others: bool = False) -> str:
    """That a method has no argument of that name, what it may have meant, and what there is. `others`: any as well."""
    known = list(known)
    close = did_you_mean(name, known)
    return f"{tool} has no argument `{name}`{'; ' + close if close else '.'} {takes_only(known, others=others)}"


def takes_only(known: Iterable[str], *, others: bool) -> str:
    """Which arguments a method takes, in a sentence without its end."""
    names = [*known, *(["others by any name"] if others else [])]
    return f"It takes: {one_of(names)}" if names else "It takes no arguments"


def one_of(names: Iterable[str] | Mapping[str, object], limit: int = 20) -> str:
    """Names in a row, the first `limit` of them."""
    listed = list(names)
    more = f" and {len(listed) - limit} more" if len(listed) > limit else ""
    return ", ".join(listed[:limit]) + more


def brief(value: object) -> str:
    """The beginning of what a script gave, as Python writes it; of any value, however large."""
    return _brief.repr(value)


def is_vast(value: object) -> bool:
    """Whether it is an integer of so many digits that Python does not write them."""
    return isinstance(value, int) and value.bit_length() > _MAX_BITS


class _Brief(reprlib.Repr):
    def repr_int(self, x: int, level: int) -> str:
        # Python writes no number of thousands of digits: reprlib raises, or from Python 3.14 on tells where it lies.
        return f"<int of {x.bit_length():,} bits>" if is_vast(x) else super().repr_int(x, level)


_brief = _Brief()
_brief.maxstring = _brief.maxother = _MAX_BRIEF
