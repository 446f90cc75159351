"""Compiling the standard library for the image; runs in a guest of the build only and is not in the snapshot."""

from __future__ import annotations

import marshal
import os
import sys
import zipfile
import zlib

from isolith_runtime.guest import importer

_SKIPPED = (
    "_pyodide pyodide ctypes multiprocessing test idlelib site-packages __phello__ turtledemo lib2to3 ensurepip "
    "antigravity this __hello__"
).split()


def compile_library(archive: str) -> int:
    """Send the code of every module of a zip of sources over the channel, one write a module: name, newline, code.

    Returns how many there were.
    """
    count = 0
    with zipfile.ZipFile(archive) as library:
        for path in sorted(library.namelist()):
            if not path.endswith(".py") or path.partition("/")[0].removesuffix(".py") in _SKIPPED:
                continue
            code = compile(library.read(path), f"<{path}>", "exec", dont_inherit=True)
            os.write(4, path.encode() + b"\n" + marshal.dumps(code))
            count += 1
    return count


def load(library: str, zones: str) -> None:
    """Put the modules that were not imported, and the time zones, where the importer finds them."""
    with zipfile.ZipFile(library) as archive:
        for path in archive.namelist():
            parts = path.removesuffix(".pyc").split("/")
            package = parts[-1] == "__init__"
            name = ".".join(parts[:-1] if package else parts)
            if name not in sys.modules and not name.startswith("isolith_runtime"):
                importer.carried[name] = (package, zlib.compress(archive.read(path)[16:], 6))
    with zipfile.ZipFile(zones) as archive:
        importer.zones.update({name: zlib.compress(archive.read(name), 6) for name in archive.namelist()})
