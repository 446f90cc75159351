"""The keywords of JSON Schema that combine schemas: all of them, any, exactly one, none, one or the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from isolith_bindings.schema.values import given

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from isolith_bindings.schema.evaluation import At, Evaluation, Found, Path

_EXPECTED = "expected "


def _all_of(run: Evaluation, says: object, value: object, _schema: object, at: At, found: Found) -> None:
    for schema in cast("Sequence[object]", says):
        if run.full(found):
            return
        found.add(run.same(value, schema, at))


def _any_of(run: Evaluation, says: object, value: object, schema: Mapping[str, object], at: At, found: Found) -> None:
    if value is None and schema.get("nullable") is True:
        return
    branches = [run.same(value, branch, at) for branch in cast("Sequence[object]", says)]
    fitting = [branch for branch in branches if not branch.problems]
    for branch in fitting:
        found.saw(branch)
    if branches and not fitting:
        found.problems.extend(_none_fits(branches, value, at))


def _one_of(run: Evaluation, says: object, value: object, schema: Mapping[str, object], at: At, found: Found) -> None:
    before = run.unknown
    if value is None and schema.get("nullable") is True:
        return
    branches = [run.same(value, branch, at) for branch in cast("Sequence[object]", says)]
    fitting = [number for number, branch in enumerate(branches, 1) if not branch.problems]
    for number in fitting:
        found.saw(branches[number - 1])
    if branches and not fitting:
        found.problems.extend(_none_fits(branches, value, at))
    elif len(fitting) > 1 and run.unknown == before:
        forms = " and ".join(map(str, fitting[:3]))
        found.problems.append((at.path, f"expected exactly one of {len(branches)} forms, but forms {forms} fit"))


def _not(run: Evaluation, says: object, value: object, _schema: object, at: At, found: Found) -> None:
    before = run.unknown
    if not run.same(value, says, at).problems and run.unknown == before:
        found.problems.append((at.path, f"{given(value)} is what it must not be"))


def _if(run: Evaluation, says: object, value: object, schema: Mapping[str, object], at: At, found: Found) -> None:
    before = run.unknown
    condition = run.same(value, says, at)
    if run.unknown != before:
        return
    if not condition.problems:
        found.saw(condition)
    chosen = schema.get("else" if condition.problems else "then")
    if chosen is not None:
        found.add(run.same(value, chosen, at))


def _none_fits(branches: Sequence[Found], value: object, at: At) -> list[tuple[Path | None, str]]:
    """Why none of several forms fits: what they expect here in one sentence, or what is wrong with the nearest."""
    firsts = [branch.problems[0] for branch in branches]
    suffix = f", was given {given(value)}"
    expected = [_expectation(message, suffix) for path, message in firsts if path is at.path]
    if len(expected) == len(firsts) and all(expected):
        kinds = list(dict.fromkeys(str(kind) for kind in expected))
        return [(at.path, f"{_EXPECTED}{' or '.join(kinds)}{suffix}")]
    nearest = min(branches, key=lambda branch: _distance(branch, at, suffix))
    path, message = nearest.problems[0]
    if len([branch for branch in branches if _is_near(branch, at, suffix)]) == 1:
        return nearest.problems
    number = branches.index(nearest) + 1
    return [(path, f"{message} (fits none of {len(branches)} forms; the nearest is form {number})")]


def _expectation(message: str, suffix: str) -> str | None:
    if message.startswith(_EXPECTED) and message.endswith(suffix):
        return message.removeprefix(_EXPECTED).removesuffix(suffix)
    return None


def _is_near(branch: Found, at: At, suffix: str) -> bool:
    """Whether it is at least of the right type: something is wrong inside, or with what only that type has."""
    return not all(path is at.path and _expectation(message, suffix) for path, message in branch.problems)


def _distance(branch: Found, at: At, suffix: str) -> tuple[bool, int]:
    return not _is_near(branch, at, suffix), len(branch.problems)


BRANCHES = {"allOf": _all_of, "anyOf": _any_of, "oneOf": _one_of, "not": _not, "if": _if}
