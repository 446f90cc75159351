"""What a script asks of the host itself: search, describe, keep an artifact."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeGuard

import anyio.to_thread

from isolith.run.artifacts import MAX_BYTES, ArtifactsFull, ArtifactStore
from isolith_bindings.errors import CallError
from isolith_runtime.guest.artifact import Artifact as Handle

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from isolith_bindings.catalog import Catalog


class HostServices:
    """The services of one execution. Raises CallError for what it does not know.

    `read_bytes`: how much of an artifact is read at a time at most, because it comes back as the result of a call.
    """

    def __init__(self, catalog: Catalog, artifacts: ArtifactStore, read_bytes: int = MAX_BYTES) -> None:
        self._catalog = catalog
        self._artifacts = artifacts
        self._read_bytes = min(read_bytes, MAX_BYTES)
        self._services: dict[str, Callable[[Mapping[str, object]], Awaitable[object]]] = {
            "search": self._search,
            "describe": self._describe,
            "artifact": self._artifact,
            "artifact.read": self._artifact_read,
        }

    async def call(self, name: str, arguments: Mapping[str, object]) -> object:
        """Perform one service."""
        service = self._services.get(name)
        if service is None:
            raise CallError("unknown_tool", f"there is no {name}(...)")
        try:
            return await service(arguments)
        except TypeError as error:
            raise CallError("invalid_arguments", f"{name}(...): {error}") from error

    async def _search(self, arguments: Mapping[str, object]) -> object:
        # Many new methods take a while to read.
        return await anyio.to_thread.run_sync(partial(self._catalog.search, **arguments))  # type: ignore[arg-type]

    async def _describe(self, arguments: Mapping[str, object]) -> object:
        # Types of many methods take a while to read.
        return await anyio.to_thread.run_sync(partial(self._catalog.describe, **arguments))  # type: ignore[arg-type]

    async def _artifact(self, arguments: Mapping[str, object]) -> object:
        content, mime, name = arguments.get("content"), arguments.get("mime"), arguments.get("name")
        if not isinstance(content, bytes) or not isinstance(mime, str) or not isinstance(name, str):
            message = "artifact(...) takes bytes or text, with a name and a mime type as text"
            raise CallError("invalid_arguments", message)
        try:
            return self._artifacts.known(self._artifacts.keep(content, mime=mime, name=name).handle)
        except ArtifactsFull as error:
            raise CallError("invalid_arguments", f"artifact(...): {error}") from error

    async def _artifact_read(self, arguments: Mapping[str, object]) -> object:
        found, offset, size = arguments.get("artifact"), arguments.get("offset"), arguments.get("size")
        if not isinstance(found, Handle) or not _is_count(offset) or not (size is None or _is_count(size)):
            raise CallError("invalid_arguments", "read(offset=0, size=None) takes whole numbers, 0 or more")
        known = self._artifacts.known(found.handle)
        if min(known.size - offset, known.size if size is None else size) > self._read_bytes:
            message = f"{self._read_bytes:,} bytes can be read at a time, and this artifact has {known.size:,}"
            raise CallError("invalid_arguments", message, hint="read it in pieces: `.read(offset, size)`")
        return self._artifacts.read(known.handle, offset, size)


def _is_count(value: object) -> TypeGuard[int]:
    return type(value) is int and value >= 0
