"""From an operation and its arguments to the request: what goes where, and what cannot be sent and why."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from isolith_bindings.connector import ArtifactRef
from isolith_bindings.errors import CallError
from isolith_bindings.openapi.bodies import kind_of
from isolith_bindings.openapi.coded import coded
from isolith_bindings.openapi.media import covers, kind
from isolith_bindings.openapi.model import Encoding, Media
from isolith_bindings.openapi.places import said
from isolith_bindings.openapi.plan import RequestPlan
from isolith_bindings.openapi.responses import is_several, successful
from isolith_bindings.openapi.styles import UnsendableError, in_cookie, in_header, in_path, in_query
from isolith_bindings.openapi.wire import is_content, plain
from isolith_bindings.openapi.writing import form, write

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isolith_bindings.openapi.model import Operation, Parameter, Schema
    from isolith_bindings.openapi.multipart import Written
    from isolith_bindings.openapi.styles import Pairs
    from isolith_bindings.openapi.wire import ReadArtifact

_LITERAL = "/:@!$&'()*+,;=~%-._"
_SLASHES = re.compile(r"[/\\]")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True)
class Making:
    """What a request is made with beside its arguments. `server`: the address, without a slash at its end."""

    server: str
    definitions: Mapping[str, Schema]
    read: ReadArtifact


def make(operation: Operation, arguments: Mapping[str, object], making: Making) -> RequestPlan:
    """The request. Arguments are by their own names, and valid. Raises CallError `invalid_arguments`."""
    parts = _Parts(operation, making)
    for parameter in operation.parameters:
        value = arguments.get(parameter.argument)
        if value is not None:
            parts.add(parameter, value)
        elif parameter.required and parameter.location == "path":
            raise _refusal(operation, parameter, "it is part of the path and cannot be left out")
    written = _body(operation, arguments, making)
    return RequestPlan(
        operation=operation.name,
        method=operation.method,
        server=making.server,
        path=parts.path(),
        query=(*_fixed(operation, parts.query), *parts.query),
        headers=(("Accept", _accept(operation, arguments)), *parts.headers),
        cookies=tuple(parts.cookies),
        body=written.content if written else None,
        content_type=written.type if written else None,
        security=operation.security,
        endless=any(is_several(media) for answer in successful(operation.answers) for media in answer.media),
    )


class _Parts:
    """The parts of a request outside of its body, as they come together."""

    def __init__(self, operation: Operation, making: Making) -> None:
        self._operation, self._read, self._definitions = operation, making.read, making.definitions
        self._in_path: dict[str, str] = {}
        self.query: Pairs = []
        self.headers: list[tuple[str, str]] = []
        self.cookies: list[tuple[str, str]] = []

    def add(self, parameter: Parameter, value: object) -> None:
        """Write one parameter. Raises CallError."""
        try:
            written = coded(value, parameter.schema, self._definitions, self._read)
            data = self._in_form(parameter, plain(written, self._read))
            if parameter.location == "path":
                self._in_path[parameter.name] = _checked(in_path(parameter, data))
            elif parameter.location == "header" and parameter.name.lower() == "cookie":
                self.cookies += _cookies(in_header(parameter, data))
            elif parameter.location == "header":
                self.headers.append((parameter.name, in_header(parameter, data)))
            elif parameter.location == "cookie":
                self.cookies += in_cookie(parameter, data)
            else:
                self.query += in_query(parameter, data)
        except UnsendableError as error:
            raise _refusal(self._operation, parameter, str(error)) from None
        except UnicodeEncodeError:
            raise _refusal(self._operation, parameter, "it holds half of a surrogate pair, which is no text") from None

    def _in_form(self, parameter: Parameter, data: object) -> object:
        """Data as the text of a form, where the document has it written as one."""
        if parameter.media is None or kind(parameter.media) != "form" or isinstance(data, str):
            return data
        media = Media(parameter.media, parameter.schema, parameter.parts or Encoding())
        return form(media, data, self._read)

    def path(self) -> str:
        """The path, every placeholder filled in."""
        # `#` in a path only tells operations of one path apart; nothing of it is ever sent. A query is sent as such.
        pieces = _PLACEHOLDER.split(self._operation.path.partition("#")[0].partition("?")[0])
        filled = [
            self._in_path.get(piece, "") if index % 2 else quote(piece, safe=_LITERAL)
            for index, piece in enumerate(pieces)
        ]
        return "".join(filled)


def _cookies(text: str) -> list[tuple[str, str]]:
    """What some documents have as a header, as the cookies that are in it: others stand beside them."""
    pairs = [each.strip().partition("=") for each in text.split(";") if each.strip()]
    if not all(separator for _, separator, _ in pairs):
        raise UnsendableError("cookies are written `name=value; other=value`")
    return [(name, value) for name, _, value in pairs]


def _fixed(operation: Operation, given: Pairs) -> Pairs:
    """The query that stands in the path, where no parameter takes its place."""
    names = {unquote(name) for name, _ in given}
    return [(quote(name, safe=""), quote(value, safe="")) for name, value in operation.query if name not in names]


def _checked(written: str) -> str:
    """What stands in the path, if it stays where it is put. Raises UnsendableError."""
    if not written:
        raise UnsendableError("it is part of the path and cannot be empty")
    decoded = written
    for _ in range(4):  # no server decodes more often
        decoded = unquote(decoded)
    if any(part in {".", ".."} for part in _SLASHES.split(decoded)):
        raise UnsendableError("`.` and `..` in a path would lead to another operation")
    return written


def _body(operation: Operation, arguments: Mapping[str, object], making: Making) -> Written | None:
    if operation.body is None:
        return None
    value = body_value(operation, arguments)
    if value is None and not _is_given(operation, arguments):
        return None
    try:
        return write(chosen_media(operation, arguments), value, making.definitions, making.read)
    except UnsendableError as error:
        told = f"the body of {operation.key} cannot be sent: {error} ({operation.body.where})"
        raise CallError("invalid_arguments", told) from None


def body_value(operation: Operation, arguments: Mapping[str, object]) -> object:
    """What the body holds: the argument for all of it, or a mapping of its fields; None where nothing was given."""
    body = operation.body
    if body is None:
        return None
    if body.argument is not None:
        return arguments.get(body.argument)
    found = {name: arguments[argument] for argument, name in body.fields.items() if argument in arguments}
    return found if found or body.required else None


def _is_given(operation: Operation, arguments: Mapping[str, object]) -> bool:
    return operation.body is not None and operation.body.argument in arguments


def chosen_media(operation: Operation, arguments: Mapping[str, object]) -> Media:
    """The media type that the body is written in: the one chosen, the one that fits what was given, or the first."""
    body = operation.body
    if body is None:
        raise CallError("internal", f"{operation.key} has no body")
    choice = arguments.get(body.chooser) if body.chooser else None
    if choice is not None:
        return next(media for media in body.media if media.type == choice)
    given = arguments.get(body.argument) if body.argument else None
    if is_content(given):
        fitting = [media for media in body.media if kind_of(media) in {"binary", "text"}]
        own = given.mime if isinstance(given, ArtifactRef) else ""
        typed = (media for media in fitting if own and covers(media.type, own))
        return next(typed, fitting[0] if fitting else body.media[0])
    return body.media[0]


def _accept(operation: Operation, arguments: Mapping[str, object]) -> str:
    """The best media type of each success before anything else, or the one that was chosen."""
    choice = arguments.get(operation.accept_argument) if operation.accept_argument else None
    if isinstance(choice, str):
        return choice
    first = [answer.media[0].type for answer in successful(operation.answers) if answer.media]
    return ", ".join(dict.fromkeys([*first, "*/*" if "*/*" in first else "*/*;q=0.1"])) if first else "*/*"


def _refusal(operation: Operation, parameter: Parameter, why: str) -> CallError:
    return CallError("invalid_arguments", f"{said(operation, parameter.argument)}: {why}")
