"""What a script asks of the host itself."""

from __future__ import annotations

import pytest

from isolith.run.artifacts import ArtifactStore
from isolith.run.host_services import HostServices
from isolith_bindings.catalog import Catalog
from isolith_bindings.connector import ArtifactRef
from isolith_bindings.errors import CallError
from isolith_bindings.testing import RecordingConnector

pytestmark = pytest.mark.anyio


def services() -> tuple[HostServices, ArtifactStore]:
    store = ArtifactStore()
    return HostServices(Catalog([RecordingConnector("tool", {"go": 1})]), store), store


async def test_an_artifact_is_kept() -> None:
    host, store = services()
    record = await host.call("artifact", {"content": b"abc", "mime": "text/plain", "name": "a"})
    assert isinstance(record, ArtifactRef)
    assert store.read(record.handle) == b"abc"


@pytest.mark.parametrize(
    ("name", "arguments", "kind"),
    [
        ("exec", {}, "unknown_tool"),
        ("__class__", {}, "unknown_tool"),
        ("search", {"query": 5}, "invalid_arguments"),
        ("search", {"no": "such"}, "invalid_arguments"),
        ("search", {"connector": "nope"}, "unknown_tool"),
        ("describe", {"target": 5}, "invalid_arguments"),
        ("describe", {"target": "tool.nope"}, "unknown_tool"),
        ("describe", {"target": "tool", "detail": "all"}, "invalid_arguments"),
        ("artifact", {}, "invalid_arguments"),
        ("artifact", {"content": "text", "mime": "m", "name": "n"}, "invalid_arguments"),
        ("artifact", {"content": b"", "mime": 1, "name": "n"}, "invalid_arguments"),
        ("artifact", {"content": bytes(70_000_000), "mime": "m", "name": "n"}, "invalid_arguments"),
    ],
)
async def test_whatever_a_guest_sends_is_refused_in_words(name: str, arguments: dict[str, object], kind: str) -> None:
    host, _ = services()
    with pytest.raises(CallError) as raised:
        await host.call(name, arguments)
    assert raised.value.kind == kind
    assert str(raised.value)
