"""The keywords of JSON Schema that apply other schemas to what is inside a value: its keys, its items, a reference.

Each takes (the evaluation, what the keyword says, the value, the whole schema, where, what is found so far).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from isolith_bindings.names import did_you_mean
from isolith_bindings.rendering import one_of
from isolith_bindings.schema.branches import BRANCHES
from isolith_bindings.schema.quoting import one_line
from isolith_bindings.schema.values import is_type, shown

if TYPE_CHECKING:
    from isolith_bindings.schema.evaluation import At, Evaluation, Found

Schemas = Mapping[str, object]
Members = list[tuple[str, object]]
Apply = Callable[["Evaluation", object, object, Schemas, "At", "Found"], None]

_MAX_NAMED = 20
_MAX_NAME = 60


def _ref(run: Evaluation, reference: object, value: object, _schema: Schemas, at: At, found: Found) -> None:
    found.add(run.refer(value, cast("str", reference), at))


def _recursive_ref(run: Evaluation, reference: object, value: object, _schema: Schemas, at: At, found: Found) -> None:
    found.add(run.refer(value, cast("str", reference), at, recursive=True))


# ---------------------------------------------------------------------------------------------- keys


def _properties(run: Evaluation, says: object, value: object, _schema: Schemas, at: At, found: Found) -> None:
    schemas = cast("Schemas", says)
    for name, item in _members(value):
        if name in schemas:
            _key(run, (name, item), schemas[name], at, found)


def _pattern_properties(run: Evaluation, says: object, value: object, _schema: Schemas, at: At, found: Found) -> None:
    members = _members(value)
    for pattern, schema in cast("Schemas", says).items():
        for name, item in members:
            if not run.spend(1):
                return
            if run.matches(pattern, name):
                _key(run, (name, item), schema, at, found)


def _additional_properties(run: Evaluation, says: object, value: object, schema: Schemas, at: At, found: Found) -> None:
    members = _members(value)
    known = cast("Schemas", schema.get("properties") or {})
    patterns = list(cast("Schemas", schema.get("patternProperties") or {}))
    if run.spend(len(members) * (1 + len(patterns))):
        # A pattern that cannot be decided may fit: such a key is nobody's mistake.
        extra = [
            (name, item)
            for name, item in members
            if name not in known and all(run.matches(pattern, name) is False for pattern in patterns)
        ]
        _others(run, extra, (says, known), at, found)


def _unevaluated_keys(run: Evaluation, says: object, value: object, schema: Schemas, at: At, found: Found) -> None:
    extra = [(name, item) for name, item in _members(value) if name not in found.keys]
    if not run.unknown:
        _others(run, extra, (says, cast("Schemas", schema.get("properties") or {})), at, found)


def _others(run: Evaluation, extra: Members, says: tuple[object, Schemas], at: At, found: Found) -> None:
    """Keys that nothing else spoke of: what is said of them, and the keys that are known beside them."""
    schema, known = says
    if schema is False:
        found.problems.extend((at.path, _unknown_key(name, known, at)) for name, _ in extra[:_MAX_NAMED])
        found.keys.update(name for name, _ in extra)
        return
    for member in extra:
        if run.full(found):
            return
        _key(run, member, schema, at, found)


def _key(run: Evaluation, member: tuple[str, object], schema: object, at: At, found: Found) -> None:
    name, item = member
    found.problems.extend(run.inside(item, schema, at, name).problems)
    found.keys.add(name)


def _unknown_key(name: str, known: Schemas, at: At) -> str:
    noun = "argument" if at.path is None else "key"
    names = list(map(_shown, known))
    close = did_you_mean(name, names)
    allowed = f"allowed: {one_of(names, _MAX_NAMED)}" if names else "there are none"
    return f"unknown {noun} `{_shown(name)}`; {close + ' ' if close else ''}{allowed}"


def _shown(name: str) -> str:
    """A key in a message: either side may have put anything into it."""
    return one_line(name, _MAX_NAME)


def _property_names(run: Evaluation, says: object, value: object, _schema: Schemas, at: At, found: Found) -> None:
    for name, _ in _members(value):
        if run.full(found):
            return
        problems = run.same(name, says, at).problems
        found.problems.extend((at.path, f"the key `{_shown(name)}`: {message}") for _, message in problems)


def _required(run: Evaluation, says: object, value: object, _schema: Schemas, at: At, found: Found) -> None:
    names = cast("list[str]", says)
    if isinstance(value, Mapping) and isinstance(says, list) and run.spend(len(names)):
        given = cast("Schemas", value)
        missing = [name for name in names if name not in given]
        found.problems.extend((at.path, f"`{_shown(name)}` is missing") for name in missing[:_MAX_NAMED])


def _dependent(run: Evaluation, says: object, value: object, _schema: Schemas, at: At, found: Found) -> None:
    """`dependentRequired`, `dependentSchemas` and, up to draft 7, `dependencies`, which is both."""
    names = {name for name, _ in _members(value)}
    for name, needs in cast("Schemas", says).items():
        if name not in names:
            continue
        if isinstance(needs, list):
            missing = [need for need in cast("list[str]", needs) if need not in names]
            found.problems.extend(
                (at.path, f"`{_shown(need)}` is missing, which `{_shown(name)}` needs") for need in missing
            )
        else:
            found.add(run.same(value, needs, at))


def _members(value: object) -> Members:
    """The keys that JSON can have, with what is under them; none of what is no object."""
    if not isinstance(value, Mapping):
        return []
    pairs = cast("Mapping[object, object]", value).items()
    return [(name, item) for name, item in pairs if isinstance(name, str)]


# ---------------------------------------------------------------------------------------------- items


def _prefix_items(run: Evaluation, says: object, value: object, _schema: Schemas, at: At, found: Found) -> None:
    if is_type(value, "array"):
        _each(run, zip(enumerate(_listed(value)), cast("Sequence[object]", says), strict=False), at, found)


def _items(run: Evaluation, says: object, value: object, schema: Schemas, at: At, found: Found) -> None:
    """One schema for all items behind `prefixItems`; up to 2019-09 also a list of schemas, as `prefixItems` now."""
    if isinstance(says, list):
        _prefix_items(run, cast("list[object]", says), value, schema, at, found)
    elif is_type(value, "array"):
        _rest(run, (says, len(cast("Sequence[object]", schema.get("prefixItems") or ()))), value, at, found)


def _additional_items(run: Evaluation, says: object, value: object, schema: Schemas, at: At, found: Found) -> None:
    first = schema.get("items")
    if isinstance(first, list) and is_type(value, "array"):
        _rest(run, (says, len(cast("list[object]", first))), value, at, found)


def _unevaluated_items(run: Evaluation, says: object, value: object, _schema: Schemas, at: At, found: Found) -> None:
    if is_type(value, "array") and not run.unknown:
        extra = [(index, item) for index, item in enumerate(_listed(value)) if index not in found.items]
        _each(run, ((pair, says) for pair in extra), at, found)


def _rest(run: Evaluation, says: tuple[object, int], value: object, at: At, found: Found) -> None:
    """The items from an index on: what is said of them."""
    schema, first = says
    listed = _listed(value)
    if schema is False and len(listed) > first:
        found.problems.append((at.path, f"expected at most {first} items, was given {len(listed):,}"))
        return
    _each(run, (((index, listed[index]), schema) for index in range(first, len(listed))), at, found)


def _each(run: Evaluation, pairs: Iterable[tuple[tuple[int, object], object]], at: At, found: Found) -> None:
    for (index, item), schema in pairs:
        if run.full(found):
            return
        found.problems.extend(run.inside(item, schema, at, index).problems)
        found.items.add(index)


def _contains(run: Evaluation, says: object, value: object, schema: Schemas, at: At, found: Found) -> None:
    if not is_type(value, "array"):
        return
    before = run.unknown
    fits = [index for index, item in enumerate(_listed(value)) if not run.inside(item, says, at, index).problems]
    if run.dialect.contains_looks:
        found.items.update(fits)
    least, most = cast("float", schema.get("minContains", 1)), cast("float | None", schema.get("maxContains"))
    if run.unknown != before:
        return
    if len(fits) < least:
        found.problems.append((at.path, f"expected at least {shown(least)} of its items to be of the kind asked for"))
    elif most is not None and len(fits) > most:
        found.problems.append(
            (at.path, f"expected at most {shown(most)} of its items to be of one kind, {len(fits)} are")
        )


def _listed(value: object) -> Sequence[object]:
    return cast("Sequence[object]", value) if isinstance(value, (list, tuple)) else list(cast("set[object]", value))


APPLIED: dict[str, Apply] = {
    "$ref": _ref,
    "$dynamicRef": _ref,
    "$recursiveRef": _recursive_ref,
    **BRANCHES,
    "properties": _properties,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "propertyNames": _property_names,
    "required": _required,
    "dependentRequired": _dependent,
    "dependentSchemas": _dependent,
    "dependencies": _dependent,
    "prefixItems": _prefix_items,
    "items": _items,
    "additionalItems": _additional_items,
    "contains": _contains,
    "unevaluatedProperties": _unevaluated_keys,
    "unevaluatedItems": _unevaluated_items,
}
LAST = frozenset({"unevaluatedProperties", "unevaluatedItems"})
"""These look at what all others looked at."""
