"""What a document came to, kept in a private folder, so that a large one is ready at once the second time.

An entry is found by the document's bytes, by where the API was said to be, and by the code that made it: any change of
these makes another entry. It is JSON, checked as it is read; what does not fit is made anew. Nothing secret is in it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from isolith_bindings.openapi.model import Api

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isolith_bindings.openapi.servers import Whereabouts

MAX_ENTRIES = 64
"""Entries of a folder; the oldest make room."""
_SIGNATURES = ".signatures"


class Cache:
    """Entries in one folder, which has to be private to the user: the host gives it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, digest: str, where: Whereabouts) -> Api | None:
        """What a document of this digest came to; None where that is not known. Never raises."""
        try:
            return _adapter().validate_json(self._path(digest, where).read_bytes())
        except (OSError, ValidationError):
            return None

    def store(self, digest: str, where: Whereabouts, api: Api) -> None:
        """Keep it. A folder that cannot be written to is no reason to fail."""
        self._write(self._path(digest, where), _adapter().dump_json(api))

    def load_signatures(self, digest: str, where: Whereabouts) -> dict[str, str]:
        """Those that were written of it so far, by the id of the operation. Never raises."""
        try:
            return _texts().validate_json(self._path(digest, where, _SIGNATURES).read_bytes())
        except (OSError, ValidationError):
            return {}

    def store_signatures(self, digest: str, where: Whereabouts, signatures: Mapping[str, str]) -> None:
        """Keep them, beside what they belong to."""
        self._write(self._path(digest, where, _SIGNATURES), _texts().dump_json(dict(signatures)))

    def _write(self, path: Path, content: bytes) -> None:
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, name = tempfile.mkstemp(dir=self._folder, prefix=".new-")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(content)
                Path(name).replace(path)
            except OSError:
                Path(name).unlink(missing_ok=True)
            self._make_room()

    def _path(self, digest: str, where: Whereabouts, suffix: str = ".json") -> Path:
        told = json.dumps([digest, shape(), asdict(where)], sort_keys=True)
        return self._folder / f"{hashlib.sha256(told.encode()).hexdigest()}{suffix}"

    def _make_room(self) -> None:
        entries = sorted(self._folder.glob("*.json"), key=lambda path: path.stat().st_mtime)
        for path in entries[:-MAX_ENTRIES]:
            path.unlink(missing_ok=True)
            path.with_suffix(_SIGNATURES).unlink(missing_ok=True)


@functools.cache
def shape() -> str:
    """A digest of the code that makes what is kept: another code, another entry."""
    found = hashlib.sha256()
    here = Path(__file__).parent
    for path in sorted([*here.glob("*.py"), *here.with_name("schema").glob("*.py")]):
        found.update(path.read_bytes())
    return found.hexdigest()


@functools.cache
def _adapter() -> TypeAdapter[Api]:
    return TypeAdapter(Api)


@functools.cache
def _texts() -> TypeAdapter[dict[str, str]]:
    return TypeAdapter(dict[str, str])
