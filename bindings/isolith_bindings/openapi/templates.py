"""The path of an operation as a template: what has to be filled in, and what stands in it that belongs elsewhere.

Mistakes whose meaning is plain are mended, and told.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import unquote_plus

from isolith_bindings.openapi.model import Parameter
from isolith_bindings.openapi.parameters import Found
from isolith_bindings.openapi.refs import DefectError

if TYPE_CHECKING:
    from isolith_bindings.openapi.model import Location, Schema

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_UNKNOWN: Schema = {"type": ["string", "integer"]}
"""What a part of a URL may be of which nothing is said."""


@dataclass(frozen=True)
class Template:
    """What a path comes to: its parameters, the query that always goes with it, and what was mended."""

    found: list[Found]
    query: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


def fitted(path: str, found: list[Found], where: str) -> Template:
    """The parameters of an operation, fitted to its path. Raises DefectError where what is meant is not plain."""
    plain, _, query = path.partition("#")[0].partition("?")
    template = _with_query(Template(found), query, where)
    wanted = dict.fromkeys(_PLACEHOLDER.findall(plain))
    declared = {each.parameter.name for each in template.found if each.parameter.location == "path"}
    missing = [name for name in wanted if name not in declared]
    unplaced = [name for name in sorted(declared) if name not in wanted]
    if missing and unplaced:
        return _renamed(template, missing, unplaced, where)
    kept = [each for each in template.found if each.parameter.location != "path" or each.parameter.name in wanted]
    kept += [_undeclared(name, "path", where) for name in missing]
    notes = [f"`{{{name}}}` of its path is declared nowhere: it is taken for text" for name in missing]
    notes += [f"its path has no `{{{name}}}`: that parameter is left out" for name in unplaced]
    return replace(template, found=kept, notes=(*template.notes, *notes))


def _renamed(template: Template, missing: list[str], unplaced: list[str], where: str) -> Template:
    """Where each is another spelling of one that is there, it is that."""
    meant = {name: [each for each in missing if _squashed(each) == _squashed(name)] for name in unplaced}
    if len(missing) != len(unplaced) or any(len(names) != 1 for names in meant.values()):
        raise DefectError(
            f"`{{{missing[0]}}}` in the path at {where} has no parameter `in: path`, "
            f"and the path parameter `{unplaced[0]}` does not stand in the path"
        )
    found = [
        replace(each, parameter=replace(each.parameter, name=meant[each.parameter.name][0]))
        if each.parameter.location == "path" and each.parameter.name in meant
        else each
        for each in template.found
    ]
    notes = [f"`{name}` is what its path calls `{{{meant[name][0]}}}`" for name in unplaced]
    return replace(template, found=found, notes=(*template.notes, *notes))


def _with_query(template: Template, query: str, where: str) -> Template:
    """A query in the path: values that always go with it, and parameters, which some declare as parts of the path."""
    for pair in filter(None, query.split("&")):
        key, _, value = pair.partition("=")
        name = unquote_plus(key)
        filled = _PLACEHOLDER.fullmatch(value)
        if filled is None and ("{" in pair or "}" in pair):
            raise DefectError(
                f"the query in the path at {where} has the parameter `{pair:.60}`, which cannot be filled in"
            )
        if filled is None:
            template = replace(template, query=(*template.query, (name, unquote_plus(value))))
            continue
        in_query = {each.parameter.name for each in template.found if each.parameter.location == "query"}
        if in_query & {name, filled[1]}:
            continue
        moved = [_moved(each, name) if _is_path(each, filled[1]) else each for each in template.found]
        if moved == template.found:
            moved.append(_undeclared(name, "query", where))
        note = f"`{pair}` in its path is the query parameter `{name}`"
        template = replace(template, found=moved, notes=(*template.notes, note))
    return template


def _is_path(found: Found, name: str) -> bool:
    return found.parameter.location == "path" and found.parameter.name == name


def _moved(found: Found, name: str) -> Found:
    parameter = replace(found.parameter, name=name, location="query", style="form", explode=True)
    return replace(found, parameter=parameter)


def _undeclared(name: str, location: Location, where: str) -> Found:
    style, repeats = ("simple", False) if location == "path" else ("form", True)
    parameter = Parameter("", name, location, required=True, schema=_UNKNOWN, style=style, explode=repeats, where=where)  # type: ignore[arg-type]
    return Found(parameter, "", deprecated=False)


def _squashed(name: str) -> str:
    return "".join(each for each in name.lower() if each.isalnum())
