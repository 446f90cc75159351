"""Saying how a thing is called: in one line, with its signature, or with everything, within a budget of tokens.

A stranger's words are cleaned and marked (see `schema.quoting`), those of the host's own Python functions are not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isolith_bindings import tokens
from isolith_bindings.connector import Connector, JsonSchema, Method, offered
from isolith_bindings.description import BUDGETS, Description, Detail, Room, cut
from isolith_bindings.health import READY, health
from isolith_bindings.provenance import is_native
from isolith_bindings.rendering import first_paragraph
from isolith_bindings.schema.observed import is_observed
from isolith_bindings.schema.quoting import MARK, clean, one_line, unmarked
from isolith_bindings.schema.references import size
from isolith_bindings.schema.stubs import Subject, stub, stubs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from isolith_bindings.entries import Snippet

__all__ = [
    "BUDGETS",
    "Description",
    "Detail",
    "describe_all",
    "describe_connector",
    "describe_method",
    "describe_several",
    "describe_snippet",
    "describe_type",
]

_MAX_SUMMARY = 300
_MAX_WORDS = 4_000
_MAX_NAME = 80
_START: dict[Detail, int] = {"summary": 1, "signature": 1, "full": 0}
"""The stub of which detail a description begins with, before it has to be shortened."""


_SHORT = 3


def describe_method(
    connector: Connector, method: Method, detail: Detail, budget: int | None = None, learnt: JsonSchema | None = None
) -> Description:
    """One method. `learnt`: the schema of its results as they were seen, for one that declares none."""
    path = f"{connector.name}.{method.name}"
    native = is_native(connector)
    most = BUDGETS[detail] if budget is None else budget
    full = detail == "full"
    said = unmarked(method.description) if full else first_paragraph(method.description)
    subject = _subject(path, method, said, learnt, native=native)
    if detail == "summary":
        text = cut(f"{path}{_behind(said, native=native)}{_approval(method)}", most)
    else:
        text = _fitting(path, subject, _START[detail], most)
    return Description(
        path=path,
        kind="method",
        text=text,
        description=clean(said, _MAX_WORDS),
        signature=None if detail == "summary" else method.signature,
        requires_approval=method.policy == "ask",
        parameters=method.parameters if full else None,
        returns=subject.returns if full and not isinstance(subject.returns, bool) else None,
        observed=subject.observed,
    )


def describe_type(
    connector: Connector, method: Method, name: str, detail: Detail, budget: int | None = None
) -> Description | None:
    """A type that a method's stub declares, with those it names; None where it declares none of this name."""
    made = stub(_subject("", method, "", None, native=is_native(connector)), _START[detail])
    found = made.resolve(name)
    if found is None:
        return None
    most = BUDGETS[detail] if budget is None else budget
    room = Room(most)
    path = f"{connector.name}.{method.name}.{found}"
    declared = made.around(found) if detail != "summary" else {found: made.types[found]}
    room.add_all([f"# {path}", *("\n" + text if number else text for number, text in enumerate(declared.values()))])
    schema = made.schemas.get(found)
    said = schema.get("description") if isinstance(schema, dict) else None
    described = clean(unmarked(said), _MAX_WORDS) if isinstance(said, str) else ""
    return Description(path, "type", room.text or cut(found, most), described, schema=schema)


def describe_snippet(snippet: Snippet, detail: Detail, budget: int | None = None) -> Description:
    """A reviewed script."""
    said = unmarked(snippet.description) if detail == "full" else first_paragraph(snippet.description)
    path = f"snippets.{snippet.name}"
    words = clean(said, _MAX_WORDS)
    most = BUDGETS[detail] if budget is None else budget
    text = (
        f"{path}{_behind(said, native=True)}"
        if detail == "summary"
        else "\n".join(["# " + path, snippet.signature, *_indented(words)])
    )
    schema = snippet.input_schema if detail == "full" else None
    signature = None if detail == "summary" else snippet.signature
    return Description(path, "snippet", cut(text, most), words, signature=signature, schema=schema)


def describe_connector(
    connector: Connector, detail: Detail, budget: int | None = None, learnt: Mapping[str, JsonSchema] | None = None
) -> Description:
    """A connector with as many of its methods as there is room for, in the order in which they are written."""
    native = is_native(connector)
    methods = offered(connector)
    said = unmarked(connector.description) if detail == "full" else first_paragraph(connector.description)
    room = Room(BUDGETS[detail] if budget is None else budget)
    state = health(connector)
    well = "" if state.state == READY else f" ({one_line(str(state), _MAX_SUMMARY)})"
    if not room.add(f"{connector.name}{well}{_behind(said, native=native)}"):
        room.add(connector.name)
    foot = f'    {{shown}} of {len(methods)} shown; search("words", connector="{connector.name}") finds the others'
    members: list[Description] = []
    for method in methods.values():
        most = max(room.left, 1) if detail == "full" else None
        member = _member(connector, method, detail, most, (learnt or {}).get(method.name))
        is_last = len(members) + 1 == len(methods)
        if not room.add("\n".join(_indented(member.text)), "" if is_last else foot):
            room.add(foot.format(shown=len(members)))
            break
        members.append(member)
    room.add_all(_excluded(connector))
    return Description(
        connector.name, "connector", room.text, clean(said, _MAX_WORDS), members=members, total=len(methods)
    )


def describe_all(connectors: Iterable[Connector], detail: Detail, budget: int | None = None) -> Description:
    """The whole catalogue, as much as there is room for: each connector an equal part, what it leaves to the next."""
    listed = list(connectors)
    most = BUDGETS[detail] if budget is None else budget
    members: list[Description] = []
    room = Room(most)
    for number, connector in enumerate(listed):
        member = describe_connector(connector, detail, room.left // (len(listed) - number))
        if not room.add(("\n" if members else "") + member.text):
            break
        members.append(member)
    if not listed:
        room.add("there are no connectors")
    return Description("", "catalog", room.text, "", members=members, total=len(listed))


def describe_several(found: Iterable[Description | str], budget: int) -> Description:
    """What was asked for at once; a text stands for what is not there and says what is."""
    room = Room(budget)
    members: list[Description] = []
    total = 0
    for part in found:
        total += 1
        text = part if isinstance(part, str) else part.text
        if room.add(("\n" if room.parts else "") + text) and not isinstance(part, str):
            members.append(part)
    return Description("", "several", room.text, "", members=members, total=total)


def _subject(path: str, method: Method, words: str, learnt: JsonSchema | None, *, native: bool) -> Subject:
    returns = method.returns if method.returns is not None else learnt
    observed = method.returns is None and is_observed(learnt)
    # The hints of a Python function say more than their JSON Schema. Of others the signature is made anew, so that it
    # names what is declared beside it, however short that had to be.
    signature = method.signature if native and not observed else None
    remarks = tuple(_remarks(path, method))
    pages = f"{path}.pages" if "pages" in method.variants else ""
    return Subject(method.name, method.parameters, returns, words, signature, remarks, native, observed, pages=pages)


def _fitting(path: str, subject: Subject, start: int, budget: int) -> str:
    """The stub with the most detail that is within the budget; at last the beginning of its signature."""
    # What has more parts than the budget has tokens need not be tried with all of them.
    parts = size(subject.parameters, budget) + size(subject.returns, budget)
    last = ""
    for made in stubs(subject, start if parts < budget else _SHORT):
        last = made.signature
        text = f"# {path}\n{made.text}"
        if tokens.fits(text, budget):
            return text
    return cut(f"# {path}\n{subject.signature or last}", budget)


def _remarks(path: str, method: Method) -> Iterator[str]:
    """What we say of a method beside its types; what the other side says of itself is marked as its word."""
    if method.deprecated:
        yield "Deprecated."
    if method.policy == "ask":
        yield "Needs approval: a person is asked before each call."
    told = method.annotations
    words = [
        word
        for word, holds in (
            ("read-only", told.read_only is True),
            ("changes things", told.read_only is False),
            ("destructive", told.destructive is True),
            ("idempotent", told.idempotent is True or method.idempotent),
            ("reaches other systems", told.open_world is True),
        )
        if holds
    ]
    if words:
        yield f"{'' if told.trusted or method.idempotent else MARK}{', '.join(words)}"
    if "raw" in method.variants:
        yield f"Also: {path}.raw(...), the answer as it came"


def _member(
    connector: Connector, method: Method, detail: Detail, budget: int | None, learnt: JsonSchema | None
) -> Description:
    """One method among others: in less than full detail its signature and the first words, without its types."""
    if detail != "signature":
        return describe_method(connector, method, detail, budget, learnt)
    words = one_line(first_paragraph(method.description), _MAX_SUMMARY)
    mark = "" if is_native(connector) else MARK
    lines = [f"{method.signature}{_approval(method)}", *(_indented(f"{mark}{words}") if words else [])]
    path = f"{connector.name}.{method.name}"
    asks = method.policy == "ask"
    return Description(path, "method", "\n".join(lines), words, signature=method.signature, requires_approval=asks)


def _excluded(connector: Connector) -> list[str]:
    return [
        f"    {one_line(original, _MAX_NAME)!r} is not available: {one_line(reason, _MAX_SUMMARY)}"
        for original, reason in connector.excluded.items()
    ]


def _approval(method: Method) -> str:
    return "  # needs approval" if method.policy == "ask" else ""


def _behind(description: str, *, native: bool) -> str:
    words = one_line(description, _MAX_SUMMARY)
    return f": {'' if native else MARK}{words}" if words else ""


def _indented(text: str) -> list[str]:
    return [f"    {line}" if line else "" for line in text.splitlines()]
