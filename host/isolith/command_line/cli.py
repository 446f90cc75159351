"""The command line. Results go to stdout, everything else to stderr.

Exit codes: 0 completed, 1 failed, 2 wrong use, 3 a budget ended it, 4 paused, 5 a bug of ours.
"""

from __future__ import annotations

import asyncio
import io
import logging
import signal
import sys
from contextlib import redirect_stdout
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path  # noqa: TC003 - Typer reads the annotations
from typing import TYPE_CHECKING, Annotated, TypeVar, cast

import structlog
import typer

from isolith.budgets import Budgets
from isolith.code_mode import CodeMode
from isolith.command_line import (
    check_command,
    command,
    connectors_command,
    discovery_command,
    executions_command,
    image_command,
    kept_journal,
    kept_runs,
    policy_command,
    snippets_command,
)
from isolith.command_line.check_command import check_all
from isolith.command_line.command import Configured, Connect, Json, PolicyName, QuestionsOption, TypesOption, guarded
from isolith.command_line.hints import NOTHING_CONNECTED
from isolith.command_line.request import Request, read_request, read_script
from isolith.command_line.root import Root
from isolith.command_line.run_command import Form, answer, run_script
from isolith.command_line.serve_command import serve
from isolith.configuration.config import config_schema
from isolith.errors import UsageError
from isolith.internal import internal_error
from isolith.json_form import to_json_text
from isolith.outcome import Outcome, outcome_schema
from isolith.run.checking import CheckMode  # noqa: TC001 - Typer reads the annotations
from isolith.run.normalize import Prepared, prepare
from isolith.run.self_test import trip_limits
from isolith.run.supply import get_supply
from isolith.run.type_checker import get_ready
from isolith.testing.command import run_all
from isolith.tokens import command as tokens_command
from isolith_bindings.description import Detail  # noqa: TC001 - Typer reads the annotations
from isolith_bindings.listing import DEFAULT_BUDGET
from isolith_runtime.image.builder import open_store
from isolith_runtime.image.doctor import examine

if TYPE_CHECKING:
    from collections.abc import Callable

    from isolith.command_line.check_command import Checked
    from isolith.command_line.terminal import Progress
    from isolith.configuration.config import ConfigFile
    from isolith_bindings.catalog import Catalog
    from isolith_bindings.connector import Connector
    from isolith_bindings.description import Description
    from isolith_bindings.listing import Listing
    from isolith_bindings.search import Kind, SearchPage
    from isolith_runtime.engine import Variant

_T = TypeVar("_T")

app = typer.Typer(
    name="isolith",
    cls=Root,
    help="Run scripts that a model wrote, each in a fresh WebAssembly isolate that reaches only the tools it is given.",
    epilog="Example: isolith run -c 'sum(range(10))'",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
schema = typer.Typer(help="JSON Schemas of what Isolith writes.", no_args_is_help=True)
app.add_typer(connectors_command.app, name="connectors", epilog="Example: isolith connectors list --connect mcp.json")
app.add_typer(executions_command.app, name="executions", epilog="Example: isolith executions list --status paused")
app.add_typer(policy_command.app, name="policy", epilog="Example: isolith policy explain crm.delete --connect crm.py")
app.command(epilog="Example: isolith serve --http 127.0.0.1:8000 --connect crm.py")(serve)
app.command("test", epilog="Example: isolith test scripts/ --connect crm.py --junit results.xml")(run_all)
app.add_typer(snippets_command.app, name="snippets", epilog="Example: isolith snippets list")
app.add_typer(tokens_command.app, name="tokens", epilog="Example: isolith tokens create ada --scope execute")
app.add_typer(image_command.app, name="image", epilog="Example: isolith image info")
app.add_typer(schema, name="schema", epilog="Example: isolith schema outcome")


def main() -> None:
    """Run the command line and end the process with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        # JSON is UTF-8 whatever the locale says, and no text of a script may stop us from writing it.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    # As after Ctrl-C, whatever was started is ended before this process is.
    signal.signal(signal.SIGTERM, _terminated)
    app()


def _terminated(*_: object) -> None:
    sys.exit(128 + signal.SIGTERM)


def _version(wanted: bool) -> None:  # noqa: FBT001 - the interface of Typer
    if wanted:
        command.terminal().write(f"isolith {version('isolith')}")
        raise typer.Exit


@app.callback()
def _root(
    *,
    _shown: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


@app.command(epilog="Example: isolith run report.py --connect crm.py --input '{\"year\": 2026}'")
@guarded
@kept_journal.journalled
def run(  # noqa: PLR0913 - one parameter a flag
    script: Annotated[str | None, typer.Argument(help="The script: a file, or - for stdin.")] = None,
    *,
    code: Annotated[str | None, typer.Option("-c", metavar="CODE", help="The script itself.")] = None,
    specs: Connect = None,
    data: Annotated[str | None, typer.Option("--input", metavar="JSON|@FILE", help="What `input` is.")] = None,
    json: Json = False,
    stream: Annotated[bool, typer.Option("--stream", help="Print events as they happen, one JSON a line.")] = False,
    configured: Configured = None,
    policy: PolicyName = None,
    check: Annotated[CheckMode, typer.Option(help="What is done about a script that is wrong.")] = "strict",
    types: TypesOption = "auto",
    questions: QuestionsOption = "decline",
    cpu_ms: Annotated[int | None, typer.Option(metavar="N", help="CPU time of the script.")] = None,
    fuel: Annotated[int | None, typer.Option(metavar="N", help="Instructions, instead of CPU time.")] = None,
    timeout: Annotated[float | None, typer.Option(metavar="SECONDS", help="From begin to end.")] = None,
    memory_mb: Annotated[int | None, typer.Option(metavar="N", help="Memory of the script.")] = None,
    max_calls: Annotated[int | None, typer.Option(metavar="N", help="Calls it may make.")] = None,
    value_tokens: Annotated[int | None, typer.Option(metavar="N", help="How much of the value is shown.")] = None,
    max_output_bytes: Annotated[int | None, typer.Option(metavar="N", help="How much of the value is kept.")] = None,
) -> None:
    """Run a script and print the value of its last expression."""
    form, terminal, kept = _form(json=json, stream=stream), command.terminal(), kept_journal.chosen()
    budgets = {
        "cpu_ms": cpu_ms,
        "fuel": fuel,
        "wall_s": timeout,
        "memory_mb": memory_mb,
        "calls": max_calls,
        "value_tokens": value_tokens,
        "value_bytes": max_output_bytes,
    }
    config = command.read_configuration(configured)
    request = read_request(script, code, data, _under(config, budgets))
    terminal.flags = kept.flags
    try:
        code_mode = CodeMode(
            command.connectors_of(specs, config),
            policy=command.policy_of(policy, config),
            ceilings=config.config.granted if config else None,
            journal=kept.url if specs or config or kept.flags else None,
            origin=kept_runs.origin_of(specs, configured, policy, pause=questions == "pause"),
            link_key=kept_journal.link_key,
            tend=False,
            check=check,
            types=types,
            reverts=config.config.reverts if config else None,
            questions="pause" if questions == "pause" else None,
        )
        with redirect_stdout(sys.stderr), terminal.progress() as progress:  # what a connector prints is no answer
            _prepare_image(request, progress)
            outcome = asyncio.run(run_script(code_mode, request, terminal, form, progress))
    except (*command.WRONG_USE, BrokenPipeError):
        raise
    except Exception as error:  # noqa: BLE001 - who reads JSON gets JSON for a bug of ours, too
        outcome = Outcome(execution_id="", status="failed", error=internal_error(error))
        answer(outcome, terminal, form)
    raise typer.Exit(outcome.exit_code)


def _form(*, json: bool, stream: bool) -> Form:
    if json and stream:
        raise UsageError("both `--json` and `--stream` are given: keep one")
    return Form.JSON if json else Form.STREAM if stream else Form.PRETTY


def _under(config: ConfigFile | None, budgets: dict[str, float | None]) -> dict[str, float | None]:
    """The budgets of the configuration, and above them those that were asked for."""
    given = config.config.budgets if config else None
    below: dict[str, float | None] = given.model_dump(exclude_unset=True) if given else {}
    return below | {name: value for name, value in budgets.items() if value is not None}


def _prepare_image(request: Request, progress: Progress) -> None:
    """Have the image before the script starts, so that a person sees it being built and Ctrl-C ends that.

    What is no script needs none.
    """
    if isinstance(prepare(request.script, request.budgets.script_bytes), Prepared):
        variant: Variant = "epoch" if request.budgets.fuel is None else "fuel"
        get_supply(variant, progress=lambda stage, done: progress.show(f"{stage} {done:.0%}"))


@app.command(epilog="Example: isolith check report.py --connect crm.py")
@guarded
def check(
    scripts: Annotated[list[str], typer.Argument(metavar="SCRIPT...", help="Files, or - for stdin.")],
    *,
    specs: Connect = None,
    configured: Configured = None,
    policy: PolicyName = None,
    types: TypesOption = "auto",
    json: Json = False,
) -> None:
    """Say what is wrong with scripts without running them. Ends with 1 if one of them cannot work."""
    config = command.read_configuration(configured)
    decided = command.policy_of(policy, config)
    sources = [(name, read_script(name, Budgets().script_bytes)) for name in scripts]
    if specs or config:
        get_ready(types)

    async def use(connectors: list[Connector]) -> list[Checked]:
        known = command.catalog_of(connectors, decided).connectors
        return await check_all(sources, known, Budgets().script_bytes, types)

    found = command.consulted(specs, config, use)
    raise typer.Exit(check_command.answer(found, command.terminal(), json=json))


@app.command(epilog="Example: isolith search 'open invoices' --connect crm.py")
@guarded
def search(  # noqa: PLR0913 - one parameter a flag
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A few words, or a path; '' lists everything.")],
    *,
    specs: Connect = None,
    configured: Configured = None,
    policy: PolicyName = None,
    connector: Annotated[str | None, typer.Option(metavar="NAME", help="Search in this connector only.")] = None,
    kind: Annotated[str | None, typer.Option(help="connector, method, snippet or excluded.")] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="Results to print.")] = 10,
    offset: Annotated[int, typer.Option(metavar="N", help="Results to leave out before them.")] = 0,
    json: Json = False,
) -> None:
    """Find what can be called by what it does."""

    def ask(catalog: Catalog) -> SearchPage:
        return catalog.search(query, connector, cast("Kind | None", kind), limit, offset)

    discovery_command.answer_search(_asked(specs, configured, policy, ask), command.terminal(), json=json)


@app.command(epilog="Example: isolith describe crm.list_contacts --connect crm.py")
@guarded
def describe(  # noqa: PLR0913 - one parameter a flag
    targets: Annotated[
        list[str], typer.Argument(metavar="TARGET...", help="connector, connector.method or connector.method.Type")
    ],
    *,
    specs: Connect = None,
    configured: Configured = None,
    policy: PolicyName = None,
    detail: Annotated[Detail, typer.Option(help="How much is said.")] = "full",
    budget_tokens: Annotated[int | None, typer.Option(metavar="N", help="Tokens of the whole text.")] = None,
    json: Json = False,
) -> None:
    """Say how connectors, methods, their types and snippets are used."""

    def ask(catalog: Catalog) -> Description:
        return catalog.describe(targets[0] if len(targets) == 1 else targets, detail, budget_tokens)

    discovery_command.answer_describe(_asked(specs, configured, policy, ask), command.terminal(), json=json)


@app.command(epilog="Example: isolith catalog --connect crm.py")
@guarded
def catalog(  # noqa: PLR0913 - one parameter a flag
    *,
    specs: Connect = None,
    configured: Configured = None,
    policy: PolicyName = None,
    budget_tokens: Annotated[int, typer.Option(metavar="N", help="Tokens of the whole text.")] = DEFAULT_BUDGET,
    pinned: Annotated[list[str] | None, typer.Option("--pin", metavar="PATH", help="Show it before others.")] = None,
    since: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Print what has changed since `catalog --json` wrote this.")
    ] = None,
    json: Json = False,
) -> None:
    """Print what a model is told of the connectors and their tools."""
    before = discovery_command.read_listing(since) if since else None

    def ask(catalog: Catalog) -> Listing:
        return discovery_command.listing_of(catalog, budget_tokens, pinned or ())

    listing = _asked(specs, configured, policy, ask)
    discovery_command.answer_catalog(listing, command.terminal(), json=json, before=before)


def _asked(specs: list[str] | None, configured: str | None, policy: str | None, ask: Callable[[Catalog], _T]) -> _T:
    """An answer of the catalogue: what scripts may know of under the policy."""
    config = command.read_configuration(configured)
    decided = command.policy_of(policy, config)
    if not specs and not config:
        command.terminal().say(f"isolith: {NOTHING_CONNECTED}")

    async def use(connectors: list[Connector]) -> _T:
        return ask(command.catalog_of(connectors, decided))

    return command.consulted(specs, config, use)


@schema.command(epilog="Example: isolith schema outcome > outcome.schema.json")
@guarded
def outcome() -> None:
    """Print the JSON Schema of the outcome."""
    command.terminal().write(to_json_text(outcome_schema(), indent=2))


@schema.command(epilog="Example: isolith schema config > isolith.schema.json")
@guarded
def config() -> None:
    """Print the JSON Schema of a configuration file, isolith.toml."""
    command.terminal().write(to_json_text(config_schema(), indent=2))


@app.command(epilog="Example: isolith doctor")
@guarded
def doctor(*, json: Json = False) -> None:
    """Say what is missing on this machine and what mends it; trip every limit once. Ends with 1 if anything fails."""
    terminal = command.terminal()
    findings = examine(open_store())
    if all(finding.ok for finding in findings):
        findings += asyncio.run(trip_limits())
    ok = all(finding.ok for finding in findings)
    if json:
        terminal.write(to_json_text({"ok": ok, "findings": [asdict(finding) for finding in findings]}))
    for finding in [] if json else findings:
        terminal.write(f"{'ok     ' if finding.ok else 'missing'}  {finding.name}: {finding.detail}")
        if finding.mend:
            terminal.write(f"         {finding.mend}")
    if not ok:
        raise typer.Exit(1)
