"""The command `isolith` itself: who asks for JSON is told in JSON, too, that a flag or an argument is wrong."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import typer
from typer.core import TyperGroup

from isolith.command_line.commands import COMMANDS

_JSON = "isolith.json"


@runtime_checkable
class _Misused(Protocol):
    """What Typer raises for arguments that a command does not take. Its class is in a private place."""

    def format_message(self) -> str:
        """What is wrong, in a sentence."""
        ...


class Root(TyperGroup):
    """Every command below it refuses arguments in the form that was asked for."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - Typer's
        super().__init__(**settings)
        for each in COMMANDS:
            self.add_command(each)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - Typer's is private
        """Note the form before the words are handed to the commands."""
        ctx.meta[_JSON] = "--json" in args
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - as above
        """Run the command that was named."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            if not ctx.meta[_JSON] or not isinstance(error, _Misused):
                raise
            from isolith.command_line import command  # noqa: PLC0415 - what only a command has to wait for

            command.refuse(error.format_message(), None, json=True)
            raise typer.Exit(2) from error
