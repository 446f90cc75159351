"""What commands there are, in the order in which the help names them. Each is imported when it is called.

To import them all takes most of a second, which `isolith --help` and each of the others would wait for.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand
from typer.main import get_group


class Later(TyperCommand):
    """A command that is known by name and help. `place` is where the rest is: `module:function`, or `module:app`."""

    def __init__(self, name: str, place: str, help: str, example: str) -> None:  # noqa: A002 - as Typer has it
        super().__init__(name, help=help, epilog=f"Example: isolith {example}")
        self._place = place

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:  # noqa: ANN401 - Typer's is private
        """Parse the words that follow, as the command itself does."""
        return self.loaded().make_context(info_name, args, parent, **extra)

    def loaded(self) -> Any:  # noqa: ANN401 - as above
        """The command itself."""
        module, _, name = self._place.partition(":")
        found = getattr(import_module(module), name)
        app = typer.Typer()
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=self.name, epilog=self.epilog)
        else:
            app.command(self.name, epilog=self.epilog)(found)
        return get_group(app).commands[str(self.name)]


COMMANDS = (
    Later(
        "run",
        "isolith.command_line.run_command:run",
        "Run a script and print the value of its last expression.",
        "run report.py --connect crm.py --input '{\"year\": 2026}'",
    ),
    Later(
        "check",
        "isolith.command_line.check_command:check",
        "Say what is wrong with scripts without running them. Ends with 1 if one of them cannot work.",
        "check report.py --connect crm.py",
    ),
    Later(
        "search",
        "isolith.command_line.discovery_command:search",
        "Find what can be called by what it does.",
        "search 'open invoices' --connect crm.py",
    ),
    Later(
        "describe",
        "isolith.command_line.discovery_command:describe",
        "Say how connectors, methods, their types and snippets are used.",
        "describe crm.list_contacts --connect crm.py",
    ),
    Later(
        "catalog",
        "isolith.command_line.discovery_command:catalog",
        "Print what a model is told of the connectors and their tools.",
        "catalog --connect crm.py",
    ),
    Later(
        "serve",
        "isolith.command_line.serve_command:serve",
        "Serve what is connected to MCP clients: execute, search, describe, resume. Starts at the policy `careful`.",
        "serve --http 127.0.0.1:8000 --connect crm.py",
    ),
    Later(
        "test",
        "isolith.testing.command:run_all",
        "Run scripts and compare what they come to with NAME.expect.json or .toml beside them.",
        "test scripts/ --connect crm.py --junit results.xml",
    ),
    Later(
        "connectors",
        "isolith.command_line.connectors_command:app",
        "What scripts may call, and how it is.",
        "connectors list --connect mcp.json",
    ),
    Later(
        "executions",
        "isolith.command_line.executions_command:app",
        "What ran, what waits for a person, and what is done about it.",
        "executions list --status paused",
    ),
    Later(
        "policy",
        "isolith.command_line.policy_command:app",
        "What scripts are allowed to call, and why.",
        "policy explain crm.delete --connect crm.py",
    ),
    Later(
        "snippets",
        "isolith.command_line.snippets_command:app",
        "Scripts that a person has read, for others to call.",
        "snippets list",
    ),
    Later(
        "tokens",
        "isolith.tokens.command:app",
        "Who may come in over the network: bearer tokens.",
        "tokens create ada --scope execute",
    ),
    Later(
        "image",
        "isolith.command_line.image_command:app",
        "The guest image: build it, look at it, remove it.",
        "image info",
    ),
    Later(
        "schema",
        "isolith.command_line.schema_command:app",
        "JSON Schemas of what Isolith writes.",
        "schema outcome",
    ),
    Later(
        "doctor",
        "isolith.command_line.doctor_command:doctor",
        "Say what is missing on this machine and what mends it; trip every limit once. Ends with 1 if anything fails.",
        "doctor",
    ),
)
