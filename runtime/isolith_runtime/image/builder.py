"""The image store with the real builder: Pyodide, the boot, and the engine's compiler."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isolith_runtime.engine import compile_image, config_fingerprint
from isolith_runtime.image.cache import Builder, ImageStore
from isolith_runtime.image.distribution import obtain

if TYPE_CHECKING:
    from pathlib import Path

    from isolith_runtime.image.cache import Snapshot
    from isolith_runtime.image.distribution import Distribution
    from isolith_runtime.image.progress import Progress


def open_store(home: Path | None = None) -> ImageStore:
    """Return the user's image store; `home` in place of `$ISOLITH_HOME`. Nothing is read or made before it is used."""
    return ImageStore(Builder(obtain, _build_snapshot, compile_image, config_fingerprint), home)


def _build_snapshot(distribution: Distribution, progress: Progress) -> Snapshot:
    from isolith_runtime.image.build import build_snapshot  # noqa: PLC0415 - what a machine needs once

    return build_snapshot(distribution, progress)
