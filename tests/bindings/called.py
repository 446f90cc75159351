"""Calls of one connector, for tests."""

import asyncio

import pytest

from isolith_bindings.connector import CallContext, Connector
from isolith_bindings.errors import CallError
from isolith_bindings.testing import a_context


def call(connector: Connector, name: str, given: CallContext | None = None, /, **arguments: object) -> object:
    return asyncio.run(made(connector, name, given, **arguments))


async def made(connector: Connector, name: str, given: CallContext | None = None, /, **arguments: object) -> object:
    return await connector.call(connector.methods[name], arguments, given or a_context())


def failure(connector: Connector, name: str, **arguments: object) -> CallError:
    with pytest.raises(CallError) as caught:
        call(connector, name, None, **arguments)
    return caught.value
