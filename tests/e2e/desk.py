"""A connector that is told of each end, and a host of it."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import TYPE_CHECKING

from isolith import CallError, CodeMode, Policy, Rule
from isolith_bindings.testing import RecordingConnector

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from isolith_bindings.connector import CallContext, Method

NO_ENDS_IT = Policy(preset="trusted", rules=(Rule(action="ask", match=("desk.ask",), on_rejection="end"),))


class Desk(RecordingConnector):
    """Keeps something upstream for each execution that uses it, by its id, and remembers the ends it was told of."""

    def __init__(self) -> None:
        super().__init__("desk", dict.fromkeys(("ask", "fail", "hang", "look")))
        self.methods["ask"] = dataclasses.replace(self.methods["ask"], revert="look")
        self.methods["look"] = dataclasses.replace(self.methods["look"], idempotent=True)
        self.upstream: dict[str, list[str]] = {}
        self.passes: list[str] = []
        self.executions: list[str] = []
        self.failing = True

    async def call(self, method: Method, arguments: Mapping[str, object], context: CallContext) -> object:
        self.upstream.setdefault(context.execution_id, []).append(method.name)
        if method.name == "hang":
            await asyncio.Event().wait()
        if method.name == "fail" and self.failing:
            raise CallError("tool_error", "not today")
        return None

    async def pass_ended(self, execution_id: str) -> None:
        self.passes.append(execution_id)

    async def execution_ended(self, execution_id: str) -> None:
        self.executions.append(execution_id)
        self.upstream.pop(execution_id, None)

    def told(self, execution_id: str) -> tuple[int, int]:
        """How often: of the end of a pass, and of the execution's."""
        return self.passes.count(execution_id), self.executions.count(execution_id)

    def host(self, folder: Path) -> CodeMode:
        """A host of it, with a journal in this folder."""
        return CodeMode([self], policy=NO_ENDS_IT, journal=folder / "journal.db", tend=False)
