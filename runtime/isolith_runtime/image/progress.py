"""How far the making of an image has come: the stages, named once, and who is told."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum


class Stage(StrEnum):
    """What is going on, in words for a terminal."""

    WAIT = "waiting for another process that builds the image"
    OBTAIN = "obtaining Pyodide"
    PREPARE = "preparing the module"
    BOOT = "booting CPython"
    IMPORT = "importing the standard library"
    SNAPSHOT = "taking the snapshot"
    UNPACK = "unpacking the bundled snapshot"
    COMPILE = "compiling for this machine"


Progress = Callable[[Stage, float], None]
"""Told a stage and the fraction of it that is done, 0.0 to 1.0, on the thread that builds."""


def silent(stage: Stage, fraction: float) -> None:
    """Tell nobody."""
