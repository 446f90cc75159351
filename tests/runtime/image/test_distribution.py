from __future__ import annotations

import hashlib
import shutil
from typing import TYPE_CHECKING

import pytest
from structlog.testing import capture_logs

from isolith_runtime.errors import DigestError, DistributionError
from isolith_runtime.image import cross_build, distribution, npm
from isolith_runtime.image.distribution import DIRECTORY_VARIABLE, Distribution, Pin, obtain, verify
from isolith_runtime.image.progress import Stage, silent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

CONTENT = {"pyodide.asm.wasm": b"wasm", "python_stdlib.zip": b"stdlib"}
GOOD = Distribution(b"wasm", b"stdlib")


@pytest.fixture(autouse=True)
def small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    pins = {name: Pin(hashlib.sha256(content).hexdigest(), len(content)) for name, content in CONTENT.items()}
    monkeypatch.setattr(distribution, "FILES", pins)
    monkeypatch.delenv(DIRECTORY_VARIABLE, raising=False)
    monkeypatch.setattr(cross_build, "installed", lambda: False)


def npm_gives(monkeypatch: pytest.MonkeyPatch, files: dict[str, bytes] | None) -> None:
    def fetch(version: str, sizes: Mapping[str, int], workdir: Path) -> dict[str, bytes]:
        if files is None:
            raise DistributionError("npm is not on the PATH")
        return files

    monkeypatch.setattr(npm, "fetch", fetch)


def pyodide_build_gives(monkeypatch: pytest.MonkeyPatch, files: dict[str, bytes] | None) -> None:
    def fetch(version: str, names: Iterable[str], workdir: Path) -> dict[str, bytes]:
        if files is None:
            raise DistributionError("nothing is reached")
        return files

    monkeypatch.setattr(cross_build, "installed", lambda: True)
    monkeypatch.setattr(cross_build, "fetch", fetch)


def test_from_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in CONTENT.items():
        (tmp_path / name).write_bytes(content)
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path))
    stages: list[tuple[Stage, float]] = []
    assert obtain(tmp_path, lambda stage, fraction: stages.append((stage, fraction))) == GOOD
    assert stages == [(Stage.OBTAIN, 0.0), (Stage.OBTAIN, 1.0)]


def test_a_folder_that_lacks_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path))
    with pytest.raises(DistributionError, match=r"ISOLITH_PYODIDE_DIR is .*, where a file cannot be read: .*asm\.wasm"):
        obtain(tmp_path, silent)


@pytest.mark.parametrize("name", CONTENT)
def test_a_wrong_digest_names_file_expected_and_seen(name: str) -> None:
    expected, seen = (hashlib.sha256(content).hexdigest() for content in (CONTENT[name], b"evil"))
    with pytest.raises(DigestError, match=rf"^{name} from npm is not .*: expected sha256 {expected}, got {seen}\."):
        verify({**CONTENT, name: b"evil"}, "npm")


def test_pyodide_build_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pyodide_build_gives(monkeypatch, CONTENT)
    npm_gives(monkeypatch, None)
    assert obtain(tmp_path, silent) == GOOD


@pytest.mark.parametrize(
    ("given", "reason"), [(None, "nothing is reached"), ({**CONTENT, "python_stdlib.zip": b""}, "expected sha256")]
)
def test_npm_comes_next_and_the_reason_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, bytes] | None, reason: str
) -> None:
    pyodide_build_gives(monkeypatch, given)
    npm_gives(monkeypatch, CONTENT)
    with capture_logs() as logs:
        assert obtain(tmp_path, silent) == GOOD
    assert [log["event"] for log in logs] == ["pyodide-build could not provide Pyodide, trying npm"]
    assert reason in logs[0]["reason"]


def test_nothing_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npm_gives(monkeypatch, None)
    message = (
        r"could not be obtained: npm is not on the PATH\. Install Node\.js with npm .*pip install 'isolith\[image\]'"
    )
    with pytest.raises(DistributionError, match=message):
        obtain(tmp_path, silent)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
def test_the_real_thing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(cross_build, "installed", lambda: False)
    assert obtain(tmp_path, silent).wasm.startswith(b"\0asm")
