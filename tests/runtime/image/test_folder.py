from __future__ import annotations

from pathlib import Path

import pytest
from platformdirs import user_cache_dir

from isolith_runtime.errors import ImageStoreError
from isolith_runtime.image import folder
from isolith_runtime.image.folder import StoreFolder
from isolith_runtime.image.progress import Stage, silent


def test_the_home_is_the_one_given_or_the_variable_or_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ISOLITH_HOME", str(tmp_path / "variable"))
    assert StoreFolder(tmp_path / "given").root == tmp_path / "given" / "images"
    assert StoreFolder().root == tmp_path / "variable" / "images"
    monkeypatch.delenv("ISOLITH_HOME")
    assert StoreFolder().root == Path(user_cache_dir("isolith")).resolve() / "images"


def test_a_home_that_is_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "home").symlink_to(tmp_path / "disk")
    with StoreFolder(tmp_path / "home").open():
        assert (tmp_path / "disk" / "images" / "compiled").is_dir()


def test_a_lock_held_for_too_long_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "_WAIT_S", 0.06)
    stages: list[Stage] = []
    store, other = StoreFolder(tmp_path), StoreFolder(tmp_path)
    message = r"another process has held .*build\.lock for .*`fuser .*build\.lock` names it"
    with store.open(), store.building(silent), pytest.raises(ImageStoreError, match=message):
        other.clear(lambda stage, _fraction: stages.append(stage))
    assert stages == [Stage.WAIT]


def fill_the_disk(store: StoreFolder) -> None:
    with store.open(), store.building(silent) as workdir:
        (workdir / "half").touch()
        raise OSError(28, "No space left on device")


def test_a_build_that_fails_leaves_no_work(tmp_path: Path) -> None:
    with pytest.raises(ImageStoreError, match=r"No space left on device\. Make it readable and writable"):
        fill_the_disk(StoreFolder(tmp_path))
    assert not (tmp_path / "images" / "work").exists()
