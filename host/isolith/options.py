"""What `CodeMode` is given, as what it works with; what was meant otherwise is said to be misuse."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast, get_args

from isolith.budgets import HostPolicy
from isolith.errors import UsageError
from isolith.run.checking import CheckMode
from isolith.run.type_checker import Types
from isolith_bindings import json_text
from isolith_bindings.functions import as_connector
from isolith_bindings.policy import Policy, Preset, as_policy, govern

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isolith_bindings.connector import Connector

_PRESETS = get_args(Preset)
_MAX_SHOWN = 80


def policy_given(given: object) -> Policy:
    """A `Policy`, or a preset by its name. Raises UsageError."""
    if isinstance(given, Policy):
        return given
    if given not in _PRESETS:
        named = ", ".join(f"`{preset}`" for preset in _PRESETS)
        raise UsageError(f"there is no policy {repr(given)[:_MAX_SHOWN]}: it is {named}, or a `Policy` with rules")
    return as_policy(cast("Preset", given))


def connectors_given(given: object, policy: Policy) -> list[Connector]:
    """Each of a list, under the policy. Raises UsageError for what is no list, BindError for what is no connector."""
    if not _are_several(given):
        raise _in_no_list(given)
    return [govern(as_connector(connector), policy) for connector in cast("Iterable[object]", given)]


def ceilings_given(given: object) -> HostPolicy:
    """A `HostPolicy`, or the default. Raises UsageError."""
    if given is None or isinstance(given, HostPolicy):
        return given or HostPolicy()
    write = "HostPolicy(ceilings=Budgets(...))"
    raise UsageError(f"`ceilings` takes a `HostPolicy`, not {repr(given)[:_MAX_SHOWN]}: write `ceilings={write}`")


def check_options(*, check: object, types: object, questions: object, origin: str, journal: object) -> None:
    """Raises UsageError for the first that is not what it has to be; it names the option, and what that takes."""
    _one_of("check", check, get_args(CheckMode))
    _one_of("types", types, get_args(Types))
    _check_questions(questions)
    _check_origin(origin)
    _check_journal(journal)


def _one_of(option: str, given: object, words: Sequence[str]) -> None:
    """Raises UsageError for an option that is none of these words."""
    if given not in words:
        named = ", ".join(f"`{word}`" for word in words)
        raise UsageError(f"`{option}` is one of {named}, not {repr(given)[:_MAX_SHOWN]}")


def _check_origin(given: str) -> None:
    """Raises UsageError for what is no JSON text."""
    try:
        json_text.loads(given)
    except (TypeError, ValueError, RecursionError):
        shown = repr(given)[:_MAX_SHOWN]
        raise UsageError(f'`origin` takes JSON text, such as \'{{"app": "crm"}}\', not {shown}') from None


def _check_journal(given: object) -> None:
    """Raises UsageError for what is no journal, and for a file in a folder that is not there: it may be misspelt."""
    shown = repr(given)[:_MAX_SHOWN]
    if isinstance(given, int | float | bytes | Collection) and not isinstance(given, str):
        raise UsageError(f"`journal` takes a file, `postgresql://...` or an open `Journal`, not {shown}")
    if isinstance(given, Path) or (isinstance(given, str) and "://" not in given):
        folder = Path(given).parent
        if not folder.is_dir():
            raise UsageError(f"`journal`: the folder `{folder}` is not there: make it first, or name another file")


def _check_questions(given: object) -> None:
    """Raises UsageError for what neither answers questions nor has runs wait for a person."""
    if given is not None and given != "pause" and not callable(given):
        shown = repr(given)[:_MAX_SHOWN]
        raise UsageError(f"`questions` takes `pause`, or a function that answers, not {shown}")


def _are_several(given: object) -> bool:
    return isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping)


def _in_no_list(given: object) -> UsageError:
    """What was given is shown as the caller's own code calls it, if it has a name."""
    shown = getattr(given, "__name__", None) or repr(given)[:_MAX_SHOWN]
    return UsageError(f"the connectors are given in a list, even a single one: write `connectors=[{shown}]`")
