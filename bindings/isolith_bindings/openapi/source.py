"""Where a document is: a file, a resource of an installed package, or an address on an allowed host.

A place also says which other places its external `$ref` may lead to: below the folder of a file, inside the same
package, on the same origin. Anything else is refused, before it is opened.
"""

from __future__ import annotations

import importlib.resources
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from isolith_bindings.egress import Destinations, Origin, origin_of
from isolith_bindings.errors import CallError
from isolith_bindings.openapi.tree import MAX_BYTES, DocumentError

if TYPE_CHECKING:
    from collections.abc import Collection


@dataclass(frozen=True)
class FilePlace:
    """A file; its references may lead to files in the same folder or below it."""

    path: Path
    root: Path

    @property
    def name(self) -> str:
        """What errors call it, and what references in it are relative to."""
        return str(self.path)

    @property
    def inside(self) -> str:
        """What it is called within the documents: names no folder of this machine, for scripts read it."""
        return self.path.relative_to(self.root).as_posix()

    def read(self) -> bytes:
        """Its content. Raises DocumentError."""
        try:
            if self.path.stat().st_size > MAX_BYTES:
                raise DocumentError(f"{self.inside} is larger than {MAX_BYTES:,} bytes")
            return self.path.read_bytes()
        except OSError as error:
            raise DocumentError(f"{self.inside} cannot be read: {error.strerror or error}") from None

    def join(self, reference: str) -> FilePlace:
        """Where a reference leads. Raises DocumentError where that is not allowed."""
        if _parsed(reference).scheme or reference.startswith("//"):
            raise DocumentError(f"`$ref` to {reference}: a document from a file may only refer to files beside it")
        target = (self.path.parent / unquote(reference)).resolve()
        if not target.is_relative_to(self.root):
            raise DocumentError(f"`$ref` to {reference} leads out of the folder of the document")
        return FilePlace(target, self.root)


@dataclass(frozen=True)
class PackagePlace:
    """A file inside an installed package; its references may lead to files of the same package."""

    package: str
    path: PurePosixPath

    @property
    def name(self) -> str:
        """`package:PACKAGE/PATH`."""
        return f"package:{self.package}/{self.path}"

    @property
    def inside(self) -> str:
        """What it is called within the documents."""
        return self.name

    def read(self) -> bytes:
        """Its content. Raises DocumentError."""
        try:
            return importlib.resources.files(self.package).joinpath(*self.path.parts).read_bytes()
        except (ModuleNotFoundError, OSError, TypeError, ValueError) as error:
            raise DocumentError(f"{self.name} cannot be read: {error}") from None

    def join(self, reference: str) -> PackagePlace:
        """Where a reference leads. Raises DocumentError where that is not allowed."""
        parts: list[str] = []
        for part in (self.path.parent / unquote(reference)).parts:
            if part == ".." and parts:
                parts.pop()
            elif part in {"..", "/"} or _parsed(reference).scheme:
                raise DocumentError(f"`$ref` to {reference} leads out of the package {self.package}")
            else:
                parts.append(part)
        return PackagePlace(self.package, PurePosixPath(*parts))


@dataclass(frozen=True)
class WebPlace:
    """An address; its references may lead to the same origin and to the destinations that were allowed."""

    url: str
    allowed: Destinations = field(default_factory=lambda: Destinations(()))

    @property
    def name(self) -> str:
        """The address, without what may be a secret in it."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}"

    @property
    def inside(self) -> str:
        """What it is called within the documents."""
        return self.name

    def join(self, reference: str) -> WebPlace:
        """Where a reference leads. Raises DocumentError where that is not allowed."""
        _parsed(reference)
        target = urljoin(self.url, reference)
        origin = _origin(target, reference)
        if origin != _origin(self.url, self.name) and not self.allowed.permits(origin):
            raise DocumentError(f"`$ref` to {reference} leads to another host: name {origin} in `allow` to read it")
        return WebPlace(target, self.allowed)


Place = FilePlace | PackagePlace | WebPlace


def place_of(source: str | Path, allowed: Collection[str] = ()) -> Place:
    """What a source means: `https://...`, `package:NAME/PATH`, or the path of a file. Raises DocumentError."""
    text = str(source)
    if isinstance(source, str) and text.partition("://")[0] in {"http", "https"}:
        return WebPlace(text, _destinations(allowed))
    if isinstance(source, str) and text.startswith("package:"):
        package, _, path = text.removeprefix("package:").partition("/")
        if not (package and path):
            raise DocumentError(f"{text}: a package resource is written package:NAME/PATH")
        return PackagePlace(package, PurePosixPath(path))
    file = Path(source).expanduser().resolve()
    return FilePlace(file, file.parent)


def _parsed(reference: str) -> SplitResult:
    """The parts of a reference. Raises DocumentError for what is none, such as brackets around no address."""
    try:
        return urlsplit(reference)
    except ValueError as error:
        raise DocumentError(f"`$ref` to {reference!r:.80} is no reference") from error


def _origin(url: str, reference: str) -> Origin:
    """The origin that a reference leads to. Raises DocumentError for what is none, such as a `file:`."""
    try:
        return origin_of(url)
    except CallError as error:
        raise DocumentError(f"`$ref` to {reference!r:.80} cannot be read: {error.message}") from None


def _destinations(allowed: Collection[str]) -> Destinations:
    """What `allow` means, here as for calls. Raises DocumentError."""
    try:
        return Destinations.parse(allowed)
    except ValueError as error:
        raise DocumentError(str(error)) from None
