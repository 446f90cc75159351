"""How long an answer may be, as a configuration says."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest
from tests.bindings.openapi.bench import Client, a_document
from tests.bindings.openapi.loopback import Got, Reply, serving

from isolith.configuration.config import read_config
from isolith.configuration.connect import connect_config
from isolith.errors import UsageError
from isolith_bindings.connector import ArtifactRef
from isolith_bindings.errors import CallError
from isolith_bindings.openapi import OpenApi

if TYPE_CHECKING:
    from pathlib import Path

    from isolith_bindings.connector import Connector

MIB = 1 << 20
DOCUMENT = a_document(
    {"/read": {"get": {"operationId": "read", "responses": {"200": {"content": {"text/plain": {}}}}}}}
)


def configured(folder: Path, text: str) -> Connector:
    (folder / "shop.json").write_text(json.dumps(DOCUMENT))
    path = folder / "isolith.toml"
    path.write_text(f'[connectors.api]\nopenapi = "shop.json"\n{text}')
    [connector] = connect_config(read_config(path))
    return connector


def test_an_answer_is_as_long_as_the_configuration_allows(tmp_path: Path) -> None:
    size = MIB

    def answer(_got: Got) -> Reply:
        return Reply(b"x" * size, headers=(("content-type", "text/plain"),))

    async def within() -> None:
        nonlocal size
        async with serving(answer) as server:
            api = configured(tmp_path, f'server = "{server.url}"\nanswer_bytes = {MIB}\n')
            assert isinstance(api, OpenApi)
            await api.start()
            client = Client(api)
            assert await client.call("read") == "x" * MIB
            size += 1
            with pytest.raises(CallError, match="longer than the 1,048,576 bytes that are read") as caught:
                await client.call("read")
            assert isinstance(caught.value.data, ArtifactRef)
            assert caught.value.data.size == MIB
            await api.aclose()

    asyncio.run(within())


@pytest.mark.parametrize("wrong", [MIB - 1, (256 << 20) + 1])
def test_what_no_execution_could_keep_is_refused(tmp_path: Path, wrong: int) -> None:
    with pytest.raises(UsageError, match="answer_bytes"):
        configured(tmp_path, f"answer_bytes = {wrong}\n")


def test_it_is_nothing_of_a_server(tmp_path: Path) -> None:
    path = tmp_path / "isolith.toml"
    path.write_text(f'[connectors.api]\ncommand = "server"\nanswer_bytes = {MIB}\n')
    with pytest.raises(UsageError, match="`answer_bytes` does not go with `command`"):
        connect_config(read_config(path))
