"""From a document to its operations, each read by itself: a mistake costs the operation that it is in."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from isolith_bindings.openapi import bodies, encodings, parameters, responses, swagger
from isolith_bindings.openapi.arguments import argument_names
from isolith_bindings.openapi.model import Api, Body, Operation, Parameter, Schema
from isolith_bindings.openapi.naming import Names, Wanted, name_all
from isolith_bindings.openapi.refs import DefectError, Node, References
from isolith_bindings.openapi.schemas import Schemas, texts
from isolith_bindings.openapi.security import read_schemes, requirements
from isolith_bindings.openapi.servers import Whereabouts, addresses, check_variables
from isolith_bindings.openapi.templates import fitted
from isolith_bindings.openapi.tree import is_mapping

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from isolith_bindings.openapi.bodies import Content
    from isolith_bindings.openapi.document import Document, Family
    from isolith_bindings.openapi.parameters import Found
    from isolith_bindings.openapi.tree import Tree

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
MAX_DESCRIPTION = 4000
"""Characters of what is said of an operation."""

MAX_REPEATED = 5
"""Keys that stand twice in a document that are told."""

_POLICIES = ("allow", "ask", "deny")


@dataclass(frozen=True)
class Reading:
    """What is read with: the documents, their schemas, and where the API is.

    `schemes`: security schemes that are named by their address.
    """

    references: References
    family: Family
    schemas: Schemas
    where: Whereabouts
    schemes: dict[str, Tree] = field(default_factory=dict[str, "Tree"])

    def addresses(self, one: _Found) -> tuple[str, ...]:
        """The servers of one operation. Raises DefectError."""
        return addresses(self.references, self.family, (one.node, one.path_item), self.where)


@dataclass(frozen=True)
class _Found:
    """One operation in the document. `path_item` is around it, `note` what was mended of its path."""

    method: str
    path: str
    node: Node
    path_item: Node
    note: str = ""

    @property
    def key(self) -> str:
        return f"{self.method} {self.path}"


def compile_document(document: Document, where: Whereabouts) -> Api:
    """All operations of a document, and why the others are none. Raises DocumentError for what was chosen wrongly."""
    references = document.references
    check_variables(references, where)
    reading = Reading(references, document.family, Schemas(references, document.family), where)
    excluded: dict[str, str] = {}
    found = list(_find(references, excluded))
    ids = Counter(one.node.text("operationId") for one in found)
    kinds = _kinds_of_tags(references)
    named = name_all([_wanted(one, ids, kinds) for one in found])
    read: list[Operation] = []
    notes = _shared_ids(found, named)
    for one in found:
        unique = ids[one.node.text("operationId")] == 1 and one.node.text("operationId")
        original = unique or one.key
        if one.key in named.notes:
            notes.setdefault(original, named.notes[one.key])
        mended = [one.note] if one.note else []
        if one.key in named.excluded:
            excluded[original] = named.excluded[one.key]
            continue
        try:
            read.append(_read(reading, one, original, named.names[one.key], mended))
        except DefectError as error:
            excluded[original] = str(error)
            continue
        if mended:
            notes[original] = "; ".join([*([notes[original]] if original in notes else []), *mended])
    if document.repeated:
        listed = ", ".join(f"`{key:.60}`" for key in document.repeated[:MAX_REPEATED])
        more = f" and {len(document.repeated) - MAX_REPEATED} more" if len(document.repeated) > MAX_REPEATED else ""
        notes["the document"] = f"keys that stand twice in one mapping, of which the last counts: {listed}{more}"
    return _api(reading, read, excluded, notes, document.digests)


def _shared_ids(found: list[_Found], named: Names) -> dict[str, str]:
    """By operation, what is said where several have one operationId, which has to be unique and names none of them."""
    sharing: dict[str, list[str]] = defaultdict(list)
    for one in found:
        if given := one.node.text("operationId"):
            sharing[given].append(one.key)
    notes: dict[str, str] = {}
    for given, keys in sharing.items():
        for key in keys if len(keys) > 1 else ():
            other = keys[1] if key == keys[0] else keys[0]
            more = f" and of {len(keys) - 2} more" if len(keys) > 2 else ""
            if key in named.names:
                notes[key] = f"its operationId `{given}` is that of {other}{more} as well: it is `{named.names[key]}`"
    return notes


def _api(
    reading: Reading, read: list[Operation], excluded: dict[str, str], notes: dict[str, str], digests: dict[str, str]
) -> Api:
    info = reading.references.root.get("info")
    told: Tree = info.value if info and is_mapping(info.value) else {}
    title, version, description = (str(told.get(key) or "") for key in ("title", "version", "description"))
    return Api(
        title=title,
        version=version,
        description=description[:MAX_DESCRIPTION],
        operations=tuple(read),
        definitions=reading.schemas.definitions,
        uses=reading.schemas.uses,
        schemes={**reading.schemes, **read_schemes(reading.references, reading.family)},
        excluded=excluded,
        notes=notes,
        digests=digests,
    )


def _find(references: References, excluded: dict[str, str]) -> Iterator[_Found]:
    try:
        paths = list(references.root.entries("paths"))
    except DefectError as error:
        excluded["paths"] = str(error)
        return
    known = {path for path, _ in paths}
    for path, node in paths:
        if path.startswith("x-"):
            continue
        whole = path if path.startswith("/") else f"/{path}"
        note = (
            "" if whole == path else f"the path at {node.where} does not begin with a slash: it is taken for `{whole}`"
        )
        try:
            item = references.follow(node)
            item.mapping()
            if whole != path and whole in known:
                raise DefectError(f"the path at {node.where} is there with a slash as well")  # noqa: TRY301 - one place
            operations = list(_methods(path, item, excluded))
        except DefectError as error:
            excluded[path] = str(error)
            continue
        for method, operation in operations:
            if is_mapping(operation.value):
                yield _Found(method, whole, operation, item, note)
            else:
                excluded[f"{method} {path}"] = f"{operation.where} should be a mapping"


def _methods(path: str, item: Node, excluded: dict[str, str]) -> Iterator[tuple[str, Node]]:
    spelt = {name.lower(): name for name in reversed(item.mapping())}  # some write GET
    for method in METHODS:
        node = item.get(method) or item.get(spelt.get(method, method))
        if node is not None:
            yield method.upper(), node
    for method, node in item.entries("additionalOperations"):
        if method.lower() not in METHODS:
            yield method, node
        else:
            told = f"{node.where} is a method that has a field of its own, `{method.lower()}`, and belongs there"
            excluded[f"additionalOperations {method} {path}"] = told


def _kinds_of_tags(references: References) -> dict[str, object]:
    """What each tag is for (`kind`, since OpenAPI 3.2)."""
    try:
        return {node.text("name"): node.mapping().get("kind") for node in references.root.items("tags")}
    except DefectError:
        return {}


def _wanted(one: _Found, ids: Counter[str], kinds: Mapping[str, object]) -> Wanted:
    given = one.node.text("operationId")
    tags = texts(one.node.mapping().get("tags"))
    # What is a badge, or says for whom it is, divides nothing where another tag does.
    dividing = next((tag for tag in tags if kinds.get(tag) in (None, "nav")), tags[0] if tags else None)
    return Wanted(one.key, one.method, one.path, given if given and ids[given] == 1 else None, dividing)


# -------------------------------------------------------------------------------------------------- one operation


def _read(reading: Reading, one: _Found, original: str, name: str, mended: list[str]) -> Operation:
    """`mended` takes what was put right. Raises DefectError."""
    told = one.node.mapping()
    nodes = parameters.collect(one.path_item, one.node, reading.references, mended)
    found = encodings.in_forms(parameters.read(nodes, reading.family, reading.schemas), reading.schemas)
    template = fitted(one.path, found, one.node.where)
    found = template.found
    mended += template.notes
    content = _content(reading, one, nodes)
    produces = texts(told.get("produces")) or texts(reading.references.root.mapping().get("produces"))
    answers = responses.read(one.node, reading.references, reading.family, produces, reading.schemas)
    accept, choose = responses.accepted(answers)
    made = _Arguments(found, content, accept if choose else ())
    return Operation(
        id=original,
        name=name,
        method=one.method,
        path=one.path,
        servers=reading.addresses(one),
        description=_told(one.node.text("summary").strip(), one.node.text("description").strip(), name),
        tags=tuple(texts(told.get("tags"))),
        deprecated=told.get("deprecated") is True,
        parameters=made.parameters(),
        body=made.body(),
        answers=answers,
        arguments=made.schema(),
        returns=responses.returns(answers, one.method),
        accept=accept,
        accept_argument=made.accept_name,
        security=requirements(one.node, reading.references, reading.schemes),
        policy=_policy(one),
        where=one.node.where,
        query=template.query,
    )


def _told(summary: str, description: str, name: str) -> str:
    """Both, once each. A summary that is no more than the name, as FastAPI makes one, hides nothing that says more."""
    if description and _folded(summary) in (_folded(name), _folded(name.rpartition(".")[2])):
        summary = ""
    return "\n\n".join(dict.fromkeys(part for part in (summary, description) if part))[:MAX_DESCRIPTION]


def _folded(words: str) -> str:
    return "".join(filter(str.isalnum, words.casefold()))


def _content(reading: Reading, one: _Found, nodes: list[Node]) -> Content | None:
    if reading.family == "2.0":
        consumes = texts(one.node.mapping().get("consumes"))
        consumes = consumes or texts(reading.references.root.mapping().get("consumes"))
        node = swagger.body(nodes, consumes, one.node)
    else:
        node = one.node.get("requestBody")
    return bodies.read(reading.references.follow(node), reading.schemas) if node else None


def _policy(one: _Found) -> str | None:
    """`x-isolith-policy`, of the operation or around it. Raises DefectError for a word that is no policy."""
    for node in (one.node, one.path_item):
        value = node.mapping().get("x-isolith-policy")
        if value is not None and value not in _POLICIES:
            raise DefectError(f"`x-isolith-policy` of {node.where} is {value!r:.40}: it is `allow`, `ask` or `deny`")
        if value is not None:
            return str(value)
    return None


class _Arguments:
    """The arguments of one operation: their names, and where each goes."""

    def __init__(self, found: list[Found], content: Content | None, accept: tuple[str, ...]) -> None:
        self._found, self._content, self._accept = found, content, accept
        wanted: list[tuple[str, str]] = [(item.parameter.location, item.parameter.name) for item in found]
        self._choices = bodies.choices(content.media) if content else ()
        if content:
            fields = [("body", field.name) for field in content.fields]
            wanted += fields or [("request", "body")]
        wanted += [("request", "content_type")] if self._choices else []
        wanted += [("response", "accept")] if accept else []
        self._names = argument_names(wanted)
        self.accept_name = self._names.get(("response", "accept"))

    def parameters(self) -> tuple[Parameter, ...]:
        return tuple(
            replace(item.parameter, argument=self._names[item.parameter.location, item.parameter.name])
            for item in self._found
        )

    def body(self) -> Body | None:
        if self._content is None:
            return None
        fields = {self._names["body", field.name]: field.name for field in self._content.fields}
        return Body(
            required=self._content.required,
            media=self._content.media,
            argument=None if fields else self._names["request", "body"],
            fields=fields,
            chooser=self._names.get(("request", "content_type")),
            where=self._content.where,
        )

    def schema(self) -> Schema:
        """All arguments as one closed object."""
        properties: dict[str, Schema] = {}
        required: list[str] = []
        for item in sorted(self._found, key=lambda item: not item.parameter.required):
            name = self._names[item.parameter.location, item.parameter.name]
            properties[name] = parameters.described(item.parameter.schema, item.description, deprecated=item.deprecated)
            required += [name] if item.parameter.required else []
        if self._content:
            self._add_body(self._content, properties, required)
        for origin, options in ((("request", "content_type"), self._choices), (("response", "accept"), self._accept)):
            if options:
                properties[self._names[origin]] = {"enum": list(options), "description": f"default: {options[0]}"}
        whole: dict[str, object] = {"type": "object", "properties": properties, "additionalProperties": False}
        return {**whole, "required": required} if required else whole

    def _add_body(self, content: Content, properties: dict[str, Schema], required: list[str]) -> None:
        for each in content.fields:
            name = self._names["body", each.name]
            properties[name] = each.schema
            required += [name] if each.required and content.required else []
        if not content.fields:
            name = self._names["request", "body"]
            properties[name] = _any_of([bodies.argument_schema(item) for item in content.media])
            required += [name] if content.required else []


def _any_of(schemas: list[Schema]) -> Schema:
    distinct = [schema for index, schema in enumerate(schemas) if schema not in schemas[:index]]
    return distinct[0] if len(distinct) == 1 else {"anyOf": distinct}
