"""Artifacts: bytes under handles nobody can guess, bounded in all."""

from __future__ import annotations

import pytest

from isolith.run.artifacts import MAX_BYTES, ArtifactsFull, ArtifactStore
from isolith_bindings.files import IN_MEMORY, ByteFile, compact


def test_bytes_come_back_under_their_handle() -> None:
    store = ArtifactStore()
    first = store.keep(b"abc", mime="text/plain", name="a.txt")
    second = store.keep(b"", mime="image/png", name=None)
    assert (store.read(first.handle), store.read(second.handle)) == (b"abc", b"")
    assert (first.bytes, first.mime, first.name, second.name) == (3, "text/plain", "a.txt", None)
    assert store.records() == (first, second)


def test_a_handle_is_of_one_store_and_long_enough_not_to_be_guessed() -> None:
    record = ArtifactStore().keep(b"a", mime="m", name="n")
    assert len(record.handle) > 20
    with pytest.raises(KeyError):
        ArtifactStore().read(record.handle)


def test_names_and_types_are_cut() -> None:
    record = ArtifactStore().keep(b"a", mime="m" * 1000, name="n" * 1000)
    assert (len(record.mime), len(record.name or "")) == (200, 200)


def test_full_is_said_and_what_is_kept_stays() -> None:
    store = ArtifactStore()
    record = store.keep(bytes(MAX_BYTES - 1), mime="m", name="n")
    with pytest.raises(ArtifactsFull, match="may keep 67,108,864 bytes"):
        store.keep(b"ab", mime="m", name="n")
    store.keep(b"a", mime="m", name="n")
    assert len(store.records()) == 2
    assert len(store.read(record.handle)) == MAX_BYTES - 1


def test_files_are_counted_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isolith.run.artifacts.MAX_FILE_BYTES", 10)
    store = ArtifactStore()
    record = store.keep(ByteFile.of(b"abcdefghi"), mime="m", name="n")
    with pytest.raises(ArtifactsFull, match="10 bytes of long answers"):
        store.keep(ByteFile.of(b"ab"), mime="m", name="n")
    store.keep(ByteFile.of(b"j"), mime="m", name="n")
    store.keep(b"bytes beside them", mime="m", name="n")
    assert (store.read(record.handle), store.read(record.handle, 2, 3), record.bytes) == (b"abcdefghi", b"cde", 9)


def test_content_that_was_kept_before_comes_back_in_either_form() -> None:
    store = ArtifactStore()
    store.restore("art_1", ByteFile.of(b"file"), mime="m", name=None)
    store.restore("art_2", compact(b"bytes"), mime="m", name=None)
    assert [store.read(each.handle) for each in store.records()] == [b"file", b"bytes"]
    assert isinstance(compact(bytes(IN_MEMORY)), bytes)
    assert isinstance(compact(bytes(IN_MEMORY + 1)), ByteFile)
