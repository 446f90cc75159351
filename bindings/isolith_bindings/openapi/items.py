"""An answer of many items taken apart: lines, records and events as a list, the parts of a multipart body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from isolith_bindings import json_text
from isolith_bindings.openapi import sequences
from isolith_bindings.openapi.bodies import kind_of
from isolith_bindings.openapi.media import SEQUENCES, kind, text_of
from isolith_bindings.openapi.parts import composing, is_no_text
from isolith_bindings.openapi.received import Received
from isolith_bindings.openapi.responses import is_several
from isolith_bindings.openapi.schemas import meant
from isolith_bindings.openapi.tree import is_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isolith_bindings.openapi.model import Media, Schema
    from isolith_bindings.openapi.received import ByName


def of_several(media: Media | None, told: str) -> bool:
    """Whether what came as the media type `told` is read as a list. Parts are, where the document lists them."""
    found = kind(told)
    if found in SEQUENCES:
        return media is None or kind_of(media) != "text"
    return found == "multipart" and media is not None and is_several(media)


def of_names(media: Media | None, told: str) -> bool:
    """Whether what came is read as a mapping: parts, where the document has them by their names."""
    return kind(told) == "multipart" and media is not None and media.named


@dataclass(frozen=True)
class Items:
    """Reads the items of one answer, in any thread; parts that are bytes have to be `kept`.

    `cut`: the answer has no end, and its last item may be half.
    """

    media: Media | None
    definitions: Mapping[str, Schema]
    cut: bool = False

    def read(self, content: bytes, told: str) -> list[object] | ByName:
        """All of them. Raises ValueError and RecursionError for what is not what it says it is."""
        if kind(told) != "multipart" or self.media is None:
            found = sequences.read(kind(told), text_of(content, told), cut=self.cut)
            return [_opened(each) for each in found] if self._has_data() else found
        received = Received(self.definitions, cut=self.cut)
        read = received.named if self.media.named else received.listed
        return read(content, told, self.media)

    def _has_data(self) -> bool:
        """Whether the document has events whose data are no text: some say the type of the JSON that is in there."""
        if self.media is None or kind_of(self.media) != "events":
            return False
        whole = meant(self.media.schema, self.definitions)
        each = whole if self.media.stream or not is_mapping(whole) else cast("Schema | None", whole.get("items"))
        said = [cast("dict[str, Schema]", one.get("properties") or {}) for one in composing(each, self.definitions)]
        data = [one["data"] for one in said if "data" in one]
        return bool(data) and all(is_no_text(one, self.definitions) for one in data)


def _opened(event: object) -> object:
    """An event with the JSON in its data in place of the text; what is no JSON stays text."""
    data = event.get("data") if is_mapping(event) else None
    if not is_mapping(event) or not isinstance(data, str):
        return event
    try:
        return {**event, "data": cast("object", json_text.loads(data))}
    except (ValueError, RecursionError):
        return event
