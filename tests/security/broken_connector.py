"""A connector that breaks its own contract, with secrets in its hands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.security.desk import CANARY

from isolith_bindings.connector import CallContext, Method

if TYPE_CHECKING:
    from collections.abc import Mapping


class BrokenConnector:
    """Raises what no connector may raise."""

    name = "cellar"
    description = "Secrets."
    methods: Mapping[str, Method] = {"open": Method("open", "open", "Open it.", {"type": "object"}, None, "open()")}
    excluded: Mapping[str, str] = {}

    async def call(self, method: Method, arguments: Mapping[str, object], context: CallContext) -> object:
        """Fail with a bug whose text, cause and locals are secret."""
        password = f"{CANARY}-password"
        try:
            raise KeyError(password)
        except KeyError as error:
            raise RuntimeError(f"connection string {CANARY}-url") from error

    async def start(self) -> None:
        """Nothing to do."""

    async def aclose(self) -> None:
        """Nothing to do."""
