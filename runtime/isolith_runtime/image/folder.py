"""The folder that keeps images: its layout, its privacy, its lock.

    HOME/images/snapshots/KEY/{snapshot.wasm, meta.json}   the same on every machine; KEY: what it was built from
    HOME/images/compiled/KEY.cwasm, KEY.json               for this CPU, wasmtime and engine config
    HOME/images/work/                                      of the one build under way; leavings go with the next

HOME is `$ISOLITH_HOME`, else the user's cache folder.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout
from platformdirs import user_cache_dir

from isolith_runtime.errors import ImageStoreError
from isolith_runtime.image.private import make_private_directory, refuse_unsafe
from isolith_runtime.image.progress import Progress, Stage
from isolith_runtime.image.sealed import SealedFile

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

_WAIT_S = 1800.0
_KEPT = 4
"""So many snapshots and so many compiled images stay; of the rest, those not used for longest go."""


class StoreFolder:
    """Paths and locking; every method may raise `ImageStoreError`, which says what to do."""

    def __init__(self, home: Path | None = None) -> None:
        chosen = home or os.environ.get("ISOLITH_HOME") or user_cache_dir("isolith", appauthor=False)
        # A home that is itself a link is the user's wish; links inside it are refused.
        self.home = Path(chosen).expanduser().resolve()
        self.root = self.home / "images"
        self._snapshots, self._compiled, self._work = (self.root / name for name in ("snapshots", "compiled", "work"))

    def snapshot(self, key: str) -> SealedFile:
        """The snapshot of that key, there or not."""
        return SealedFile(self._snapshots / key / "snapshot.wasm", self._snapshots / key / "meta.json")

    def compiled(self, key: str) -> SealedFile:
        """The compiled image of that key, there or not."""
        return SealedFile(self._compiled / f"{key}.cwasm", self._compiled / f"{key}.json")

    @contextmanager
    def open(self) -> Generator[None]:
        """Make the folders, private, or see that they are; inside, an `OSError` becomes an `ImageStoreError`."""
        with self._explained():
            self._check(make_private_directory)
            yield

    @contextmanager
    def open_to_look(self) -> Generator[None]:
        """As `open`, but nothing is made."""
        with self._explained():
            self._check(lambda folder: refuse_unsafe(folder) if os.path.lexists(folder) else None)
            yield

    @contextmanager
    def building(self, progress: Progress) -> Generator[Path]:
        """Be the only one who builds, in this and all processes; gives an empty folder to work in, removed after."""
        with self._locked(progress):
            self._empty_work()  # of a build that was killed
            self._work.mkdir(mode=0o700)
            try:
                yield self._work
            finally:
                self._empty_work()

    def prune(self) -> None:
        """Remove what was not used for longest, beyond a handful. Whoever runs it keeps it: it is mapped already."""
        snapshots = [self.snapshot(path.name) for path in self._snapshots.iterdir()]
        compiled = [self.compiled(path.stem) for path in self._compiled.glob("*.cwasm")]
        for group in (snapshots, compiled):
            for sealed in sorted(group, key=SealedFile.last_used, reverse=True)[_KEPT:]:
                sealed.remove()

    def clear(self, progress: Progress) -> None:
        """Remove all images, after the build under way."""
        with self._locked(progress):
            for folder in (self._compiled, self._snapshots, self._work):
                if folder.exists():
                    shutil.rmtree(folder)

    def total_bytes(self) -> int:
        """The size of all files in the store."""
        return sum(path.stat().st_size for path in self.root.rglob("*") if path.is_file())

    def _check(self, check: Callable[[Path], None]) -> None:
        for folder in (self.home, self.root, self._snapshots, self._compiled):
            check(folder)

    def _empty_work(self) -> None:
        if self._work.exists():
            shutil.rmtree(self._work)

    @contextmanager
    def _locked(self, progress: Progress) -> Generator[None]:
        # The system frees the lock when its holder dies, however it dies.
        lock = FileLock(self.root / "build.lock", mode=0o600)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            progress(Stage.WAIT, 0.0)
            self._wait_for(lock)
        try:
            yield
        finally:
            lock.release()

    def _wait_for(self, lock: FileLock) -> None:
        try:
            lock.acquire(timeout=_WAIT_S)
        except Timeout as error:
            raise ImageStoreError(
                f"another process has held {lock.lock_file} for {_WAIT_S / 60:.0f} minutes, which no build takes. "
                f"End it (`fuser {lock.lock_file}` names it) and try again."
            ) from error

    @contextmanager
    def _explained(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            raise ImageStoreError(
                f"the image store {self.root} cannot be used: {error}. "
                "Make it readable and writable for you, with 200 MB free, or set ISOLITH_HOME to a folder that is."
            ) from error
