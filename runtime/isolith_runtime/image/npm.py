"""Pyodide from the npm registry, with `npm pack`: no script of the package runs, nothing is unpacked to disk."""

from __future__ import annotations

import os
import shutil
import tarfile
import zlib
from typing import TYPE_CHECKING

from isolith_runtime.errors import DistributionError
from isolith_runtime.image.command import run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_TIMEOUT_S = 300.0
# npm on its own waits over a minute between tries when its registry is out of reach.
_OPTIONS = ("--ignore-scripts", "--loglevel=error", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000")


def available() -> bool:
    """Whether `npm` is on the PATH."""
    return shutil.which("npm") is not None


def fetch(version: str, sizes: Mapping[str, int], workdir: Path) -> dict[str, bytes]:
    """Return the named files of `pyodide@version`, each of exactly the size given. Takes up to five minutes.

    Raises `DistributionError` if npm is missing or fails, or the package is not what it should be.
    """
    program = shutil.which("npm")
    if program is None:
        raise DistributionError("npm is not on the PATH")
    command = [program, "pack", f"pyodide@{version}", *_OPTIONS]
    run(command, cwd=workdir, timeout_s=_TIMEOUT_S, env={**os.environ, "npm_config_update_notifier": "false"})
    packed = list(workdir.glob("*.tgz"))
    if len(packed) != 1:
        raise DistributionError(f"`npm pack pyodide@{version}` left {len(packed)} archives where one was expected")
    return _members(packed[0], sizes)


def _members(archive: Path, sizes: Mapping[str, int]) -> dict[str, bytes]:
    try:
        with tarfile.open(archive, "r:gz") as package:
            return {name: _member(package, f"package/{name}", size) for name, size in sizes.items()}
    # EOFError and zlib.error come from a cut or damaged gzip stream; tarfile passes them on.
    except (tarfile.TarError, OSError, EOFError, zlib.error, ValueError) as error:
        raise DistributionError(f"{archive.name} from npm is not a readable archive: {error}") from error


def _member(package: tarfile.TarFile, path: str, size: int) -> bytes:
    try:
        member = package.getmember(path)
    except KeyError:
        raise DistributionError(f"the npm package holds no {path}") from None
    content = package.extractfile(member) if member.isreg() else None
    # The size is looked at first, so that a hostile archive cannot fill the memory.
    if content is None or member.size != size:
        raise DistributionError(f"{path} in the npm package is not a file of {size} bytes")
    with content:
        return content.read()
