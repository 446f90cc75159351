"""`isolith schema`: the JSON Schemas of what Isolith writes and reads."""

from __future__ import annotations

import typer

from isolith.command_line import command
from isolith.command_line.command import guarded
from isolith.configuration.config import config_schema
from isolith.json_form import to_json_text
from isolith.outcome import outcome_schema

app = typer.Typer(help="JSON Schemas of what Isolith writes.", no_args_is_help=True)


@app.command(epilog="Example: isolith schema outcome > outcome.schema.json")
@guarded
def outcome() -> None:
    """Print the JSON Schema of the outcome."""
    command.terminal().write(to_json_text(outcome_schema(), indent=2))


@app.command(epilog="Example: isolith schema config > isolith.schema.json")
@guarded
def config() -> None:
    """Print the JSON Schema of a configuration file, isolith.toml."""
    command.terminal().write(to_json_text(config_schema(), indent=2))
