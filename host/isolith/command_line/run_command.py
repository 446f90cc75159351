"""One script from the command line to its outcome: events on the way, Ctrl-C, three forms of answer."""

from __future__ import annotations

import asyncio
import signal
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from isolith.command_line.hints import hinted
from isolith.json_form import to_json_text
from isolith_bindings.policy import ungoverned
from isolith_bindings.schema.quoting import MARK, one_line

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping

    from isolith.code_mode import CodeMode
    from isolith.command_line.request import Request
    from isolith.command_line.terminal import Progress, Terminal
    from isolith.outcome import Outcome
    from isolith.run.execution import Execution
    from isolith_bindings.connector import Connector


_MAX_MESSAGE = 500


@runtime_checkable
class Talkative(Protocol):
    """A connector with a program behind it, which may say why it does not work."""

    @property
    def last_words(self) -> str:
        """The last lines it wrote."""
        ...


class Form(StrEnum):
    """How `run` answers: for people, as one JSON document, or as events, one JSON document a line."""

    PRETTY = "pretty"
    JSON = "json"
    STREAM = "stream"


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
        behind = ungoverned(connector)
        if isinstance(behind, Talkative) and behind.last_words:
            terminal.say(f"  {connector.name} wrote: {one_line(behind.last_words, _MAX_MESSAGE)}", "dim")


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
