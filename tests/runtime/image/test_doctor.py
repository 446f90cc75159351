from __future__ import annotations

import shutil
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from isolith_runtime.errors import DistributionError
from isolith_runtime.image import cross_build, npm
from isolith_runtime.image.bundle import Bundle
from isolith_runtime.image.cache import ImageStore
from isolith_runtime.image.doctor import Finding, examine

if TYPE_CHECKING:
    from pathlib import Path

    from tests.runtime.image.conftest import FakeWork


@pytest.fixture(autouse=True)
def npm_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ISOLITH_PYODIDE_DIR", raising=False)
    monkeypatch.setattr(cross_build, "installed", lambda: False)
    monkeypatch.setattr(npm, "available", lambda: True)


def by_name(store: ImageStore) -> dict[str, Finding]:
    findings = examine(store)
    assert [finding.name for finding in findings if finding.ok == bool(finding.mend)] == []
    return {finding.name: finding for finding in findings}


def test_a_machine_with_an_image_lacks_nothing_even_without_npm(
    store: ImageStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.ensure()
    monkeypatch.setattr(npm, "available", lambda: False)
    findings = by_name(store)
    assert list(findings) == ["python", "wasmtime", "image store", "image"]
    assert all(finding.ok for finding in findings.values())


def test_a_new_machine_is_told_the_command_and_left_as_it_was(store: ImageStore, home: Path) -> None:
    findings = by_name(store)
    assert [name for name, finding in findings.items() if not finding.ok] == ["image"]
    assert findings["image"].mend == "`isolith image build` (or the first `isolith run`)."
    assert findings["Pyodide 314.0.7"].detail == "through npm (pyodide-build is not installed)"
    assert not home.exists()


def test_no_way_to_get_pyodide(store: ImageStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npm, "available", lambda: False)
    finding = by_name(store)["Pyodide 314.0.7"]
    assert finding.detail == "no npm on the PATH; pyodide-build is not installed"
    assert "Install Node.js with npm, or set ISOLITH_PYODIDE_DIR" in finding.mend


@pytest.mark.parametrize("reachable", [True, False])
def test_pyodide_build_is_tried(store: ImageStore, monkeypatch: pytest.MonkeyPatch, reachable: bool) -> None:
    def look_up(version: str, workdir: Path) -> None:
        if not reachable:
            raise DistributionError("no route")

    monkeypatch.setattr(cross_build, "installed", lambda: True)
    monkeypatch.setattr(cross_build, "look_up", look_up)
    detail = by_name(store)["Pyodide 314.0.7"].detail
    fallback = "through npm (pyodide-build is installed, but cannot be used: no route)"
    assert detail == ("through pyodide-build" if reachable else fallback)


def test_a_bundle_needs_no_source(store: ImageStore, work: FakeWork, tmp_path: Path) -> None:
    target = Bundle(tmp_path / "bundled")
    store.bundle(target)
    findings = by_name(ImageStore(work.builder(), tmp_path / "other machine", target))
    assert list(findings) == ["python", "wasmtime", "image store", "image", "disk space"]
    assert findings["image"].detail == "bundled, not yet compiled on this machine"


def test_a_store_others_can_write(store: ImageStore, home: Path) -> None:
    store.ensure()
    (home / "images").chmod(0o777)
    finding = by_name(store)["image store"]
    assert not finding.ok
    assert "`chmod go-w" in finding.detail


def test_a_full_disk(store: ImageStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def disk_usage(_path: Path) -> SimpleNamespace:
        return SimpleNamespace(free=1_000_000)

    monkeypatch.setattr(shutil, "disk_usage", disk_usage)
    assert by_name(store)["disk space"].detail == "1 MB free, a build needs 300"


def test_wasmtime_that_does_not_load(store: ImageStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> None:
        raise OSError(f"lib{name}.so: cannot open shared object file")

    monkeypatch.setattr("importlib.import_module", fail)
    finding = by_name(store)["wasmtime"]
    assert (finding.ok, finding.detail) == (False, "cannot be imported: libwasmtime.so: cannot open shared object file")
