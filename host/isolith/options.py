"""What `CodeMode` is given, as what it works with; what was meant otherwise is said to be misuse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, cast, get_args

from isolith.errors import UsageError
from isolith_bindings.functions import as_connector
from isolith_bindings.policy import Policy, Preset, as_policy, govern

if TYPE_CHECKING:
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


def _are_several(given: object) -> bool:
    return isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping)


def _in_no_list(given: object) -> UsageError:
    """What was given is shown as the caller's own code calls it, if it has a name."""
    shown = getattr(given, "__name__", None) or repr(given)[:_MAX_SHOWN]
    return UsageError(f"the connectors are given in a list, even a single one: write `connectors=[{shown}]`")
