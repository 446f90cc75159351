"""`isolith connectors`: what is connected, how it is, and connecting anew. Each line says of what it tells.

Servers that these commands look at are started for it, and stopped when it is done: what another process runs is
seen by that process alone.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Protocol, cast, runtime_checkable

import typer

from isolith.command_line import command
from isolith.command_line.command import Configured, Connect, Json, PolicyName, guarded
from isolith.command_line.policy_command import read_arguments, say_idle_rules, split_target
from isolith.connector_views import IN_PROCESS, Renewable, as_data, listed, status_of
from isolith.errors import UsageError
from isolith.json_form import to_json_text
from isolith_bindings.availability import why_absent
from isolith_bindings.catalog import Catalog
from isolith_bindings.connector import Checks
from isolith_bindings.errors import CallError
from isolith_bindings.names import did_you_mean
from isolith_bindings.policy import as_policy, govern, ungoverned

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from isolith_bindings.connector import Connector, Method

app = typer.Typer(help="What scripts may call, and how it is.", no_args_is_help=True)

_NOTHING = "nothing is connected"
_GOOD = frozenset({"ready", "connected", "idle"})


@runtime_checkable
class Requesting(Protocol):
    """A connector whose calls are HTTP requests, made from a document."""

    def dry_run(self, method: Method, arguments: Mapping[str, object]) -> str:
        """The request, each secret masked. Raises CallError where none would be sent."""
        ...


@runtime_checkable
class SignedIn(Protocol):
    """A connector that a person may have to sign in to."""

    async def sign_in(self, visit: Callable[[str], Awaitable[None]], timeout_s: float = 300.0) -> object:
        """Have a person visit a URL, and connect with what that gives; as `reconnect` answers."""
        ...


@app.command("list", epilog="Example: isolith connectors list --connect mcp.json")
@guarded
def list_(
    *, specs: Connect = None, configured: Configured = None, policy: PolicyName = None, json: Json = False
) -> None:
    """List the connectors: how many tools each offers, and what it leaves out."""
    config = command.read_configuration(configured)
    decided = as_policy(command.policy_of(policy, config))

    async def use(connectors: list[Connector]) -> list[dict[str, object]]:
        say_idle_rules(decided, connectors)
        return [listed(govern(connector, decided)) for connector in connectors]

    found = command.consulted(specs, config, use)
    command.terminal().write(to_json_text({"connectors": found}) if json else _lines(found, _listed_line))


@app.command(epilog="Example: isolith connectors status docs --connect mcp.json")
@guarded
def status(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME", help="Which; all, unless given.")] = None,
    *,
    specs: Connect = None,
    configured: Configured = None,
    json: Json = False,
) -> None:
    """Say how connectors are, after starting them. Ends with 1 where one is not well."""
    terminal = command.terminal()
    config = command.read_configuration(configured)
    decided = as_policy(command.policy_of(None, config))

    def told(connector: Connector) -> dict[str, object]:
        """With how many of its tools no script sees: `list` counts the others."""
        return {**status_of(connector), "denied": listed(govern(connector, decided))["denied"]}

    async def use(connectors: list[Connector]) -> list[dict[str, object]]:
        return [told(connector) for connector in _chosen(connectors, names)]

    def show(connector: Connector) -> None:
        """One that is known is shown while others are waited for."""
        if not json:
            terminal.write(_status_line(told(connector)))

    found = command.consulted(specs, config, use, each=show, only=names or None)
    if json or not found:
        terminal.write(to_json_text({"connectors": found}) if json else _NOTHING)
    if not all(one["state"] in _GOOD for one in found):
        raise typer.Exit(1)


@app.command(epilog="Example: isolith connectors reconnect docs --connect mcp.json")
@guarded
def reconnect(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME", help="Which; all, unless given.")] = None,
    *,
    specs: Connect = None,
    configured: Configured = None,
    json: Json = False,
) -> None:
    """Connect servers anew and say what they offer since. Ends with 1 where one cannot be reached."""

    async def use(connectors: list[Connector]) -> list[dict[str, object]]:
        return list(await asyncio.gather(*map(_renewed, _chosen(connectors, names))))

    config = command.read_configuration(configured)
    found = command.consulted(specs, config, use, each=_unseen, only=names or None, leave=_is_server)
    command.terminal().write(to_json_text({"connectors": found}) if json else _lines(found, _renewed_line))
    if not all(one["ok"] for one in found):
        raise typer.Exit(1)


@app.command(epilog="Example: isolith connectors request shop.read_item --connect shop.json --arguments '{\"id\": 3}'")
@guarded
def request(
    target: Annotated[str, typer.Argument(metavar="CONNECTOR.METHOD", help="A method of an OpenAPI document.")],
    *,
    arguments: Annotated[str, typer.Option(metavar="JSON|@FILE", help="Its arguments, as one object.")] = "{}",
    specs: Connect = None,
    configured: Configured = None,
    json: Json = False,
) -> None:
    """Dry run: print the request that a call would send, each secret masked. Nothing is sent to the API."""
    name, given = split_target(target)[0], read_arguments(arguments)

    async def use(connectors: list[Connector]) -> dict[str, object]:
        connector, method = Catalog(connectors).resolve(*split_target(target))
        behind = ungoverned(connector)
        if not isinstance(behind, Requesting):
            raise UsageError(f"`{connector.name}` comes from no OpenAPI document: its calls are no requests of ours")
        request = behind.dry_run(method, given or {})
        return {
            "call": f"{connector.name}.{method.name}",
            "request": request,
            "refused": _refused(behind, method, given),
        }

    found = command.consulted(specs, command.read_configuration(configured), use, only=[name])
    command.terminal().write(to_json_text(found) if json else str(found["request"]))
    if found["refused"] and not json:
        command.terminal().say(f"isolith: as things are, a call is refused before it is sent: {found['refused']}")


@app.command("sign-in", epilog="Example: isolith connectors sign-in docs --connect mcp.json")
@guarded
def sign_in(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A server that wants a person to sign in.")],
    *,
    specs: Connect = None,
    configured: Configured = None,
    json: Json = False,
) -> None:
    """Sign in to a server in a browser on this machine; what that gives is kept for the runs that come."""

    async def use(connectors: list[Connector]) -> dict[str, object]:
        [connector] = _chosen(connectors, [name])
        if not isinstance(connector, SignedIn):
            raise UsageError(f"`{name}` is no server that a person could sign in to")
        return {"connector": name, **as_data(await connector.sign_in(_visit)), "scope": _scope(connector)}

    config = command.read_configuration(configured)
    found = command.consulted(specs, config, use, each=_unseen, only=[name], leave=_is_server)
    command.terminal().write(to_json_text(found) if json else _renewed_line(found))
    if not found["ok"]:
        raise typer.Exit(1)


def _refused(connector: Requesting, method: Method, arguments: Mapping[str, object] | None) -> str | None:
    """Why a call would not be sent all the same: a credential that is not set is masked like any other."""
    try:
        if isinstance(connector, Checks):
            connector.check(method, arguments or {})
    except CallError as error:
        return f"{error.message}; {error.hint}" if error.hint else error.message
    return None


def _is_server(connector: Connector) -> bool:
    """Whether it is a server that is connected by what is asked for: to be started for that would be once too often."""
    return isinstance(ungoverned(connector), SignedIn)


def _unseen(_connector: Connector) -> None:
    """It is shown when it has been connected anew."""


async def _visit(url: str) -> None:
    """Show the person where to go. Nothing is opened by itself: the address comes from the server."""
    command.terminal().say(f"isolith: sign in at {url}")


# ---------------------------------------------------------------------------------------------- as data


async def _renewed(connector: Connector) -> dict[str, object]:
    if isinstance(connector, Renewable):
        return {"connector": connector.name, **as_data(await connector.reconnect()), "scope": _scope(connector)}
    absent = why_absent(connector)
    reason = absent or "it is no server: there is nothing to connect to"
    return {"connector": connector.name, "ok": absent is None, "reason": reason, "scope": IN_PROCESS}


def _scope(connector: Connector) -> object:
    return status_of(connector)["scope"]


def _chosen(connectors: Sequence[Connector], names: Sequence[str] | None) -> list[Connector]:
    """Those of the given names; all without any. Raises UsageError, with the nearest name."""
    known = {connector.name: connector for connector in connectors}
    for name in names or ():
        if name not in known:
            close = did_you_mean(name, known) or f"there are: {', '.join(known) or 'none'}"
            raise UsageError(f"there is no connector `{name}`; {close}")
    return [known[name] for name in names] if names else list(connectors)


# ---------------------------------------------------------------------------------------------- for people


def _lines(found: Sequence[dict[str, object]], line: Callable[[dict[str, object]], str]) -> str:
    return "\n".join(map(line, found)) or _NOTHING


def _listed_line(one: dict[str, object]) -> str:
    parts = [_count(one["methods"], "tool")]
    if one["asks"]:
        parts.append(f"{one['asks']:,} of them asked")
    if one["denied"]:
        parts.append(f"{one['denied']:,} denied")
    excluded = cast("dict[str, str]", one["excluded"])
    description = f": {one['description']}" if one["description"] else ""
    head = f"{one['connector']}{description}\n    {', '.join(parts)} ({one['scope']})"
    return "\n".join([head, *(f"    left out: {name}: {why}" for name, why in excluded.items())])


def _status_line(one: dict[str, object]) -> str:
    reason = f": {one['reason']}" if one["reason"] else ""
    parts = [f"{one['connector']}: {one['state']}{reason}", f"    {_tools(one)} ({one['scope']})"]
    server = ", ".join(str(one[name]) for name in ("server", "place", "protocol_version") if one.get(name))
    if server:
        parts.append(f"    {server}")
    for label, name in (("problem", "problems"), ("left out", "excluded"), ("said", "logs")):
        parts += [f"    {label}: {text}" for text in cast("Sequence[str]", one.get(name) or ())]
    return "\n".join(parts)


def _renewed_line(one: dict[str, object]) -> str:
    name, scope = one["connector"], one["scope"]
    if not one["ok"]:
        return f"{name}: not connected: {one['reason']} ({scope})"
    if "tools" not in one:
        return f"{name}: {one['reason']} ({scope})"
    changes = [
        f"{word} {', '.join(names)}" for word in ("added", "removed") if (names := cast("Sequence[str]", one[word]))
    ]
    return f"{name}: connected as {one['connection_id']}, {'; '.join([_tools(one), *changes])} ({scope})"


def _tools(one: dict[str, object]) -> str:
    """How many a server has itself, and what there is beside them to read its resources and prompts with."""
    extras, denied = one.get("extras"), one.get("denied")
    beside = f", {extras} for its resources and prompts" if extras else ""
    return _count(one["tools"], "tool") + beside + (f", {denied:,} of them denied" if denied else "")


def _count(number: object, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
