"""What can be read of an exception's way through the script: its frames, their names, what they called."""

from __future__ import annotations

from collections.abc import Iterator
from types import FrameType

from isolith_runtime.guest.where import SCRIPT

_WAITING = 0x80 | 0x200
"""The flags of code that awaits: CO_COROUTINE and CO_ASYNC_GENERATOR."""


def frames(error: BaseException) -> Iterator[FrameType]:
    """Every frame that the exception went through, outermost first."""
    tb = error.__traceback__
    while tb is not None:
        yield tb.tb_frame
        tb = tb.tb_next


def script_frames(error: BaseException) -> list[FrameType]:
    """Those of the script."""
    return [frame for frame in frames(error) if frame.f_code.co_filename == SCRIPT]


def names_seen(error: BaseException) -> dict[str, object]:
    """The names that the script's innermost failing code sees, with their values."""
    found = script_frames(error)
    return {**found[-1].f_globals, **found[-1].f_locals} if found else {}


def names_used(error: BaseException) -> set[str]:
    """The names that the script's innermost failing code uses, attributes among them."""
    found = script_frames(error)
    return set(found[-1].f_code.co_names) if found else set()


def raised_in(error: BaseException, function: str) -> FrameType | None:
    """The frame of a function of the library that the script's innermost code had called, if there is one."""
    found: FrameType | None = None
    for frame in frames(error):
        if frame.f_code.co_filename == SCRIPT:
            found = None
        elif frame.f_code.co_name == function:
            found = frame
    return found


def awaits(error: BaseException) -> bool:
    """Whether the script's failing code says `await`, or is called by what does."""
    return any(frame.f_code.co_flags & _WAITING for frame in script_frames(error))
