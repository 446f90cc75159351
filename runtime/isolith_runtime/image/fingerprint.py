"""What an image is made from, as keys: another input is another key, so nothing stale can be found."""

from __future__ import annotations

import hashlib
import json
import platform
from importlib.metadata import version
from pathlib import Path

from isolith_runtime.image.distribution import FILES, PYODIDE_VERSION

_IMAGE = Path(__file__).parent
_GUEST = _IMAGE.parent / "guest"
KEEPING_FILES = {
    "__init__.py", "builder.py", "bundle.py", "cache.py", "command.py", "cross_build.py", "distribution.py",
    "doctor.py", "fingerprint.py", "folder.py", "npm.py", "private.py", "progress.py", "sealed.py",
}  # fmt: skip
"""Every other source of this folder shapes the snapshot: a new file counts until it is named here."""
_CPU_LINES = ("model name", "flags", "CPU implementer", "CPU part", "Features")


def build_inputs() -> str:
    """Digest of all the snapshot is made from, but for the time zone data, which a bundled snapshot brings along."""
    sources = [path for path in sorted(_IMAGE.glob("*.py")) if path.name not in KEEPING_FILES]
    sources += sorted(_GUEST.rglob("*.py"))
    digests = [
        [path.relative_to(_IMAGE.parent).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest()] for path in sources
    ]
    return _digest(PYODIDE_VERSION, [[name, pin.sha256] for name, pin in FILES.items()], digests)


def snapshot_key(inputs: str) -> str:
    """Key of the snapshot built here from these inputs."""
    return _digest(inputs, version("tzdata"))


def compiled_key(snapshot_sha256: str, config: str, variant: str) -> str:
    """Key of a snapshot compiled on this machine by this wasmtime with this engine config."""
    return _digest(snapshot_sha256, version("wasmtime"), config, cpu(), platform.machine(), platform.system(), variant)


def cpu() -> str:
    """The CPU as far as generated code depends on it; where little is said here, wasmtime refuses what does not fit."""
    try:
        with Path("/proc/cpuinfo").open() as file:
            head = file.read(16384)  # the first processor: reading all of them is slow on large machines
    except OSError:
        return platform.processor()
    first = head.split("\n\n", 1)[0].splitlines()
    return "\n".join(line for line in first if line.startswith(_CPU_LINES))


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
