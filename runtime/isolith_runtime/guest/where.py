"""Where in the script something happens."""

from __future__ import annotations

import sys
from types import FrameType

SCRIPT = "<script>"
"""The file name of a script's code."""


def script_frame() -> FrameType | None:
    """The innermost frame of the script, if it is on the stack."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != SCRIPT:
        frame = frame.f_back
    return frame


def script_line() -> int:
    """The line the script is at; 0 where it is not on the stack."""
    frame = script_frame()
    return 0 if frame is None else frame.f_lineno
