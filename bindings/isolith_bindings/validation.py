"""Arguments before a function runs and its result after: the right types, or a failure in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, cast

from pydantic import TypeAdapter, ValidationError

from isolith_bindings.early_end import validate
from isolith_bindings.errors import CallError
from isolith_bindings.rendering import brief, no_argument, render_hint, takes_only

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from isolith_bindings.signature import Signature, Slot

_MAX_PROBLEMS = 3
_MAX_EXPLAINED = 2_000
"""Errors that are told apart, which takes twenty microseconds each: a script makes a hundred thousand in no time."""
_ANYTHING: TypeAdapter[object] = TypeAdapter(object)

MAX_ITERATED = 1_000_000
"""Items of a result that is an iterator: it may have no end, and no budget stops what a function of the host does."""


def check_arguments(tool: str, signature: Signature, arguments: Mapping[str, object]) -> dict[str, object]:
    """The arguments as the function takes them. Raises CallError `invalid_arguments`; nothing has run then."""
    unknown = [name for name in arguments if name not in signature.slots]
    if unknown and (signature.others is None or set(unknown) & set(signature.contexts)):
        raise _invalid(
            tool, signature, no_argument(tool, unknown[0], signature.slots, others=signature.others is not None)
        )
    problems: list[str] = []
    checked: dict[str, object] = {}
    for name, slot in signature.slots.items():
        if name in arguments:
            _check(slot, name, arguments[name], checked, problems)
        elif slot.required:
            problems.append(f"`{name}` is missing")
    for name in unknown:
        _check(cast("Slot", signature.others), name, arguments[name], checked, problems)
    if problems:
        takes = takes_only(signature.slots, others=signature.others is not None)
        raise _invalid(tool, signature, f"{tool}: {_joined(problems)}. {takes}")
    return checked


def check_result(tool: str, slot: Slot, value: object) -> object:
    """The result as plain data, Python types kept. Raises CallError `invalid_result`, the data in its `data`."""
    try:
        return _plain(slot.adapter, validate(slot.adapter, value))
    except ValidationError as error:
        hint = render_hint(slot.hint)
        what = f"{tool} did not give `{hint}`: {_joined(_explain(error, 'result', value, hint))}"
        cause: Exception = error
    except Exception as error:  # noqa: BLE001 - the border to validators and serialisers of the tool's own
        what = f"{tool} gave a result that could not be read: {error}"
        cause = error
    hint = "the call was made; what it gave is in the error's `data`"
    raise CallError("invalid_result", what, data=_as_it_is(value), hint=hint) from cause


def _check(slot: Slot, name: str, value: object, checked: dict[str, object], problems: list[str]) -> None:
    try:
        checked[name] = validate(slot.adapter, value)
    except ValidationError as error:
        problems.extend(_explain(error, name, value, render_hint(slot.hint)))
    except Exception as error:  # noqa: BLE001 - the border to validators of the tool's own
        problems.append(f"`{name}`: {error}")


def _plain(adapter: TypeAdapter[object], value: object) -> object:
    """Models and dataclasses as mappings. What is computed as it is read is read here: it must not be lazy later."""
    dumped: object = adapter.dump_python(value, mode="python", warnings=False)
    if not isinstance(dumped, Iterator):
        return dumped
    listed = list(islice(cast("Iterator[object]", dumped), MAX_ITERATED + 1))
    if len(listed) > MAX_ITERATED:
        raise ValueError(f"it is an iterator of more than {MAX_ITERATED:,} items, where a part of them was wanted")
    return listed


def _as_it_is(value: object) -> object:
    try:
        return _ANYTHING.dump_python(value, mode="python", warnings=False)
    except Exception:  # noqa: BLE001 - the border to serialisers of the tool's own; the failure is told already
        return None


# ---------------------------------------------------------------------------------------------- in plain words


def _invalid(tool: str, signature: Signature, message: str) -> CallError:
    return CallError("invalid_arguments", message, hint=signature.text(tool).removeprefix("async def "))


def _joined(problems: list[str]) -> str:
    more = len(problems) - _MAX_PROBLEMS
    return "; ".join(problems[:_MAX_PROBLEMS]) + (f"; and {more} more" if more > 0 else "")


def _explain(error: ValidationError, subject: str, value: object, expected: str) -> list[str]:
    """One sentence for each place: what was expected there, by all branches of a union, and what was given."""
    if error.error_count() > _MAX_EXPLAINED:
        return [f"`{subject}` is wrong in {error.error_count():,} places: expected `{expected}`"]
    problems: dict[str, list[ErrorDetails]] = {}
    for details in error.errors(include_url=False):
        problems.setdefault(subject + _path(value, details), []).append(details)
    return [f"`{path}`{_wrong(found)}" for path, found in problems.items()]


def _wrong(problems: list[ErrorDetails]) -> str:
    if all(details["type"] == "missing" for details in problems):
        return " is missing"
    reasons = list(dict.fromkeys(_reason(details) for details in problems))
    expected = [reason.removeprefix(_EXPECTED) for reason in reasons if reason.startswith(_EXPECTED)]
    said = [reason for reason in reasons if not reason.startswith(_EXPECTED)]
    what = "; ".join([f"{_EXPECTED}{' or '.join(expected)}", *said] if expected else said)
    given = problems[0]["input"]
    kind = "" if given is None else f" ({type(given).__name__})"
    return f": {what}, was given {brief(given)}{kind}"


def _reason(details: ErrorDetails) -> str:
    message = details["msg"]
    for prefix in ("Value error, ", "Assertion failed, "):
        message = message.removeprefix(prefix)
    if message.startswith(_INPUT):
        expected = message.removeprefix(_INPUT)
        message = _EXPECTED + ("something " if expected.startswith(("greater", "less")) else "") + expected
        # "a valid integer, unable to parse string as an integer": the second half says nothing to a caller.
        message = message.partition(", ")[0] if details["type"].endswith("_parsing") else message
    return message[:1].lower() + message[1:]


def _path(value: object, details: ErrorDetails) -> str:
    """`.emails[0]`. Pydantic's marks for branches and keys are no places in the data, and are left out."""
    path = ""
    for number, part in enumerate(details["loc"], 1):
        there, inner = _inside(value, part)
        if there or (details["type"] == "missing" and number == len(details["loc"])):
            path += f".{part}" if isinstance(part, str) and part.isidentifier() else f"[{part!r}]"
            value = inner
    return path


def _inside(value: object, part: int | str) -> tuple[bool, object]:
    """What a part of a path leads to, if it leads anywhere."""
    places: object = getattr(value, "__dict__", value)
    if isinstance(places, str | bytes):
        return False, value
    try:
        return True, cast("Mapping[int | str, object]", places)[part]
    except (LookupError, TypeError):
        return False, value


_INPUT = "Input should be "
_EXPECTED = "expected "
