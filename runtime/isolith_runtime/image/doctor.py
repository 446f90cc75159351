"""What is missing on this machine for an image to be made and used, and the command that mends it."""

from __future__ import annotations

import importlib
import os
import platform
import shutil
import sys
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from isolith_runtime.errors import DistributionError, ImageError
from isolith_runtime.image import cross_build, npm
from isolith_runtime.image.distribution import DIRECTORY_VARIABLE, PYODIDE_VERSION

if TYPE_CHECKING:
    from isolith_runtime.image.cache import ImageInfo, ImageStore

_OLDEST_PYTHON = (3, 11)
_NEEDED_BYTES = 300_000_000
"""For a build: downloads 15 MB, the snapshot up to 40, compiled up to 100, and the same again while it is written."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. `mend` is what to do, and empty if it is `ok`."""

    name: str
    ok: bool
    detail: str
    mend: str = ""


def examine(store: ImageStore) -> list[Finding]:
    """Look at everything the image needs. Changes nothing; asks the network only if an image has yet to be built."""
    findings = [_python(), _wasmtime()]
    try:
        info = store.info()
    except ImageError as error:
        return [*findings, Finding("image store", ok=False, detail=str(error), mend="Do what the message says.")]
    findings += [_store(info), _image(info)]
    if info.image is None:
        findings.append(_disk(info.folder))
        if not info.bundled:
            findings.append(_source())
    return findings


def _python() -> Finding:
    detail = f"{platform.python_implementation()} {platform.python_version()}"
    if sys.version_info >= _OLDEST_PYTHON and sys.implementation.name == "cpython":
        return Finding("python", ok=True, detail=detail)
    return Finding("python", ok=False, detail=detail, mend="Use CPython 3.11 or later.")


def _wasmtime() -> Finding:
    try:
        importlib.import_module("wasmtime")
    # The shared library in its wheel may not load at all on this system.
    except (ImportError, OSError, RuntimeError) as error:
        mend = "`pip install --force-reinstall 'wasmtime>=50,<51'` on a system it has wheels for."
        return Finding("wasmtime", ok=False, detail=f"cannot be imported: {error}", mend=mend)
    return Finding("wasmtime", ok=True, detail=version("wasmtime"))


def _store(info: ImageInfo) -> Finding:
    existing = _nearest(info.folder)
    detail = f"{info.folder}, {info.total_bytes / 1e6:.0f} MB"
    if os.access(existing, os.R_OK | os.W_OK | os.X_OK):
        return Finding("image store", ok=True, detail=f"{detail}, private and writable")
    mend = f"`chmod u+rwx {existing}`, or set ISOLITH_HOME to a folder that you can write."
    return Finding("image store", ok=False, detail=f"{detail}: {existing} is not writable", mend=mend)


def _image(info: ImageInfo) -> Finding:
    if info.image is not None:
        return Finding("image", ok=True, detail=f"built {info.created}, verified")
    detail = "bundled, not yet compiled on this machine" if info.bundled else "not built for this version and machine"
    return Finding("image", ok=False, detail=detail, mend="`isolith image build` (or the first `isolith run`).")


def _disk(folder: Path) -> Finding:
    free = shutil.disk_usage(_nearest(folder)).free
    detail = f"{free / 1e6:.0f} MB free, a build needs {_NEEDED_BYTES / 1e6:.0f}"
    if free >= _NEEDED_BYTES:
        return Finding("disk space", ok=True, detail=detail)
    mend = "Free some, or set ISOLITH_HOME to a folder on another disk."
    return Finding("disk space", ok=False, detail=detail, mend=mend)


def _source() -> Finding:
    name = f"Pyodide {PYODIDE_VERSION}"
    if folder := os.environ.get(DIRECTORY_VARIABLE):
        return Finding(name, ok=True, detail=f"from {folder} ({DIRECTORY_VARIABLE})")
    unreachable = _cross_build_reason()
    if unreachable is None:
        return Finding(name, ok=True, detail="through pyodide-build")
    if npm.available():
        return Finding(name, ok=True, detail=f"through npm ({unreachable})")
    mend = f"Install Node.js with npm, or set {DIRECTORY_VARIABLE}, or install a wheel that carries the image."
    if sys.version_info >= (3, 12) and not cross_build.installed():
        mend = f"`pip install 'isolith[image]'`. Or: {mend}"
    return Finding(name, ok=False, detail=f"no npm on the PATH; {unreachable}", mend=mend)


def _cross_build_reason() -> str | None:
    if not cross_build.installed():
        return "pyodide-build is not installed"
    with tempfile.TemporaryDirectory() as workdir:
        try:
            cross_build.look_up(PYODIDE_VERSION, Path(workdir))
        except DistributionError as error:
            return f"pyodide-build is installed, but cannot be used: {error}"
    return None


def _nearest(folder: Path) -> Path:
    return next(path for path in (folder, *folder.parents) if path.exists())
