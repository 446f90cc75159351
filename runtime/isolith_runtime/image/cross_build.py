"""Pyodide from the cross-build environment of pyodide-build, where the extra `isolith[image]` is installed.

Its command line is used, in a process of its own: that can be ended after a while, and keeps the user's own
cross-build environment as it is. The Python that runs it need not be the guest's (`--force`), since nothing is built.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from typing import TYPE_CHECKING

from isolith_runtime.errors import DistributionError
from isolith_runtime.image.command import run

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_COMMAND = (sys.executable, "-m", "pyodide_cli", "xbuildenv")
_LOOKUP_TIMEOUT_S = 15.0
_INSTALL_TIMEOUT_S = 600.0


def installed() -> bool:
    """Whether pyodide-build can be used by this Python."""
    return all(importlib.util.find_spec(name) is not None for name in ("pyodide_build", "pyodide_cli"))


def look_up(version: str, workdir: Path) -> None:
    """Raise `DistributionError` unless the list of releases can be read and has this one. Takes up to 15 seconds."""
    command = [*_COMMAND, "search", "--all", "--json"]
    listing = run(command, cwd=workdir, timeout_s=_LOOKUP_TIMEOUT_S, env=os.environ)
    try:
        known = {release["version"] for release in json.loads(listing)["environments"]}
    except (ValueError, TypeError, KeyError) as error:
        raise DistributionError("pyodide-build listed its releases in a form that is not understood") from error
    if version not in known:
        raise DistributionError(f"pyodide-build knows no release {version}")


def fetch(version: str, names: Iterable[str], workdir: Path) -> dict[str, bytes]:
    """Return the named files of that release. Takes up to ten minutes; 15 seconds if nothing is reached."""
    look_up(version, workdir)
    target = workdir / "xbuildenv"
    command = [*_COMMAND, "install", version, "--force", "--path", str(target)]
    run(command, cwd=workdir, timeout_s=_INSTALL_TIMEOUT_S, env=os.environ)
    folder = target / version / "xbuildenv" / "pyodide-root" / "dist"
    try:
        return {name: (folder / name).read_bytes() for name in names}
    except OSError as error:
        raise DistributionError(f"the cross-build environment of Pyodide {version} lacks a file: {error}") from error
