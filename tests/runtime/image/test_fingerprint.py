from __future__ import annotations

from pathlib import Path

import pytest

from isolith_runtime.image import fingerprint


def next_version(name: str) -> str:
    return f"next {name}"


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("image/build.py", "image/cache.py", "guest/loop.py", "guest/stdlib/zlib.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    monkeypatch.setattr(fingerprint, "_IMAGE", tmp_path / "image")
    monkeypatch.setattr(fingerprint, "_GUEST", tmp_path / "guest")
    return tmp_path


@pytest.mark.parametrize("name", ["image/build.py", "image/new.py", "guest/loop.py", "guest/stdlib/zlib.py"])
def test_what_shapes_the_snapshot_changes_its_key(sources: Path, name: str) -> None:
    before = fingerprint.build_inputs()
    (sources / name).write_text("other")
    assert fingerprint.build_inputs() != before


def test_what_only_keeps_it_does_not(sources: Path) -> None:
    before = fingerprint.build_inputs()
    (sources / "image/cache.py").write_text("other")
    assert fingerprint.build_inputs() == before


def test_every_file_said_to_only_keep_images_exists() -> None:
    folder = Path(fingerprint.__file__).parent
    assert {name for name in fingerprint.KEEPING_FILES if not (folder / name).is_file()} == set()


def test_the_compiled_key_is_of_everything_native_code_depends_on(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {
        fingerprint.compiled_key("snapshot", "config", "epoch"),
        fingerprint.compiled_key("other", "config", "epoch"),
        fingerprint.compiled_key("snapshot", "other", "epoch"),
        fingerprint.compiled_key("snapshot", "config", "fuel"),
    }
    monkeypatch.setattr(fingerprint, "cpu", lambda: "another CPU")
    keys.add(fingerprint.compiled_key("snapshot", "config", "epoch"))
    monkeypatch.setattr(fingerprint, "version", next_version)
    keys.add(fingerprint.compiled_key("snapshot", "config", "epoch"))
    assert len(keys) == 6
    assert fingerprint.compiled_key("snapshot", "config", "epoch") in keys


def test_the_cpu_is_told_by_model_and_flags_not_by_its_present_speed() -> None:
    if not Path("/proc/cpuinfo").exists():
        pytest.skip("only Linux lists what a CPU can do in a file")
    told = fingerprint.cpu()
    assert told == fingerprint.cpu()
    assert told
    assert "MHz" not in told
