from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isolith_runtime.image.private import make_private_directory
from isolith_runtime.image.sealed import SealedFile

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def workdir(tmp_path: Path) -> Path:
    make_private_directory(tmp_path / "work")
    return tmp_path / "work"


@pytest.fixture
def sealed(tmp_path: Path) -> SealedFile:
    return SealedFile(tmp_path / "kept" / "file", tmp_path / "kept" / "file.json")


@pytest.mark.parametrize("content", [b"", b"content"])
def test_verifies_what_it_wrote(sealed: SealedFile, workdir: Path, content: bytes) -> None:
    assert (sealed.verify(), sealed.last_used()) == (None, 0.0)
    record = sealed.write(content, {"a": (1, 2)}, workdir)
    assert (record.size, record.meta) == (len(content), {"a": [1, 2]})
    assert sealed.verify() == record
    assert sealed.last_used() > 0


def test_killed_between_file_and_record_does_not_verify(sealed: SealedFile, workdir: Path) -> None:
    sealed.write(b"old", {}, workdir)
    sealed.data.write_bytes(b"new")  # and the record is still that of the old one
    assert sealed.verify() is None


@pytest.mark.parametrize("text", ["", "{}", "null", '{"sha256": "", "size": "many", "created": "", "meta": {}}'])
def test_a_record_that_is_none_is_not_believed(sealed: SealedFile, workdir: Path, text: str) -> None:
    sealed.write(b"content", {}, workdir)
    sealed.record.write_text(text)
    assert sealed.read_record() is None
    assert sealed.verify() is None


def test_removes_both_and_an_empty_folder(sealed: SealedFile, workdir: Path) -> None:
    sealed.write(b"content", {}, workdir)
    sealed.remove()
    assert not sealed.data.parent.exists()
    sealed.remove()
