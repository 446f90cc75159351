"""Where OAuth tokens are kept: in the host, by server, never where a script is."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Protocol, cast

from filelock import FileLock

from isolith_bindings import json_text

_OWNER_ONLY = 0o600


class TokenStore(Protocol):
    """Keeps a text for each key. The text is JSON, and secret."""

    async def load(self, key: str) -> str | None:
        """What was saved last; None if nothing was, or it was lost."""
        ...

    async def save(self, key: str, text: str) -> None:
        """Keep a text in the place of what was kept before."""
        ...


class MemoryTokenStore:
    """Until the process ends."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    async def load(self, key: str) -> str | None:
        """What was saved last."""
        return self._texts.get(key)

    async def save(self, key: str, text: str) -> None:
        """Keep a text."""
        self._texts[key] = text


class FileTokenStore:
    """In one file, that only its owner can read. Several processes may use it at a time."""

    def __init__(self, path: Path | str) -> None:
        self._path = Path(path)

    async def load(self, key: str) -> str | None:
        """What was saved last; None for a file that is not there or was written by something else."""
        return (await asyncio.to_thread(self._read)).get(key)

    async def save(self, key: str, text: str) -> None:
        """Keep a text. Raises OSError where the file cannot be written."""
        await asyncio.to_thread(self._save, key, text)

    def _read(self) -> dict[str, str]:
        try:
            found: object = json_text.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        entries = cast("dict[object, object]", found).items() if isinstance(found, dict) else ()
        return {key: text for key, text in entries if isinstance(key, str) and isinstance(text, str)}

    def _save(self, key: str, text: str) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{self._path}.lock", mode=_OWNER_ONLY):
            content = json.dumps({**self._read(), key: text}).encode()
            fresh = self._path.with_name(f"{self._path.name}.{os.getpid()}")
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _OWNER_ONLY)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            fresh.replace(self._path)
