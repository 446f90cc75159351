"""Where Pyodide comes from: its version, the two files that are used, and their digests.

Nothing else of the distribution is used, and nothing is used before its digest was seen to be right.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from isolith_runtime.errors import DigestError, DistributionError
from isolith_runtime.image import cross_build, npm
from isolith_runtime.image.progress import Progress, Stage

if TYPE_CHECKING:
    from collections.abc import Mapping

PYODIDE_VERSION = "314.0.7"
DIRECTORY_VARIABLE = "ISOLITH_PYODIDE_DIR"
"""Environment variable: a folder that holds the two files; then nothing is fetched."""


@dataclass(frozen=True)
class Pin:
    """What a file of the distribution has to be."""

    sha256: str
    size: int


# Of the files in `npm pack pyodide@314.0.7`, the package whose integrity the registry gives as
# sha512-0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A==
_WASM, _STDLIB = "pyodide.asm.wasm", "python_stdlib.zip"
FILES: Mapping[str, Pin] = {
    _WASM: Pin("cc36e3cab04fdfc9a63ff13eb52eae2b911bf46c025cc7b281f394bd3de1d5e6", 9_598_218),
    _STDLIB: Pin("fa1957e5777068fc4f7437f96d860ae2fbe9c19732ba06c84e004ec16dd7dd7a", 2_545_637),
}

_MEND = (
    "Install Node.js with npm and see that its registry can be reached, or `pip install 'isolith[image]'` "
    f"(Python 3.12 or later), or set {DIRECTORY_VARIABLE} to a folder with {_WASM} and {_STDLIB} "
    f"of Pyodide {PYODIDE_VERSION}, or install a wheel that carries the image."
)

_log = structlog.get_logger("isolith.image")


@dataclass(frozen=True)
class Distribution:
    """The two files, verified."""

    wasm: bytes
    stdlib_zip: bytes


def obtain(workdir: Path, progress: Progress) -> Distribution:
    """Return Pyodide: from `ISOLITH_PYODIDE_DIR` if set, else through pyodide-build if installed, else from npm.

    `workdir` is an empty private folder; what is left in it is the caller's to remove. Blocks while downloading.
    Raises `DistributionError` with the reason of each source that was tried.
    """
    progress(Stage.OBTAIN, 0.0)
    if folder := os.environ.get(DIRECTORY_VARIABLE):
        found = _from_folder(Path(folder).expanduser())
    else:
        found = _from_cross_build(workdir) or _from_npm(workdir)
    progress(Stage.OBTAIN, 1.0)
    return found


def verify(files: Mapping[str, bytes], source: str) -> Distribution:
    """Raise `DigestError` unless every file is the one this version was written for."""
    for name, pin in FILES.items():
        seen = hashlib.sha256(files[name]).hexdigest()
        if seen != pin.sha256:
            raise DigestError(
                f"{name} from {source} is not that of Pyodide {PYODIDE_VERSION}: "
                f"expected sha256 {pin.sha256}, got {seen}. "
                "It was not used. Fetch it again; if it stays so, do not trust the source."
            )
    return Distribution(wasm=files[_WASM], stdlib_zip=files[_STDLIB])


def _from_folder(folder: Path) -> Distribution:
    try:
        files = {name: (folder / name).read_bytes() for name in FILES}
    except OSError as error:
        raise DistributionError(
            f"{DIRECTORY_VARIABLE} is {folder}, where a file cannot be read: {error}. "
            f"It has to hold {_WASM} and {_STDLIB}; unset it to have them fetched."
        ) from error
    return verify(files, str(folder))


def _from_cross_build(workdir: Path) -> Distribution | None:
    if not cross_build.installed():
        return None
    try:
        return verify(cross_build.fetch(PYODIDE_VERSION, FILES, workdir), "pyodide-build")
    except DistributionError as error:
        _log.warning("pyodide-build could not provide Pyodide, trying npm", reason=str(error))
        return None


def _from_npm(workdir: Path) -> Distribution:
    try:
        files = npm.fetch(PYODIDE_VERSION, {name: pin.size for name, pin in FILES.items()}, workdir)
    except DistributionError as error:
        raise DistributionError(f"Pyodide {PYODIDE_VERSION} could not be obtained: {error}. {_MEND}") from error
    return verify(files, "npm")
