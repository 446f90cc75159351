from __future__ import annotations

import gzip
import io
import tarfile
from typing import TYPE_CHECKING

import pytest

from isolith_runtime.errors import DistributionError
from isolith_runtime.image import npm

if TYPE_CHECKING:
    from pathlib import Path

SIZES = {"one.wasm": 3, "two.zip": 4}


def archive(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as package:
        for info, content in members:
            package.addfile(info, io.BytesIO(content))
    return gzip.compress(buffer.getvalue(), mtime=0)


def member(name: str, content: bytes) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    return info, content


def link(name: str, target: str) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = tarfile.SYMTYPE, target
    return info, b""


GOOD = archive(member("package/one.wasm", b"one"), member("package/two.zip", b"four"), member("../outside", b"x"))


@pytest.fixture
def workdir(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.fixture
def path_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def fake_npm(folder: Path, script: str) -> None:
    (folder / "npm").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "npm").chmod(0o755)


def packs(folder: Path, content: bytes) -> None:
    (folder / "packed").write_bytes(content)
    fake_npm(folder, f'echo "$@" > arguments; /bin/cat {folder}/packed > pyodide-1.2.3.tgz')


def test_reads_the_named_files_and_unpacks_nothing(path_folder: Path, workdir: Path) -> None:
    packs(path_folder, GOOD)
    assert npm.fetch("1.2.3", SIZES, workdir) == {"one.wasm": b"one", "two.zip": b"four"}
    assert (workdir / "arguments").read_text().startswith("pack pyodide@1.2.3 --ignore-scripts ")
    assert {path.name for path in workdir.iterdir()} == {"arguments", "pyodide-1.2.3.tgz"}
    assert not (workdir.parent / "outside").exists()


ODD = [
    (GOOD[: len(GOOD) // 2], r"is not a readable archive"),
    (b"not gzip", r"is not a readable archive"),
    (archive(member("package/one.wasm", b"one")), r"the npm package holds no package/two\.zip$"),
    (archive(member("package/one.wasm", b"long")), r"package/one\.wasm in the npm package is not a file of 3 bytes$"),
    (archive(link("package/one.wasm", "/etc/passwd")), r"package/one\.wasm in the npm package is not a file of 3"),
]


@pytest.mark.parametrize(("content", "message"), ODD)
def test_an_odd_archive_is_refused(path_folder: Path, workdir: Path, content: bytes, message: str) -> None:
    packs(path_folder, content)
    with pytest.raises(DistributionError, match=message):
        npm.fetch("1.2.3", SIZES, workdir)


def test_without_npm(path_folder: Path, workdir: Path) -> None:
    assert not npm.available()
    with pytest.raises(DistributionError, match=r"^npm is not on the PATH$"):
        npm.fetch("1.2.3", SIZES, workdir)


def test_npm_that_fails(path_folder: Path, workdir: Path) -> None:
    fake_npm(path_folder, "echo 'npm error code ENOTFOUND' >&2; exit 1")
    with pytest.raises(
        DistributionError, match=r"npm pack pyodide@1\.2\.3 .*` failed with exit code 1: code ENOTFOUND$"
    ):
        npm.fetch("1.2.3", SIZES, workdir)


def test_npm_that_packs_nothing(path_folder: Path, workdir: Path) -> None:
    fake_npm(path_folder, "exit 0")
    with pytest.raises(DistributionError, match=r"left 0 archives where one was expected$"):
        npm.fetch("1.2.3", SIZES, workdir)
