"""`isolith policy explain`: which rule decides a call, without making it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

import typer

from isolith.command_line import command
from isolith.command_line.command import Configured, Connect, Json, PolicyName, guarded
from isolith.command_line.request import read_data
from isolith.errors import UsageError
from isolith.json_form import to_json_text
from isolith_bindings.catalog import Catalog
from isolith_bindings.connector import Checks
from isolith_bindings.errors import CallError
from isolith_bindings.idle_rules import idle_rules
from isolith_bindings.policy import Policy, as_policy, ungoverned
from isolith_bindings.schema.validate import Validator

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isolith_bindings.connector import Connector, Method

app = typer.Typer(help="What scripts are allowed to call, and why.", no_args_is_help=True)

_WHAT_HAPPENS = {"allow": "allowed", "ask": "a person is asked", "deny": "denied"}


@app.command(epilog="Example: isolith policy explain crm.delete --connect crm.py --arguments '{\"id\": 3}'")
@guarded
def explain(
    target: Annotated[str, typer.Argument(metavar="CONNECTOR.METHOD", help="What would be called.")],
    *,
    arguments: Annotated[
        str | None, typer.Option(metavar="JSON|@FILE", help="The arguments of the call, as one object.")
    ] = None,
    specs: Connect = None,
    configured: Configured = None,
    policy: PolicyName = None,
    json: Json = False,
) -> None:
    """Say what would be done with a call, and which rule decides it. Nothing is called."""
    config = command.read_configuration(configured)
    decided = as_policy(command.policy_of(policy, config))
    given = read_arguments(arguments)

    async def use(connectors: list[Connector]) -> dict[str, object]:
        say_idle_rules(decided, connectors)
        return explained(Catalog(connectors), decided, target, given)

    found = command.consulted(specs, config, use, only=[split_target(target)[0]])
    command.terminal().write(to_json_text(found) if json else in_words(found))


@app.callback()
def _policy() -> None:
    """Keep `explain` a name of its own while it is the only one."""


def say_idle_rules(policy: Policy, connectors: Iterable[Connector]) -> None:
    """Tell of rules that fit nothing, where that is known: what was misspelt forbids nothing."""
    for idle in idle_rules(policy, connectors):
        command.terminal().say(f"isolith: {idle}")


def read_arguments(text: str | None) -> dict[str, object] | None:
    """What `--arguments` gives; None without it. Raises UsageError."""
    if text is None:
        return None
    found = read_data(text, "--arguments", "the arguments")
    if not isinstance(found, dict):
        raise UsageError("`--arguments` is one JSON object, as in '{\"limit\": 3}'")
    return cast("dict[str, object]", found)


def explained(catalog: Catalog, policy: Policy, target: str, arguments: dict[str, object] | None) -> dict[str, object]:
    """The decision on a call, whose target may be spelt in any way. Raises CallError for what is not there."""
    connector, method = catalog.resolve(*split_target(target))
    decision = policy.decide(connector, method, arguments)
    before = policy.decide(connector, method)
    return {
        "call": f"{connector.name}.{method.name}",
        "arguments": arguments,
        "action": decision.action,
        "rule": decision.rule,
        "reason": decision.reason,
        "hidden": before.action == "deny",
        "invalid": None if arguments is None else invalid(connector, method, arguments),
    }


def invalid(connector: Connector, method: Method, arguments: dict[str, object]) -> str | None:
    """Why the method would refuse these arguments, whatever the policy says of them; None where nothing is known."""
    behind = ungoverned(connector)
    if not isinstance(behind, Checks):
        return "; ".join(map(str, Validator(method.parameters).problems(arguments))) or None
    try:
        behind.check(method, arguments)
    except CallError as error:
        return str(error) if error.kind == "invalid_arguments" else None
    return None


def split_target(target: str) -> tuple[str, str]:
    """Connector and method. Raises UsageError for what is not both."""
    connector, dot, method = target.removeprefix("tools.").partition(".")
    if not (dot and connector and method):
        raise UsageError(f"`{target}` is no connector.method")
    return connector, method


def in_words(found: dict[str, object]) -> str:
    """The decision for people."""
    lines = [
        f"{found['call']}: {_WHAT_HAPPENS[str(found['action'])]}",
        f"  rule: {found['rule']}",
        f"  reason: {found['reason']}",
    ]
    if found["arguments"] is None:
        lines.append("  before its arguments are known: give them with --arguments")
    if found["invalid"]:
        lines.append(f"  but no call is made with these arguments: {found['invalid']}")
    if found["hidden"]:
        lines.append("  scripts do not see it")
    return "\n".join(lines)
