"""What it costs to read a large OpenAPI document, the first time and when it is kept: `python documents.py FILE...`.

Without a file, GitHub's and Stripe's own, from npm. CPU seconds of this process; each step once.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeVar

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.bindings.openapi import registry

from isolith_bindings.catalog import Catalog
from isolith_bindings.openapi import OpenApi

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")


def timed(what: str, do: Callable[[], _T]) -> _T:
    """Do it and print what it cost."""
    began = time.process_time()
    found = do()
    print(f"  {what}: {time.process_time() - began:.2f} s")
    return found


async def use(path: Path, folder: Path) -> None:
    """What a run, a search and a description cost, in this order."""
    connector = OpenApi(path, name="api", server="https://api.test", cache=folder)
    began = time.process_time()
    await connector.start()
    print(f"  read, ready to be called: {time.process_time() - began:.2f} s ({len(connector.methods):,} methods)")
    catalog = Catalog([connector])
    timed("made findable, first search", lambda: catalog.search("create"))
    name = next(iter(connector.methods))
    timed("one method described", lambda: catalog.describe(f"api.{name}"))
    timed("the whole catalogue listed, which writes every signature", catalog.listing)
    await connector.aclose()


def main() -> None:
    """Print the measurements."""
    given = [Path(text) for text in sys.argv[1:]]
    for path in given or [registry.document(*registry.GITHUB), registry.document(*registry.STRIPE)]:
        with TemporaryDirectory() as folder:
            for turn in ("first", "second"):
                print(f"{path.name}, {path.stat().st_size / 1e6:.1f} MB, the {turn} time:")
                asyncio.run(use(path, Path(folder)))


if __name__ == "__main__":
    main()
