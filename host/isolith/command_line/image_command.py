"""`isolith image`: the guest image on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from isolith.command_line import command
from isolith.command_line.command import Json, guarded
from isolith.json_form import to_json_text
from isolith_runtime.image.builder import open_store
from isolith_runtime.image.bundle import Bundle

app = typer.Typer(help="The guest image: build it, look at it, remove it.", no_args_is_help=True)


@app.command(epilog="Example: isolith image build")
@guarded
def build(
    *,
    bundle: Annotated[
        bool, typer.Option("--bundle", help="Also put it where a wheel that is built carries it.")
    ] = False,
) -> None:
    """Build the guest image, once for this machine, and print where it is."""
    terminal = command.terminal()
    store = open_store()
    with terminal.progress() as progress:
        files = store.ensure(lambda stage, done: progress.show(f"{stage} {done:.0%}"))
        carried = store.bundle(Bundle(), lambda stage, done: progress.show(f"{stage} {done:.0%}")) if bundle else None
    terminal.write(str(files.compiled))
    if carried:
        terminal.write(str(carried))


@app.command(epilog="Example: isolith image info")
@guarded
def info(*, _json: Json = False) -> None:
    """Print what there is of the guest image on this machine, as JSON whether or not that is asked for."""
    found = open_store().info()
    document = {
        "folder": str(found.folder),
        "image": str(found.image.compiled) if found.image else None,
        "created": found.created,
        "bundled": found.bundled,
        "total_bytes": found.total_bytes,
    }
    command.terminal().write(to_json_text(document, indent=2))


@app.command(epilog="Example: isolith image clear")
@guarded
def clear() -> None:
    """Remove every image of this user; the next run builds one."""
    command.terminal().say(f"{open_store().clear() / 1e6:.0f} MB freed")
