"""The guest's image, ready to run: found in the store and verified, else unpacked from the wheel or built.

It is made in two steps, each kept under a key of all that goes into it (`fingerprint`, `folder`). Nothing is handed
out that was not seen to be whole, and ten processes that start at the same time build once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from isolith_runtime.image import fingerprint
from isolith_runtime.image.bundle import Bundle, Manifest
from isolith_runtime.image.folder import StoreFolder
from isolith_runtime.image.private import open_private
from isolith_runtime.image.progress import Progress, Stage, silent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from isolith_runtime.image.distribution import Distribution
    from isolith_runtime.image.sealed import Record

Variant = Literal["epoch", "fuel"]
"""How an image is metered: by epochs (the default), or by counting fuel, which is exact and slower."""


class Snapshot(Protocol):
    """A booted guest as a module, and what the isolate has to know about it; `meta` has to have a JSON form."""

    @property
    def wasm(self) -> bytes: ...  # noqa: D102
    @property
    def meta(self) -> Mapping[str, object]: ...  # noqa: D102


@dataclass(frozen=True)
class Builder:
    """The work itself; `builder.open_store` brings the real one."""

    obtain: Callable[[Path, Progress], Distribution]
    build_snapshot: Callable[[Distribution, Progress], Snapshot]
    compile_image: Callable[[bytes, Variant], bytes]
    config_fingerprint: Callable[[Variant], str]


@dataclass(frozen=True)
class ImageFiles:
    """A verified image: `compiled` may be deserialised now. It stays until `clear`, or until four others were used."""

    compiled: Path
    meta: Mapping[str, object]
    snapshot_key: str
    compiled_key: str


@dataclass(frozen=True)
class ImageInfo:
    """What the store has for this isolith on this machine; no `image`: it has to be built, or compiled if `bundled`."""

    folder: Path
    image: ImageFiles | None
    created: str | None
    bundled: bool
    total_bytes: int


class ImageStore:
    """The images of one user. Safe to use from any number of threads and processes."""

    def __init__(self, builder: Builder, home: Path | None = None, bundle: Bundle | None = None) -> None:
        self.folder = StoreFolder(home)
        self._builder = builder
        self._bundle = bundle or Bundle()

    def ensure(self, progress: Progress = silent, variant: Variant = "epoch") -> ImageFiles:
        """Return a verified image: at once, or after 20 to 60 seconds the first time. Blocks.

        Raises `UnsafeStoreError` if another user could have written in the store, `DistributionError` if Pyodide
        cannot be obtained, `ImageBuildError`, or `ImageStoreError`.
        """
        with self.folder.open():
            if found := self._find(variant):
                return found
            with self.folder.building(progress) as workdir:
                # Whoever held the lock before may have built it.
                return self._find(variant) or self._build(variant, workdir, progress)

    def info(self, variant: Variant = "epoch") -> ImageInfo:
        """Look, without building or waiting."""
        with self.folder.open_to_look():
            image = self._find(variant)
            record = self.folder.compiled(image.compiled_key).read_record() if image else None
            return ImageInfo(
                folder=self.folder.root,
                image=image,
                created=record.created if record else None,
                bundled=self._wanted()[1] is not None,
                total_bytes=self.folder.total_bytes(),
            )

    def clear(self, progress: Progress = silent) -> int:
        """Remove all images, those of other versions too; return the bytes freed. Isolates that run go on."""
        with self.folder.open():
            before = self.folder.total_bytes()
            self.folder.clear(progress)
            return before - self.folder.total_bytes()

    def bundle(self, target: Bundle, progress: Progress = silent) -> Path:
        """Put the snapshot where a wheel will carry it, building it if need be; return the folder.

        What is bundled already is not looked at: this is how it is brought up to date.
        """
        inputs = fingerprint.build_inputs()
        key = fingerprint.snapshot_key(inputs)
        with self.folder.open(), self.folder.building(progress) as workdir:
            record = self.folder.snapshot(key).verify() or self._build_snapshot(key, workdir, progress)
            manifest = Manifest(key=key, inputs=inputs, sha256=record.sha256, size=record.size, meta=record.meta)
            return target.write(manifest, self._wasm(key))

    def _find(self, variant: Variant) -> ImageFiles | None:
        key, _ = self._wanted()
        snapshot = self.folder.snapshot(key)
        record = snapshot.read_record()
        if record is None:
            return None
        compiled_key = self._compiled_key(record, variant)
        compiled = self.folder.compiled(compiled_key)
        if compiled.verify() is None:
            return None
        snapshot.touch()
        compiled.touch()
        return ImageFiles(compiled.data, record.meta, key, compiled_key)

    def _build(self, variant: Variant, workdir: Path, progress: Progress) -> ImageFiles:
        key, manifest = self._wanted()
        record = self.folder.snapshot(key).verify()
        if record is None and manifest is not None:
            record = self._unpack(manifest, workdir, progress)
        if record is None:
            record = self._build_snapshot(key, workdir, progress)
        compiled_key = self._compiled_key(record, variant)
        compiled = self.folder.compiled(compiled_key)
        progress(Stage.COMPILE, 0.0)
        image = self._builder.compile_image(self._wasm(key), variant)
        compiled.write(image, {"snapshot": key, "variant": variant}, workdir)
        progress(Stage.COMPILE, 1.0)
        self.folder.prune()
        return ImageFiles(compiled.data, record.meta, key, compiled_key)

    def _build_snapshot(self, key: str, workdir: Path, progress: Progress) -> Record:
        downloads = workdir / "downloads"
        downloads.mkdir(mode=0o700)
        distribution = self._builder.obtain(downloads, progress)
        built = self._builder.build_snapshot(distribution, progress)
        return self.folder.snapshot(key).write(built.wasm, built.meta, workdir)

    def _unpack(self, manifest: Manifest, workdir: Path, progress: Progress) -> Record | None:
        progress(Stage.UNPACK, 0.0)
        wasm = self._bundle.unpack(manifest)
        if wasm is None:
            return None
        record = self.folder.snapshot(manifest.key).write(wasm, manifest.meta, workdir)
        progress(Stage.UNPACK, 1.0)
        return record

    def _wasm(self, key: str) -> bytes:
        with open_private(self.folder.snapshot(key).data) as file:
            return file.read()

    def _wanted(self) -> tuple[str, Manifest | None]:
        # A bundle of these very sources wins, whichever time zone data it has: it needs no build.
        inputs = fingerprint.build_inputs()
        manifest = self._bundle.manifest(inputs)
        return (manifest.key if manifest else fingerprint.snapshot_key(inputs)), manifest

    def _compiled_key(self, record: Record, variant: Variant) -> str:
        return fingerprint.compiled_key(record.sha256, self._builder.config_fingerprint(variant), variant)
