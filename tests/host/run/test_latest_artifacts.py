"""Artifacts of runs that have ended and are in no journal: what is counted is what is kept."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from isolith.run import latest_artifacts
from isolith.run.artifacts import ArtifactStore
from isolith.run.latest_artifacts import LatestArtifacts

if TYPE_CHECKING:
    from isolith.journal.journal import Journal
    from isolith.run.execution import Execution

pytestmark = pytest.mark.anyio


async def no_journal() -> Journal:
    raise LookupError("it is not kept here")


def ended(execution_id: str, artifacts: ArtifactStore) -> Execution:
    order = SimpleNamespace(durable=None)
    return cast("Execution", SimpleNamespace(execution_id=execution_id, artifacts=artifacts, order=order))


def store_of(content: bytes) -> tuple[ArtifactStore, str]:
    store = ArtifactStore()
    return store, store.keep(content, mime="m", name=None).handle


async def test_what_is_kept_after_the_end_is_not_counted_and_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """A function in a thread cannot be stopped, and may keep more when its run is over."""
    monkeypatch.setattr(latest_artifacts, "MAX_KEPT", 20)
    latest = LatestArtifacts(no_journal)
    first, _ = store_of(b"0123456789")
    latest.keep(ended("first", first))
    late = first.keep(bytes(1000), mime="m", name=None).handle
    with pytest.raises(LookupError):
        await latest.read(None, "first", late)
    stores = {str(number): store_of(b"0123456789") for number in range(3)}
    for name, (store, _) in stores.items():
        latest.keep(ended(name, store))
    with pytest.raises(LookupError):
        await latest.read(None, "0", stores["0"][1])
    assert [await latest.read(None, name, stores[name][1]) for name in ("1", "2")] == [b"0123456789"] * 2


async def test_an_id_that_is_used_twice_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(latest_artifacts, "MAX_KEPT", 20)
    latest = LatestArtifacts(no_journal)
    again, handle = store_of(b"0123456789")
    other, another = store_of(b"0123456789")
    for execution in (ended("same", store_of(b"0123456789")[0]), ended("same", again), ended("other", other)):
        latest.keep(execution)
    assert await latest.read(None, "same", handle) == await latest.read(None, "other", another) == b"0123456789"
