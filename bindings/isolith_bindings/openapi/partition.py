"""A multipart answer taken apart (RFC 2046, 5.1): its parts in order, each with its headers. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.message import Message
from email.parser import HeaderParser
from email.utils import collapse_rfc2231_value
from itertools import islice, pairwise

MAX_PARTS = 10_000
"""Parts of one answer."""

MAX_HEAD = 64 * 1024
"""Bytes of the head of a part."""

_HEAD_END = re.compile(rb"\r?\n\r?\n")
_LINE_END = re.compile(rb"\r?\n\Z")
_UNSAFE_IN_NAMES = re.compile(r"[^\w. ()+\-]+")


@dataclass(frozen=True)
class Section:
    """One part. Names of headers are as they came."""

    headers: tuple[tuple[str, str], ...]
    content: bytes

    def header(self, name: str) -> str:
        """The first of that name; empty where there is none."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")

    @property
    def name(self) -> str | None:
        """What its Content-Disposition calls it; None where it says nothing that can be read."""
        found = _disposition(self.header("content-disposition"), "name")
        # As browsers write what would end the name (WHATWG, multipart/form-data encoding).
        return found and found.replace("%22", '"').replace("%0D", "\r").replace("%0A", "\n")

    @property
    def filename(self) -> str | None:
        """The name of its file."""
        return filename(self.header("content-disposition"))


def boundary_of(media: str) -> str | None:
    """What divides the parts, as a Content-Type says it."""
    message = Message()
    message["content-type"] = media
    found = message.get_boundary()
    return found or None


def sections(content: bytes, boundary: str, *, cut: bool = False) -> list[Section]:
    """The parts between the boundaries. `cut`: it has no end, and what may be half a part is left out.

    Raises ValueError where there is no boundary, no last one, there are too many, or the head of one is too long.
    """
    escaped = re.escape(boundary.encode("latin-1", "replace"))
    mark = re.compile(rb"(?:\A|(?<=\n))--" + escaped + rb"(--)?[ \t]*(?:\r?\n|\Z)")
    marks = list(islice(mark.finditer(content), MAX_PARTS + 2))
    last = next((at for at, each in enumerate(marks) if each[1]), None)
    if last is None and not cut:
        raise ValueError("its last boundary is missing" if marks else "there is no boundary in it")
    marks = marks if last is None else marks[: last + 1]
    if len(marks) > MAX_PARTS + 1:
        raise ValueError(f"it has more than {MAX_PARTS:,} parts")
    # The line break before a boundary belongs to it.
    return [_section(_LINE_END.sub(b"", content[before.end() : after.start()])) for before, after in pairwise(marks)]


def _section(part: bytes) -> Section:
    if part[:1] in {b"\r", b"\n"}:
        return Section((), part.removeprefix(b"\r").removeprefix(b"\n"))
    ends = _HEAD_END.search(part, 0, MAX_HEAD)
    head, content = (part[: ends.end()], part[ends.end() :]) if ends else (part, b"")
    if len(head) > MAX_HEAD:
        raise ValueError(f"the head of a part is longer than {MAX_HEAD:,} bytes")
    # Names are UTF-8 (RFC 7578, 5.1), which the parser of mails would not read.
    message = HeaderParser().parsestr(head.decode("utf-8", "replace"))
    return Section(tuple((name, str(value)) for name, value in message.items()), content)


def filename(disposition: str) -> str | None:
    """The name that a server gives a file, as the last part of a path and without what no name should hold."""
    name = _disposition(disposition, "filename")
    if not name:
        return None
    last = re.split(r"[/\\]", name)[-1]
    return _UNSAFE_IN_NAMES.sub("_", last)[:120].strip(". ") or None


def _disposition(text: str, parameter: str) -> str | None:
    """A parameter of a Content-Disposition."""
    message = Message()
    message["content-disposition"] = text
    try:
        found = message.get_param(parameter, header="content-disposition")
        return None if found is None else collapse_rfc2231_value(found)
    except (ValueError, LookupError):
        return None
