"""The image store with the real builder: Pyodide, the boot, and the engine's compiler."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isolith_runtime.engine import compile_image, config_fingerprint
from isolith_runtime.image.build import build_snapshot
from isolith_runtime.image.cache import Builder, ImageStore
from isolith_runtime.image.distribution import obtain

if TYPE_CHECKING:
    from pathlib import Path


def open_store(home: Path | None = None) -> ImageStore:
    """Return the user's image store; `home` in place of `$ISOLITH_HOME`. Nothing is read or made before it is used."""
    return ImageStore(Builder(obtain, build_snapshot, compile_image, config_fingerprint), home)
