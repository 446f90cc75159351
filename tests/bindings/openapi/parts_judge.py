"""Multipart bodies by position, judged by what a document says of them: python-multipart takes them apart, jsonschema reads.

Shares nothing with what wrote them. OpenAPI 3.2, "Encoding Multipart Media Types by Position" and "Encoding Object".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, cast

from jsonschema import Draft202012Validator
from python_multipart.multipart import MultipartParser, parse_options_header

Tree = Mapping[str, Any]
_OURS = {"content-type", "content-transfer-encoding"}


@dataclass(frozen=True)
class Sent:
    """One part: headers in lower case."""

    headers: dict[str, str]
    content: bytes


def taken_apart(content_type: str, body: bytes) -> list[Sent]:
    """The parts of a body, in order."""
    _, options = parse_options_header(content_type)
    found: list[Sent] = []
    head: list[tuple[bytes, bytes]] = []
    pieces: dict[str, bytes] = {"name": b"", "value": b"", "content": b""}

    def more(which: str) -> Any:  # noqa: ANN401 - a callback
        def take(data: bytes, start: int, end: int) -> None:
            pieces[which] += data[start:end]

        return take

    def end_header() -> None:
        head.append((pieces["name"], pieces["value"]))
        pieces["name"] = pieces["value"] = b""

    def end_part() -> None:
        headers = {name.decode("ascii").lower(): value.decode("ascii") for name, value in head}
        assert len(headers) == len(head), "a header stands twice"
        found.append(Sent(headers, pieces["content"]))
        head.clear()
        pieces["content"] = b""

    done: list[bool] = []
    parser = MultipartParser(
        options[b"boundary"],
        callbacks={
            "on_header_field": more("name"),
            "on_header_value": more("value"),
            "on_header_end": end_header,
            "on_part_data": more("content"),
            "on_part_end": end_part,
            "on_end": lambda: done.append(True),
        },
    )
    assert parser.write(body) == len(body)
    parser.finalize()
    assert done, "the last boundary is missing"
    return found


class Judge:
    """What is wrong with the multipart bodies of one document."""

    def __init__(self, document: Tree) -> None:
        self._document = document

    def problems(self, media: str, said: Tree, content_type: str, body: bytes) -> list[str]:
        """What does not fit the Media Type Object, or the Encoding Object of a part that is multipart itself."""
        schema = {"items": said["itemSchema"]} if "itemSchema" in said else said.get("schema", {})
        return list(self._body(media, said, schema, content_type, body))

    def _body(self, media: str, said: Tree, schema: Any, content_type: str, body: bytes) -> Iterator[str]:  # noqa: ANN401 - JSON
        if _essence(content_type) != _essence(media):
            yield f"the body is {content_type}, not {media}"
            return
        schema = self._meant(schema)
        parts = taken_apart(content_type, body)
        for keyword, wrong in (("minItems", len(parts).__lt__), ("maxItems", len(parts).__gt__)):
            if keyword in schema and wrong(schema[keyword]):
                yield f"{len(parts)} parts, {keyword} {schema[keyword]}"
        for at, part in enumerate(parts):
            each = _at(schema.get("prefixItems", []), at, schema.get("items", {}))
            encoding = _at(said.get("prefixEncoding", []), at, said.get("itemEncoding", {}))
            yield from (f"part {at}: {told}" for told in self._part(part, self._meant(each), encoding))

    def _part(self, part: Sent, schema: Any, encoding: Tree) -> Iterator[str]:  # noqa: ANN401 - JSON
        told = part.headers.get("content-type", "text/plain")
        types = [each.strip() for each in encoding.get("contentType", "").split(",") if each] or [_default(schema)]
        if not any(fnmatchcase(_essence(told), _essence(each)) for each in types):
            yield f"it is {told}: {', '.join(types)}"
        yield from self._headers(part, encoding)
        coded = schema.get("contentEncoding") if isinstance(schema, dict) else None
        if (part.headers.get("content-transfer-encoding") or None) != coded:
            yield f"its Content-Transfer-Encoding is not {coded}"
        if _essence(told).startswith("multipart/"):
            yield from self._body(told, encoding, schema, told, part.content)
        else:
            yield from self._wrong(schema, read(part, schema), "the content")

    def _headers(self, part: Sent, encoding: Tree) -> Iterator[str]:
        described = {name.lower(): self._meant(header) for name, header in encoding.get("headers", {}).items()}
        for name in part.headers.keys() - described.keys() - _OURS:
            yield f"nothing describes the header {name}"
        for name, header in described.items():
            if name not in _OURS and name not in part.headers and header.get("required"):
                yield f"the header {name} is missing"
            if name not in _OURS and name in part.headers:
                schema = self._meant(header.get("schema", {}))
                yield from self._wrong(schema, _of_header(part.headers[name], schema), f"the header {name}")

    def _wrong(self, schema: Any, value: object, what: str) -> Iterator[str]:  # noqa: ANN401 - JSON
        if isinstance(value, bytes):
            return
        whole = {**schema, "components": self._document.get("components", {})} if isinstance(schema, dict) else schema
        for error in Draft202012Validator(whole).iter_errors(cast("Any", value)):
            yield f"{what}: {error.message}"

    def _meant(self, schema: Any) -> Any:  # noqa: ANN401 - JSON
        while isinstance(schema, dict) and "$ref" in schema:
            found: Any = self._document
            for step in schema["$ref"].removeprefix("#/").split("/"):
                found = found[step]
            schema = found
        return schema


def read(part: Sent, schema: object) -> object:
    """The data in a part; bytes where the document says nothing that they could be."""
    told = _essence(part.headers.get("content-type", "text/plain"))
    if told == "application/json" or told.endswith("+json"):
        return cast("object", json.loads(part.content))
    kind = schema.get("type") if isinstance(schema, dict) else None
    if kind in {"integer", "number", "boolean"}:
        return cast("object", json.loads(part.content))
    return part.content.decode() if kind == "string" or told.startswith("text/") else part.content


def _of_header(text: str, schema: Tree) -> object:
    """A header in the style `simple`."""
    if schema.get("type") == "array":
        return [_of_header(each, schema.get("items", {})) for each in text.split(",")]
    return cast("object", json.loads(text)) if schema.get("type") in {"integer", "number", "boolean"} else text


def _default(schema: Any) -> str:  # noqa: ANN401 - JSON
    """The table of default types of the Encoding Object."""
    kind = schema.get("type") if isinstance(schema, dict) else None
    if kind in {"object", "array"}:
        return "application/json"
    if kind is None or (kind == "string" and "contentEncoding" in schema):
        return "application/octet-stream"
    return "text/plain"


def _at(first: list[Any], at: int, rest: Any) -> Any:  # noqa: ANN401 - JSON
    return first[at] if at < len(first) else rest


def _essence(media: str) -> str:
    return media.partition(";")[0].strip().lower()
