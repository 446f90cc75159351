"""From a source to its operations: read, collected and compiled, or as they were kept from the time before."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio.to_thread

from isolith_bindings.openapi.document import Content, base_url, collect, digest_of, fetch_place
from isolith_bindings.openapi.operations import compile_document
from isolith_bindings.openapi.signatures import Signatures
from isolith_bindings.openapi.source import FilePlace, PackagePlace, Place, WebPlace, place_of
from isolith_bindings.openapi.tree import DocumentError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping

    from isolith_bindings.openapi.cache import Cache
    from isolith_bindings.openapi.model import Api
    from isolith_bindings.openapi.servers import Whereabouts

_PLAIN_STEMS = frozenset(
    {"openapi", "swagger", "api", "index", "api-docs", "spec", "schema", "description", "doc", "docs", "swagger-ui"}
)
_PLAIN_LABELS = frozenset({"www", "api", "apis", "raw", "docs", "developer", "static"})


@dataclass(frozen=True)
class Loader:
    """Where a document is, or its content itself, and who reads addresses."""

    place: Place | None
    given: bytes | None = None

    @classmethod
    def of(cls, source: str | Path | Mapping[str, object], allowed: Collection[str] = ()) -> Loader:
        """For a path, an address, `package:NAME/PATH`, or a document that was read already. Raises DocumentError."""
        if isinstance(source, (str, Path)):
            return cls(place_of(source, allowed))
        try:
            return cls(None, json.dumps(source).encode())
        except (TypeError, ValueError, RecursionError) as error:
            raise DocumentError(f"the document that was given is no JSON: {error}") from None

    @property
    def name(self) -> str:
        """What errors call the document."""
        return self.place.name if self.place else "the document"

    async def load(
        self, where: Whereabouts, cache: Cache | None, fetch: Callable[[str], Awaitable[bytes]] | None
    ) -> tuple[Api, Signatures]:
        """The operations and their signatures. Raises DocumentError where the document cannot be read at all."""
        content = self.given
        if content is None and self.place is not None:
            content = await fetch_place(self.place, fetch)
        first = Content(self.place, content or b"")
        where = replace(where, base=base_url(self.place))
        kept = await anyio.to_thread.run_sync(cache.load, first.digest, where) if cache else None
        if cache and kept is not None and await self._is_fresh(kept, fetch):
            known = await anyio.to_thread.run_sync(cache.load_signatures, first.digest, where)
            return kept, Signatures(kept, known, partial(cache.store_signatures, first.digest, where))
        document = await collect(first, fetch)
        api = await anyio.to_thread.run_sync(compile_document, document, where)
        # What could not be read may be there the next time, or be allowed: that does not show in what was read.
        if cache is None or document.references.refused:
            return api, Signatures(api)
        await anyio.to_thread.run_sync(cache.store, first.digest, where, api)
        return api, Signatures(api, keep=partial(cache.store_signatures, first.digest, where))

    async def _is_fresh(self, kept: Api, fetch: Callable[[str], Awaitable[bytes]] | None) -> bool:
        """Whether the documents that it refers to are still the same."""
        for address, digest in kept.digests.items():
            place = _like(self.place, address)
            try:
                content = await fetch_place(place, fetch) if place else b""
            except DocumentError:
                return False
            if digest_of(content) != digest:
                return False
        return True


def _like(first: Place | None, address: str) -> Place | None:
    """The place of a document that the first one refers to."""
    if isinstance(first, FilePlace):
        return FilePlace(Path(address), first.root)
    if isinstance(first, WebPlace):
        return replace(first, url=address)
    if isinstance(first, PackagePlace):
        return place_of(address)
    return None


def name_of(place: Place | None, title: str = "") -> str:
    """What a connector is called that was given no name: like its file, or like its host."""
    if isinstance(place, WebPlace):
        parts = urlsplit(place.url)
        stem = Path(parts.path).stem
        labels = [label for label in (parts.hostname or "").split(".") if label not in _PLAIN_LABELS]
        host = labels[-2] if len(labels) > 1 and not labels[-1].isdigit() else "api"
        return host if not stem or stem.lower() in _PLAIN_STEMS else stem
    if isinstance(place, FilePlace):
        return place.path.parent.name if place.path.stem.lower() in _PLAIN_STEMS else place.path.stem
    if isinstance(place, PackagePlace):
        return place.package.rpartition(".")[2] if place.path.stem.lower() in _PLAIN_STEMS else place.path.stem
    return title or "api"
