"""What the commands of the command line have in common: their border, their options, what they connect."""

from __future__ import annotations

import asyncio
import functools
import sys
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, ParamSpec, TypeVar

import typer

from isolith.command_line.host_log import log_to_stderr
from isolith.command_line.terminal import Terminal
from isolith.configuration.config import ConfigFile, read_config, read_policy
from isolith.configuration.connect import connect_all
from isolith.configuration.connect_mcp import Person
from isolith.configuration.connect_python import exists
from isolith.configuration.variables import no_prompt
from isolith.errors import UsageError
from isolith.internal import internal_error
from isolith.journal.errors import JournalError
from isolith.json_form import to_json_text
from isolith.run.readiness import started
from isolith.run.type_checker import Types
from isolith_bindings.catalog import Catalog
from isolith_bindings.errors import BindingError, CallError
from isolith_bindings.names import fold
from isolith_bindings.policy import Policy, Preset, as_policy, govern
from isolith_runtime.errors import ImageError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from isolith.configuration.variables import Input
    from isolith_bindings.connector import Connector

P = ParamSpec("P")
T = TypeVar("T")

PRESETS: dict[str, Preset] = {"trusted": "trusted", "careful": "careful", "readonly": "readonly"}
POLICY_HELP = (
    "What is allowed, asked and denied. Beside --config: a preset is in place of its preset, and its rules stay; "
    "a FILE is in place of its whole policy."
)
WRONG_USE = (UsageError, BindingError, ImageError, JournalError)

Connect = Annotated[
    list[str] | None,
    typer.Option(
        "--connect",
        metavar="SPEC",
        help="What scripts may call: FILE.py, module:object, an mcp.json, an OpenAPI document (called by its folder "
        "where it is an openapi.json; name=PATH names it), name=command or name=https://... for one MCP server, or an "
        "isolith.toml that says only what to connect. May be repeated.",
    ),
]
Configured = Annotated[
    str | None,
    typer.Option(
        "--config", metavar="FILE", envvar="ISOLITH_CONFIG", help="An isolith.toml: connectors, policy and budgets."
    ),
]
PolicyName = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="trusted|careful|readonly|FILE",
        help=POLICY_HELP,
        show_default="trusted",
    ),
]
TypesOption = Annotated[
    Types,
    typer.Option("--types", help="A type checker that is asked as well where it is installed; `auto`: ty first."),
]
QuestionsOption = Annotated[
    Literal["decline", "pause"],
    typer.Option(
        "--questions", help="What a server asks a person during a call: declined, or the run waits for an answer."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """The outermost border: whatever ends a command ends as a message and an exit code.

    With `--json` what was used wrongly is a document on stdout, too: `{"error": {"message": ..., "hint": ...}}`.
    """

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        log_to_stderr()
        try:
            command(*args, **kwargs)
        except WRONG_USE as error:
            hint = error.hint if isinstance(error, CallError) else None
            refuse(str(error), hint, json=kwargs.get("json") is True)
            raise typer.Exit(2) from error
        except KeyboardInterrupt as error:
            terminal().say("isolith: interrupted")
            raise typer.Exit(1) from error
        except (typer.Exit, BrokenPipeError):
            raise
        except Exception as error:
            terminal().diagnostic(internal_error(error), "error")
            raise typer.Exit(5) from error

    return run


def refuse(message: str, hint: str | None, *, json: bool) -> None:
    """Say what was used wrongly: who reads JSON gets JSON, and a person what a person reads."""
    if json:
        with suppress(UsageError):  # where nothing can be written, that is what is said
            terminal().write(to_json_text({"error": {"message": message, "hint": hint}}))
    terminal().say(f"isolith: {message}" + (f"; {hint}" if hint else ""))


def listed(
    found: Sequence[T],
    line: Callable[[T], str],
    data: Callable[[T], object],
    nothing: str,
    *,
    json: bool,
) -> None:
    """What a command found, a line each or as JSON; for people, `nothing` where there is none."""
    to = terminal()
    if json:
        to.write(to_json_text([data(one) for one in found]))
        return
    for one in found:
        to.write(line(one))
    if not found:
        to.say(nothing)


def terminal(*, together: bool = False) -> Terminal:
    """The streams of this process; `together`: what stands beside a result is asked for as well, and goes with it."""
    return Terminal(sys.stdout, sys.stdout if together else sys.stderr)


def read_configuration(name: str | None) -> ConfigFile | None:
    """What `--config` names. Raises UsageError."""
    return read_config(Path(name)) if name else None


def policy_of(named: str | None, config: ConfigFile | None, otherwise: Preset = "trusted") -> Policy | Preset:
    """What `--policy` names, or what the configuration says, or `otherwise`. Raises UsageError.

    A preset replaces the preset of the configuration and keeps its rules: what these deny stays denied, and who adds
    `readonly` to be safer does not open it. A file replaces all.
    """
    configured = config and config.config.policy
    if named is None:
        return configured or otherwise
    if named in PRESETS:
        preset = PRESETS[named]
        return Policy(preset=preset, rules=configured.rules) if configured and configured.rules else preset
    if not exists(Path(named)):
        raise UsageError(f"there is no policy `{named}`: it is trusted, careful, readonly, or a file that is there")
    return read_policy(Path(named))


def connectors_of(specs: list[str] | None, config: ConfigFile | None) -> list[Connector]:
    """What was named, connected; what a connector prints goes to stderr."""
    with redirect_stdout(sys.stderr):
        return connect_all(specs or (), _person(), config)


def consulted(
    specs: list[str] | None,
    config: ConfigFile | None,
    use: Callable[[list[Connector]], Awaitable[T]],
    *,
    each: Callable[[Connector], None] | None = None,
    only: Iterable[str] | None = None,
    leave: Callable[[Connector], bool] | None = None,
) -> T:
    """What `use` makes of the connectors, while they are up, or of them `only` those in any spelling of these names.

    Those that do not come up are said; unless `each` is given every one, as soon as it is known how it is. What `leave`
    says is `use`'s to start.
    """

    async def once() -> T:
        wanted = None if only is None else {fold(name) for name in only}
        chosen = [connector for connector in connectors if wanted is None or fold(connector.name) in wanted]
        say, watch = (terminal().say, _unseen) if each is None else (_unheard, each)
        async with started(chosen, say, watch, leave or _started_here) as up:
            return await use([up.get(connector.name, connector) for connector in connectors])

    connectors = connectors_of(specs, config)
    with redirect_stdout(sys.stderr):
        return asyncio.run(once())


def catalog_of(connectors: list[Connector], policy: Policy | Preset) -> Catalog:
    """What scripts may know of, under a policy."""
    return Catalog([govern(connector, as_policy(policy)) for connector in connectors])


def _unheard(_: str) -> None:
    """What is shown anyway."""


def _unseen(_: Connector) -> None:
    """What is shown when all are known."""


def _started_here(_: Connector) -> bool:
    """Nothing is left for who uses it."""
    return False


def _person() -> Person:
    say = terminal().say
    return Person(
        ask_person if sys.stdin is not None and sys.stdin.isatty() else no_prompt, lambda text: say(f"isolith: {text}")
    )


def ask_person(question: Input) -> str:
    """Put a question of a file to the person at the terminal."""
    text = question.description or question.id
    if question.options:
        text += f" ({', '.join(question.options)})"
    answer: str = typer.prompt(text, hide_input=question.password, err=True)
    return answer
