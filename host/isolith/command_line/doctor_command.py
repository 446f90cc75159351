"""`isolith doctor`: what is missing on this machine, and whether every limit holds."""

from __future__ import annotations

import asyncio
from dataclasses import asdict

import typer

from isolith.command_line import command
from isolith.command_line.command import Json, guarded
from isolith.json_form import to_json_text
from isolith.run.self_test import trip_limits
from isolith_runtime.image.builder import open_store
from isolith_runtime.image.doctor import examine


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
