"""What is looked through over HTTP has what servers offer that were starting when it was asked for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import httpx2
import pytest
from tests.host.http.conftest import app_of

from isolith import CodeMode
from isolith_bindings.testing import RecordingConnector, a_method

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio


class Starting(RecordingConnector):
    """A server that comes up when it is waited for."""

    def __init__(self) -> None:
        super().__init__("notes", {})
        self.state = "starting"

    def status(self) -> SimpleNamespace:
        return SimpleNamespace(state=self.state, reason=None)

    async def ready(self, timeout_s: float) -> bool:
        assert timeout_s > 0
        self.state, self.methods = "connected", {"note": a_method("note", description="Keep a note.")}
        return True


@pytest.mark.parametrize("path", ["/v1/catalog", "/v1/search?query=note", "/v1/describe?target=notes"])
async def test_a_server_that_is_starting_is_waited_for(path: str, tmp_path: Path) -> None:
    async with CodeMode([Starting()], journal=tmp_path / "journal.db", tend=False) as code_mode:
        transport = httpx2.ASGITransport(app=app_of(code_mode, auth=False))
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as http:
            answer = await http.get(path)
    assert answer.status_code == 200
    assert "notes.note" in answer.text
