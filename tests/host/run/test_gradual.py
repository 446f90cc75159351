"""A run waits for the connectors it names, and what was there for it alone ends with it."""

from __future__ import annotations

import asyncio

import pytest

from isolith.run.gradual import BROWSING_S, known, let_go
from isolith_bindings.policy import Policy, govern
from isolith_bindings.testing import RecordingConnector


class Server(RecordingConnector):
    """Remembers for how long it was waited, and which runs ended."""

    def __init__(self, name: str, *, fails: bool = False) -> None:
        super().__init__(name, {})
        self.waited: list[float] = []
        self.ended: list[str] = []
        self.fails = fails

    async def ready(self, timeout_s: float) -> bool:
        self.waited.append(timeout_s)
        return False

    async def execution_ended(self, execution_id: str) -> None:
        if self.fails:
            raise OSError("it would not go")
        self.ended.append(execution_id)


@pytest.mark.parametrize(
    ("script", "files", "docs"),
    [
        ("await files.read(path='x')", [30.0], []),
        ("tools['files'].read(path='x')", [30.0], [BROWSING_S]),
        ("search('documents')", [BROWSING_S], [BROWSING_S]),
        ("profiles = [docs_of(x) for x in y]", [], []),
        ("await asyncio.gather(files.a(), docs.b())", [30.0], [30.0]),
        ("1 + 1", [], []),
    ],
)
def test_what_a_script_names_is_waited_for(script: str, files: list[float], docs: list[float]) -> None:
    servers = {"files": Server("files"), "docs": Server("docs")}
    policy = Policy(preset="trusted")
    governed = {name: govern(server, policy) for name, server in servers.items()}
    asyncio.run(known({**governed, "plain": RecordingConnector("plain", {})}, script, 30.0))
    assert (servers["files"].waited, servers["docs"].waited) == (files, docs)


def test_all_are_told_that_a_run_has_ended() -> None:
    broken, server = Server("a", fails=True), Server("b")
    governed = govern(server, Policy(preset="trusted"))
    asyncio.run(let_go([broken, RecordingConnector("plain", {}), governed], "run-1"))
    assert server.ended == ["run-1"]
