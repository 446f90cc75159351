"""The caller's `input`, which a script reads and does not write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn


def _refuse(self: object, *_arguments: object, **_named: object) -> NoReturn:  # noqa: ARG001 - methods of two classes
    raise TypeError("`input` is read-only: work on a copy, such as dict(input) or list(input)")


class ReadOnlyDict(dict[object, object]):
    """A dict that cannot be changed. A copy of it, a deep one too, is a dict of the script's own."""

    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = __ior__ = _refuse

    def __reduce_ex__(self, _protocol: object) -> tuple[Callable[..., object], tuple[object]]:
        return dict, (dict(self),)


class ReadOnlyList(list[object]):
    """A list that cannot be changed. A copy of it, a deep one too, is a list of the script's own."""

    __setitem__ = __delitem__ = append = clear = extend = insert = pop = remove = _refuse
    reverse = sort = __iadd__ = __imul__ = _refuse

    def __reduce_ex__(self, _protocol: object) -> tuple[Callable[..., object], tuple[object]]:
        return list, (list(self),)


def freeze(value: Any) -> object:
    """The value with its dicts and lists made read-only, all the way down."""
    if type(value) is dict:
        return ReadOnlyDict({key: freeze(item) for key, item in value.items()})
    if type(value) is list:
        return ReadOnlyList([freeze(item) for item in value])
    if type(value) is tuple:
        return tuple(freeze(item) for item in value)
    return value
