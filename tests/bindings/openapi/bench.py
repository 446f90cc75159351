"""Short ways to a document, its operations and a started connector."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from tests.bindings.openapi.loopback import Answer, Server, serving

from isolith_bindings.connector import ArtifactRef, CallContext, Variant
from isolith_bindings.openapi import OpenApi
from isolith_bindings.openapi.document import Content, collect
from isolith_bindings.openapi.operations import compile_document
from isolith_bindings.openapi.servers import Whereabouts
from isolith_bindings.testing import RecordedProgress

if TYPE_CHECKING:
    from isolith_bindings.files import Stored
    from isolith_bindings.openapi.model import Api, Operation
    from isolith_bindings.openapi.source import Place

OK = {"200": {"description": "fine"}}


def a_document(paths: Mapping[str, object], version: str = "3.1.0", **more: object) -> dict[str, object]:
    info = {"title": "A test", "version": "1"}
    return {"openapi": version, "info": info, "servers": [{"url": "https://api.test"}], "paths": dict(paths), **more}


def compiled(content: bytes, place: Place | None = None, where: Whereabouts | None = None) -> Api:
    document = asyncio.run(collect(Content(place, content), None))
    return compile_document(document, where or Whereabouts())


def operations(api: Api) -> dict[str, Operation]:
    return {operation.name: operation for operation in api.operations}


class Kept:
    """Artifacts in memory."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}

    def keep(self, content: Stored, *, mime: str, name: str | None = None) -> ArtifactRef:
        handle = f"a{len(self.contents)}"
        self.contents[handle] = content if isinstance(content, bytes) else content.read()
        return ArtifactRef(handle, mime, len(content), name)

    def read(self, ref: ArtifactRef) -> bytes:
        return self.contents[ref.handle]


class Client:
    """A connector as a script would use it."""

    def __init__(self, connector: OpenApi) -> None:
        self.connector = connector
        self.artifacts = Kept()
        self.doubts: list[str] = []

    async def call(self, name: str, variant: Variant = "", cursor: object = None, /, **arguments: object) -> Any:  # noqa: ANN401
        context = CallContext(
            "e",
            "e.1",
            "p",
            "s",
            30,
            RecordedProgress(),
            self.artifacts,
            variant=variant,
            cursor=cursor,
            doubt=self.doubts.append,
        )
        return await self.connector.call(self.connector.methods[name], arguments, context)


@asynccontextmanager
async def connected(source: Any, answer: Answer, **options: Any) -> AsyncGenerator[tuple[Client, Server]]:  # noqa: ANN401
    """A client of a document, against a loopback server in place of its own."""
    async with serving(answer) as server:
        connector = OpenApi(source, name="api", server=server.url, **options)
        await connector.start()
        try:
            yield Client(connector), server
        finally:
            await connector.aclose()
