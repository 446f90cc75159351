"""A method as Python that a model reads: its signature, the types it names, and what is said of it.

Total: for any schema there is a stub, it parses and type-checks, and it is within its limits; what does not fit is read
again with less of it. A stranger's words are marked, see `quoting`.
"""

from __future__ import annotations

import json
import keyword
import re
import unicodedata
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from isolith_bindings.names import fold
from isolith_bindings.schema.draft3 import as_draft4
from isolith_bindings.schema.lenient import LenientReader
from isolith_bindings.schema.nodes import ANY, Field, Node, Record, accepts, text
from isolith_bindings.schema.paged import item_of
from isolith_bindings.schema.quoting import MARK, clean, comment, docstring, one_line, quoted, unmarked
from isolith_bindings.schema.reader import Limits, Reader
from isolith_bindings.schema.typenames import PRELUDE as PRELUDE_NAMES
from isolith_bindings.schema.typenames import TypeNames

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from isolith_bindings.connector import JsonSchema

MAX_SIGNATURE = 1_500
"""Characters of a signature."""
MAX_STUB = 24_000
"""Characters of a stub with all it declares."""

PRELUDE = '''\
from collections.abc import Mapping as _Mapping, Sequence as _Sequence, Set as _Set
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Literal, Never, NotRequired, TypedDict, Unpack
from uuid import UUID

class Artifact:
    """Bytes kept outside; pass it on, or read it."""
    handle: str
    mime: str
    name: str | None
    size: int
    async def read(self) -> bytes: ...

'''
"""What a type checker has to read before stubs; `.pyi` text."""

_TYPES_USED = PRELUDE_NAMES | {"bool", "bytes", "dict", "float", "int", "list", "str", "tuple"}
_NAMES = re.compile(r"[^\W\d]\w*")
_MAX_DEFAULT = 60
_MAX_COMMENT = 160


@dataclass(frozen=True)
class Detail:
    """How much of a method is said.

    `words` are characters of its description, 0 for none at all; `arguments`: what is said of each; `comments`: what
    is said of types and their keys.
    """

    limits: Limits = field(default_factory=Limits)
    words: int = 4_000
    arguments: bool = True
    comments: bool = True


_BARE = Detail(words=0, arguments=False, comments=False)
DETAILS = (
    Detail(),
    Detail(words=1_000),
    Detail(Limits(300, records=20, options=8, values=12), words=400),
    Detail(Limits(150, depth=4, records=8, fields=60, options=6, values=8), words=300, comments=False),
    Detail(Limits(120, depth=4, records=3, fields=60, options=6, values=8), words=300, comments=False),
    Detail(Limits(90, depth=3, records=1, fields=60, options=6, values=8), words=200, comments=False),
    replace(_BARE, limits=Limits(60, depth=3, records=0, fields=40, options=4, values=6, value_length=20), words=80),
    replace(_BARE, limits=Limits(30, depth=2, records=0, fields=20, options=3, values=3, value_length=12)),
)
"""From everything to next to nothing."""


@dataclass(frozen=True)
class Subject:
    """What a stub is made of. `remarks` are ours. `native`: a Python function of the host, whose words are not marked.

    `returns` is None where nothing is said of it. `observed`: learnt from results, not declared. `signature` is kept
    as it is where it is given. `lenient`: say of arguments all that is taken, for a checker, not what is best given.
    `pages`: how its variant `.pages` is called, where there is one.
    """

    name: str
    parameters: JsonSchema
    returns: JsonSchema | bool | None
    description: str = ""
    signature: str | None = None
    remarks: tuple[str, ...] = ()
    native: bool = False
    observed: bool = False
    lenient: bool = False
    pages: str = ""


@dataclass(frozen=True)
class Stub:
    """The parts of a stub. `types` are declarations by name, in the order of first use."""

    signature: str
    types: dict[str, str]
    doc: tuple[str, ...]
    observed: bool = False
    schemas: dict[str, JsonSchema] = field(default_factory=dict[str, "JsonSchema"], repr=False)
    """What each type was read from, references still in it."""
    item: str = "Any"
    """The type of what its pages give."""

    def resolve(self, name: str) -> str | None:
        """The type that is meant by any spelling of its name."""
        if name in self.types:
            return name
        alike = [known for known in self.types if fold(known) == fold(name)]
        return alike[0] if len(alike) == 1 else None

    def around(self, name: str) -> dict[str, str]:
        """The declaration of a type, and of all it names, the nearest first."""
        found: dict[str, str] = {}
        waiting = [name]
        while waiting:
            current = waiting.pop(0)
            if current not in found:
                found[current] = self.types[current]
                waiting += [word for word in _NAMES.findall(self.types[current]) if word in self.types]
        return found

    @property
    def function(self) -> str:
        """The function alone, with what is said of it."""
        tail = "  # returns: observed" if self.observed else ""
        if not self.doc:
            return f"{_last_name(self.signature)}: ...{tail}"
        return "\n".join([f"{_last_name(self.signature)}:{tail}", *docstring(list(self.doc), "    ")])

    @property
    def text(self) -> str:
        """All of it, as it parses."""
        return "\n\n".join([*self.types.values(), self.function])


def signature(name: str, parameters: JsonSchema, returns: JsonSchema | bool | None) -> str:  # noqa: FBT001
    """`async def list_issues(*, repo: str, state: Literal['open', 'closed'] = 'open') -> list[Issue]`."""
    subject = Subject(name, parameters, returns)
    for detail in DETAILS:
        made = _attempt(subject, replace(detail, words=0, arguments=False, comments=False))
        if made is not None and len(made.signature) <= MAX_SIGNATURE:
            return made.signature
    return _anything(name)


def stub(subject: Subject, start: int = 0) -> Stub:
    """The stub of a method, with the most detail from `DETAILS[start]` on that is within `MAX_STUB`."""
    return next(stubs(subject, start), Stub(subject.signature or _anything(subject.name), {}, ()))


def stubs(subject: Subject, start: int = 0) -> Iterator[Stub]:
    """Stubs within `MAX_STUB`, each with less detail than the one before."""
    for detail in DETAILS[start:]:
        made = _attempt(subject, detail)
        if made is not None and len(made.text) <= MAX_STUB:
            yield made


def make(subject: Subject, detail: Detail) -> Stub:
    """The stub with just so much detail. For schemas nested as deep as Python's stack it raises RecursionError."""
    parameters, returns = as_draft4(subject.parameters), subject.returns
    returns = None if returns is None else as_draft4(returns)
    parameters = parameters if isinstance(parameters, dict) else subject.parameters
    names = TypeNames()
    names.take(subject.name.rpartition(".")[2])
    outgoing = Reader(returns, names, detail.limits, native=subject.native)
    result = ANY if returns is None else outgoing.read(returns, f"{subject.name} result")
    incoming = _incoming(subject, parameters, names, detail.limits)
    record = incoming.fields(parameters, f"{subject.name} arguments") or Record(subject.name, (), ANY)
    shown, odd = _arguments(record, names)
    records = {**incoming.records, **({odd.name: odd} if odd else {}), **outgoing.records}
    types = {name: _declaration(item, detail, records, native=subject.native) for name, item in records.items()}
    line = None if names.renamed else subject.signature
    line = line or _signature(subject.name, shown, odd or record.others, result, subject.returns)
    schemas = {**incoming.sources, **outgoing.sources}
    item = text(item_of(result, records))
    return Stub(line, types, tuple(_doc(subject, record, detail, item)), subject.observed, schemas, item)


def _incoming(subject: Subject, parameters: JsonSchema, names: TypeNames, limits: Limits) -> Reader:
    if subject.lenient:
        return LenientReader(parameters, limits, native=subject.native)
    return Reader(parameters, names, limits, native=subject.native)


def _attempt(subject: Subject, detail: Detail) -> Stub | None:
    try:
        return make(subject, detail)
    except RecursionError:
        return None


def _anything(name: str) -> str:
    return f"async def {name}(**arguments: Any) -> Any"


def _last_name(line: str) -> str:
    """`async def issues.list(` as `async def list(`: only the last part of a path is a name that Python declares."""
    head, bracket, rest = line.partition("(")
    start, space, path = head.rpartition(" ")
    return f"{start}{space}{path.rpartition('.')[2]}{bracket}{rest}"


# ---------------------------------------------------------------------------------------------- signatures


def is_argument(name: str) -> bool:
    """Whether a script can give it as `name=...`."""
    plain = name.isidentifier() and not keyword.iskeyword(name) and name not in {"self", "__debug__"}
    # Python reads an identifier in its normal form, and the other side does not.
    return plain and name == unicodedata.normalize("NFKC", name)


def _arguments(record: Record, names: TypeNames) -> tuple[list[Field], Record | None]:
    """The arguments that can be given by name, needed ones first, and the others as a record of their own."""
    fields = sorted(record.fields, key=lambda field: not field.required)
    odd = [field for field in fields if not is_argument(field.name)]
    shown = [field for field in fields if is_argument(field.name)]
    if not odd:
        return shown, None
    return shown, Record(names.claim(f"{record.name} in one dict"), tuple(odd), None)


def _signature(name: str, fields: list[Field], others: Record | Node | None, result: Node, returns: object) -> str:
    parts = [_parameter(field) for field in fields]
    if parts:
        parts.insert(0, "*")
    if others is not None:
        kind = f"Unpack[{others.name}]" if isinstance(others, Record) else text(others)
        parts.append(f"**{_free('others', fields)}: {kind}")
    arrow = "Any" if returns is None else text(result)
    return f"async def {name}({', '.join(parts)}) -> {arrow}"


def _free(name: str, fields: list[Field]) -> str:
    while any(field.name == name for field in fields):
        name += "_"
    return name


def _parameter(field: Field) -> str:
    shown = f"{field.name}: {text(field.node)}"
    return shown if field.required else f"{shown} = {_default(field)}"


def _default(field: Field) -> str:
    value = field.default
    plain = value is None or isinstance(value, (str, bool, int, float))
    if value is ... or not plain or not accepts(field.node, value) or _is_long(value):
        return "..."
    shown = repr(value)
    return shown if len(shown) <= _MAX_DEFAULT and shown not in {"inf", "-inf", "nan"} else "..."


def _is_long(value: object) -> bool:
    return (isinstance(value, int) and value.bit_length() > 200) or (
        isinstance(value, str) and len(value) > _MAX_DEFAULT
    )


# ---------------------------------------------------------------------------------------------- declarations


def _is_attribute(name: str, records: Container[str]) -> bool:
    """Whether a class can declare it: within the class it would hide a type of the same name."""
    return is_argument(name) and not name.startswith("__") and name not in _TYPES_USED and name not in records


def _declaration(record: Record, detail: Detail, records: Container[str], *, native: bool) -> str:
    """A `TypedDict`; one with keys that are no names is made by a call, as Python has it."""
    lines = [*_comments(record, detail, native=native)]
    if all(_is_attribute(field.name, records) for field in record.fields):
        body = [f"    {field.name}: {_needed(field)}{_said(field, detail, native=native)}" for field in record.fields]
        return "\n".join(
            [f"class {record.name}(TypedDict):", *(f"    {line}" for line in lines), *(body or ["    pass"])]
        )
    body = [f"    {field.name!r}: {_needed(field)},{_said(field, detail, native=native)}" for field in record.fields]
    return "\n".join([*lines, f"{record.name} = TypedDict({record.name!r}, {{", *body, "})"])


def _needed(field: Field) -> str:
    return text(field.node) if field.required else f"NotRequired[{text(field.node)}]"


def _comments(record: Record, detail: Detail, *, native: bool) -> Iterator[str]:
    if detail.comments:
        said = _joined(record.notes, record.words, native=native)
        if said:
            yield comment(said)
    if record.others is not None and record.fields:
        yield comment(f"and other keys: {text(record.others)}")


def _said(field: Field, detail: Detail, *, native: bool) -> str:
    said = _joined((*field.notes, *_unshown(field)), field.words, native=native) if detail.comments else ""
    return f"  {comment(said)}" if said else ""


def _joined(notes: Iterable[str], words: str, *, native: bool) -> str:
    """Our notes first, then the other side's words."""
    cut = one_line(unmarked(words), _MAX_COMMENT)
    theirs = f"{'' if native else MARK}{cut}" if cut else ""
    return "; ".join(filter(None, (*notes, theirs)))


def _unshown(field: Field) -> tuple[str, ...]:
    """A default that no signature shows."""
    if field.default is ... or field.required or isinstance(field.default, (str, bool, int, float, type(None))):
        return ()
    try:
        shown = json.dumps(field.default)
    except (TypeError, ValueError, RecursionError):
        return ()
    return (f"default {shown}",) if len(shown) <= _MAX_DEFAULT else ()


# ---------------------------------------------------------------------------------------------- docstrings


def _doc(subject: Subject, record: Record, detail: Detail, item: str) -> list[str]:
    """What is said of the method, of its arguments, and by us, a blank line between."""
    native = subject.native
    words = quoted(clean(unmarked(subject.description), detail.words), theirs=not native) if detail.words else []
    said = [(field, _joined((*field.notes, *_unshown(field)), field.words, native=native)) for field in record.fields]
    lines = [f"{_shown_name(field.name)}: {text}" for field, text in said if text] if detail.arguments else []
    ours = [*record.notes, *subject.remarks]
    if subject.pages:
        kind = "" if item == "Any" else f", each `{item}`"
        ours.append(f"Also: {subject.pages}(...), all items over all pages: `async for item in`{kind}")
    if not all(is_argument(field.name) for field in record.fields):
        ours.append(f"Arguments whose names are no identifiers go in one dict: {subject.name}({{...}})")
    doc: list[str] = []
    for part in (words, lines, ours):
        doc += ["", *part] if doc and part else part
    return doc


def _shown_name(name: str) -> str:
    return name if is_argument(name) else repr(one_line(name, _MAX_DEFAULT))
