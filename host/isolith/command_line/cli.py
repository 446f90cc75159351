"""The command line. Results go to stdout, everything else to stderr.

Exit codes: 0 completed, 1 failed, 2 wrong use, 3 a budget ended it, 4 paused, 5 a bug of ours.
"""

from __future__ import annotations

import io
import signal
import sys
from importlib.metadata import version
from typing import Annotated

import typer

from isolith.command_line.root import Root

app = typer.Typer(
    name="isolith",
    cls=Root,
    help="Run scripts that a model wrote, each in a fresh WebAssembly isolate that reaches only the tools it is given.",
    epilog="Example: isolith run -c 'sum(range(10))'",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


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
        typer.echo(f"isolith {version('isolith')}")
        raise typer.Exit


@app.callback()
def _root(
    *,
    _shown: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Whatever is asked for is asked of one of the commands."""
