"""What a document comes to: its operations, ready to be called, as plain data that can be kept.

Schemas are JSON Schema 2020-12 whatever the document's version; what they share is in `Api.definitions`, referred to as
`#/$defs/NAME`. `where` is a JSON pointer into the document, for people.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - pydantic reads the annotations
from dataclasses import dataclass, field
from typing import Literal

from isolith_bindings.openapi.plan import Requirement  # noqa: TC001

Schema = dict[str, object] | bool
Location = Literal["path", "query", "header", "cookie", "querystring"]
Style = Literal[
    "matrix", "label", "simple", "form", "spaceDelimited", "pipeDelimited", "tabDelimited", "deepObject", "cookie"
]


@dataclass(frozen=True)
class Parameter:
    """One parameter outside of the body.

    `media`: it is written in this media type, and the style does not count; `parts`: how, where that is a form.
    `inner`: the styles of the lists in its list, from the outside in, which only Swagger 2.0 knows.
    """

    argument: str
    name: str
    location: Location
    required: bool
    schema: Schema
    style: Style
    explode: bool
    reserved: bool = False
    media: str | None = None
    where: str = ""
    parts: Encoding | None = None
    inner: tuple[Style, ...] = ()


@dataclass(frozen=True)
class Encoding:
    """How one part of a form or multipart body is written, where the document says so.

    `media`: the types that a part may have, the usual one first. `headers`: those of a part in a multipart body.
    `named`, `prefix`, `rest`: how the parts are written of a part that is multipart itself. `inner`: see `Parameter`.
    """

    media: tuple[str, ...] = ()
    style: Style | None = None
    explode: bool | None = None
    reserved: bool | None = None
    headers: tuple[Parameter, ...] = ()
    named: Mapping[str, Encoding] = field(default_factory=dict[str, "Encoding"])
    prefix: tuple[Encoding, ...] = ()
    rest: Encoding | None = None
    inner: tuple[Style, ...] = ()

    @property
    def styled(self) -> bool:
        """Whether it is written in a style, as a parameter is, and not in a media type."""
        return self.style is not None or self.explode is not None or self.reserved is not None

    def at(self, index: int) -> Encoding:
        """That of the part at a position."""
        return self.prefix[index] if index < len(self.prefix) else self.rest or Encoding()


@dataclass(frozen=True)
class Media:
    """One media type of a body or an answer. No schema: anything. `stream`: the schema is that of each item.

    `parts`: how those of a form or of a multipart body are written. `told`: what a script gives or gets, where that is
    not what the schema says: parts that have headers, or are text or bytes in place of data. `named`: the parts of an
    answer are a mapping, by their names.
    """

    type: str
    schema: Schema | None
    parts: Encoding = field(default_factory=Encoding)
    stream: bool = False
    told: Schema | None = None
    named: bool = False


@dataclass(frozen=True)
class Body:
    """What is sent beside the parameters: one argument, or one for each of its fields (`{argument: property}`).

    The first media type is taken, where no argument chooses another one (`chooser`).
    """

    required: bool
    media: tuple[Media, ...]
    argument: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict[str, str])
    chooser: str | None = None
    where: str = ""


@dataclass(frozen=True)
class Answer:
    """A documented answer: a status, `2XX` or `default`, and what may come with it.

    `unreadable`: the document has it, and what it says of it cannot be read.
    """

    status: str
    media: tuple[Media, ...]
    where: str = ""
    unreadable: bool = False


@dataclass(frozen=True)
class Operation:
    """One operation. `id`: what the document calls it, unique in it. `key`: `GET /users/{id}`, for people.

    `query`: what always goes with it, since it stands in its path.
    """

    id: str
    name: str
    method: str
    path: str
    servers: tuple[str, ...]
    description: str
    tags: tuple[str, ...]
    deprecated: bool
    parameters: tuple[Parameter, ...]
    body: Body | None
    answers: tuple[Answer, ...]
    arguments: Schema
    returns: Schema | None
    accept: tuple[str, ...] = ()
    accept_argument: str | None = None
    security: tuple[Requirement, ...] | None = None
    policy: str | None = None
    where: str = ""
    query: tuple[tuple[str, str], ...] = ()

    @property
    def key(self) -> str:
        """The method and the path."""
        return f"{self.method} {self.path}"


@dataclass(frozen=True)
class Api:
    """All of a document.

    `uses`: which other definitions each refers to. `schemes`: the security schemes in the form of OpenAPI 3.
    `excluded`, `notes`: by operation, why it is not there, and what was mended.
    """

    title: str
    version: str
    description: str
    operations: tuple[Operation, ...]
    definitions: Mapping[str, Schema]
    uses: Mapping[str, tuple[str, ...]]
    schemes: Mapping[str, Mapping[str, object]]
    excluded: Mapping[str, str]
    notes: Mapping[str, str]
    digests: Mapping[str, str] = field(default_factory=dict[str, str])
