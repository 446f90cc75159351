"""As a new user begins: the document that FastAPI writes, one file beside it, one command."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.bindings.openapi.applications import fastapi_app
from tests.bindings.openapi.asgi import served

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Isolith = Callable[..., Awaitable[tuple[int, str, str]]]


def fastapi_document(folder: Path) -> None:
    app = fastapi_app()
    (folder / "shop.json").write_text(json.dumps(app.openapi()))  # type: ignore[attr-defined]


def started_in(folder: Path) -> Isolith:
    async def isolith(*words: str) -> tuple[int, str, str]:
        """How a command ended, and what it said."""
        program = str(Path(sys.executable).with_name("isolith"))
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(program, *words, cwd=folder, stdout=pipe, stderr=pipe)
        out, err = await process.communicate()
        assert process.returncode is not None
        return process.returncode, out.decode(), err.decode()

    return isolith


@pytest.mark.slow
@pytest.mark.usefixtures("supply")
def test_one_file_one_command(tmp_path: Path) -> None:
    fastapi_document(tmp_path)
    isolith = started_in(tmp_path)

    async def within() -> None:
        async with served(fastapi_app()) as url:
            # The document says no address, and the error says what to write.
            code, _, err = await isolith("run", "--connect", "shop.json", "-c", "await shop.list_items()")
            assert (code, '`[connectors.shop]`, `openapi = "shop.json"`, `server = ' in err) == (1, True)
            (tmp_path / "isolith.toml").write_text(f'[connectors.shop]\nopenapi = "shop.json"\nserver = "{url}"\n')
            script = 'await shop.list_items(tag=["a"], limit=2)'
            code, out, err = await isolith("run", "--connect", "isolith.toml", "-c", script)
            assert (code, err, json.loads(out)) == (0, "", {"tag": ["a"], "limit": 2})
            # What is wrong names the parameter, where the document has it, and what is allowed.
            wrong = 'await shop.list_items(limit="m" + "any")'
            code, _, err = await isolith("run", "--connect", "isolith.toml", "-c", wrong)
            place = "`limit` (query parameter `limit` of GET /items, #/paths/~1items/get/parameters/1)"
            assert (code, f"{place}: expected integer" in err) == (1, True)
            code, _, err = await isolith("run", "--connect", "isolith.toml", "-c", "await shop.list_item()")
            assert (code, "did you mean shop.list_items" in err) == (1, True)

    asyncio.run(within())
