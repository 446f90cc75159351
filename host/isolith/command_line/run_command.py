"""`isolith run`: one script from the command line to its outcome; events on the way, Ctrl-C, three forms of answer."""

from __future__ import annotations

import asyncio
import signal
import sys
from contextlib import contextmanager, redirect_stdout
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from isolith.code_mode import CodeMode
from isolith.command_line import command, kept_journal, kept_runs
from isolith.command_line.command import Configured, Connect, Json, PolicyName, QuestionsOption, TypesOption, guarded
from isolith.command_line.hints import hinted
from isolith.command_line.request import Request, read_request
from isolith.errors import UsageError
from isolith.internal import internal_error
from isolith.json_form import to_json_text
from isolith.outcome import Outcome
from isolith.run.checking import CheckMode  # noqa: TC001 - Typer reads the annotations
from isolith.run.normalize import Prepared, prepare
from isolith.run.readiness import last_words
from isolith.run.supply import get_supply
from isolith_bindings.schema.quoting import MARK, one_line

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping

    from isolith.command_line.terminal import Progress, Terminal
    from isolith.configuration.config import ConfigFile
    from isolith.run.execution import Execution
    from isolith_bindings.connector import Connector
    from isolith_runtime.engine import Variant


_MAX_MESSAGE = 500


class Form(StrEnum):
    """How `run` answers: for people, as one JSON document, or as events, one JSON document a line."""

    PRETTY = "pretty"
    JSON = "json"
    STREAM = "stream"


@guarded
@kept_journal.journalled
def run(  # noqa: PLR0913 - one parameter a flag
    script: Annotated[str | None, typer.Argument(metavar="SCRIPT", help="The script: a file, or - for stdin.")] = None,
    *,
    code: Annotated[str | None, typer.Option("-c", metavar="CODE", help="The script itself.")] = None,
    specs: Connect = None,
    data: Annotated[str | None, typer.Option("--input", metavar="JSON|@FILE|@-", help="What `input` is.")] = None,
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
    journal = kept.url if specs or config or kept.flags else None
    terminal.flags, terminal.kept = kept.flags, journal is not None
    try:
        code_mode = CodeMode(
            command.connectors_of(specs, config),
            policy=command.policy_of(policy, config),
            ceilings=config.config.granted if config else None,
            journal=journal,
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


async def run_script(
    code_mode: CodeMode, request: Request, terminal: Terminal, form: Form, progress: Progress
) -> Outcome:
    """Run it and answer. Ctrl-C and SIGTERM cancel it, and its outcome is answered; a second one ends the process."""
    async with code_mode:
        execution = code_mode.start(request.script, input=request.input, budgets=request.budgets)
        with _interrupt_cancels(execution):
            # Whoever wants one document at the end has no use for events.
            if form is not Form.JSON:
                async for event in execution.events():
                    _show(event, terminal, form, progress)
            outcome = hinted(
                await execution.outcome(),
                connected=bool(code_mode.connectors),
                given=request.given,
                fuel=request.budgets.fuel is not None,
            )
        progress.stop()
        # Before the connectors close: that may take its time, and a person who cancelled should not wait for it.
        answer(outcome, terminal, form)
        if form is Form.PRETTY:
            _say_last_words(code_mode.connectors, terminal)
    return outcome


def _say_last_words(connectors: Iterable[Connector], terminal: Terminal) -> None:
    """What servers wrote that could not be started: the person may know what it means, and no script is told."""
    for connector in connectors:
        words = last_words(connector)
        if words:
            terminal.say(f"  {connector.name} wrote: {words}", "dim")


def answer(outcome: Outcome, terminal: Terminal, form: Form) -> None:
    """Write the outcome; in a stream it is the last event, its fields beside `event`."""
    if form is Form.PRETTY:
        terminal.outcome(outcome)
    elif form is Form.JSON:
        terminal.write(outcome.to_json_text())
    else:
        terminal.write(to_json_text({"event": "outcome", **outcome.to_json()}))


def _show(event: Mapping[str, object], terminal: Terminal, form: Form, progress: Progress) -> None:
    kind = event["event"]
    if kind == "outcome":
        return
    if form is Form.STREAM:
        terminal.write(to_json_text(event))
    elif kind == "log":
        terminal.log(event)
    elif kind == "emit":
        terminal.say(to_json_text(event.get("value")))
    elif kind == "call_started":
        progress.show(f"{event.get('connector')}.{event.get('method')}")
    elif kind == "progress":
        progress.show(_progress(event))
    elif kind == "question" and event.get("declined"):
        terminal.say(_declined(event), "yellow")


def _declined(event: Mapping[str, object]) -> str:
    """A question that nobody was asked, in the server's words, and how somebody would be."""
    words = f"{MARK}{one_line(str(event.get('message')), _MAX_MESSAGE)}"
    who = f"the server of {event.get('connector')}.{event.get('method')}"
    return f"{who} asked: {words}\n    declined: {event['declined']}"


def _progress(event: Mapping[str, object]) -> str:
    done, total, text = event.get("done"), event.get("total"), event.get("text")
    return f"{text or ''} {done}{'' if total is None else f' of {total}'}".strip()


@contextmanager
def _interrupt_cancels(execution: Execution) -> Generator[None]:
    """The first SIGINT or SIGTERM cancels the execution; after it the handlers that were there before are back."""
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def cancel(*_: object) -> None:
        restore()
        loop.call_soon_threadsafe(execution.cancel)

    for number in before:
        signal.signal(number, cancel)
    try:
        yield
    finally:
        restore()
