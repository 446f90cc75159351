from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from isolith_runtime.errors import DistributionError, ImageStoreError, UnsafeStoreError
from isolith_runtime.image import fingerprint
from isolith_runtime.image.bundle import Bundle
from isolith_runtime.image.cache import Builder, ImageFiles, ImageStore
from isolith_runtime.image.progress import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.runtime.image.conftest import FakeWork

    from isolith_runtime.image.distribution import Distribution
    from isolith_runtime.image.progress import Progress

ROOT = Path(__file__).parents[3]
BUILT = ["obtain", "snapshot", "compile"]


def start(home: Path, work: FakeWork, hold: str = "") -> subprocess.Popen[str]:
    script = Path(__file__).with_name("ensure_in_process.py")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    command = [sys.executable, str(script), str(home), str(work.journal), hold]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def files_under(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def expected_files(image: ImageFiles) -> set[str]:
    snapshot = f"snapshots/{image.snapshot_key}"
    compiled = f"compiled/{image.compiled_key}"
    return {"build.lock", f"{snapshot}/snapshot.wasm", f"{snapshot}/meta.json", f"{compiled}.cwasm", f"{compiled}.json"}


def test_builds_once_and_finds_it_again(store: ImageStore, work: FakeWork, home: Path) -> None:
    first = store.ensure(work.progress)
    assert first.compiled.read_bytes() == b"compiled epoch \0asm snapshot"
    assert first.meta == {"step": 7}
    assert files_under(home / "images") == expected_files(first)
    assert work.stages == [(Stage.COMPILE, 0.0), (Stage.COMPILE, 1.0)]

    assert store.ensure(work.progress) == first
    assert work.steps() == BUILT


def test_what_is_kept_is_private(store: ImageStore, home: Path) -> None:
    store.ensure()
    for path in (home, *home.rglob("*")):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


def test_variants_share_the_snapshot(store: ImageStore, work: FakeWork) -> None:
    epoch, fuel = store.ensure(), store.ensure(variant="fuel")
    assert fuel.compiled.read_bytes() == b"compiled fuel \0asm snapshot"
    assert (epoch.snapshot_key, work.steps()) == (fuel.snapshot_key, [*BUILT, "compile"])


def test_another_engine_config_is_another_image(store: ImageStore, work: FakeWork) -> None:
    before = store.ensure()
    work.config = "other config"
    assert store.ensure().compiled_key != before.compiled_key
    assert work.steps() == [*BUILT, "compile"]


def test_meta_is_the_same_when_built_and_when_found(store: ImageStore, work: FakeWork) -> None:
    work.snapshot.meta["modules"] = ("json", "re")
    assert store.ensure().meta == store.ensure().meta == {"step": 7, "modules": ["json", "re"]}


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 1)


def halve(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def change(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))


def empty(path: Path) -> None:
    os.truncate(path, 0)


@pytest.mark.parametrize("harm", [cut, change, empty, Path.unlink])
@pytest.mark.parametrize("suffix", [".cwasm", ".json"])
def test_a_damaged_compiled_image_is_made_again(
    store: ImageStore, work: FakeWork, harm: Callable[[Path], None], suffix: str
) -> None:
    before = store.ensure()
    content = before.compiled.read_bytes()
    harm(before.compiled.with_suffix(suffix))
    assert store.ensure().compiled.read_bytes() == content
    assert work.steps() == [*BUILT, "compile"]


@pytest.mark.parametrize("harm", [cut, change, empty, Path.unlink])
def test_a_damaged_snapshot_is_not_compiled(store: ImageStore, work: FakeWork, harm: Callable[[Path], None]) -> None:
    image = store.ensure()
    harm(store.folder.snapshot(image.snapshot_key).data)
    image.compiled.unlink()
    assert store.ensure().compiled.read_bytes() == b"compiled epoch \0asm snapshot"
    assert work.steps() == [*BUILT, *BUILT]


@pytest.mark.parametrize("harm", [cut, change, empty, Path.unlink])
def test_a_damaged_snapshot_record_is_not_believed(
    store: ImageStore, work: FakeWork, harm: Callable[[Path], None]
) -> None:
    image = store.ensure()
    harm(store.folder.snapshot(image.snapshot_key).record)
    assert store.ensure().meta == image.meta


def test_a_failed_build_leaves_nothing_and_the_next_succeeds(home: Path, work: FakeWork, no_bundle: Bundle) -> None:
    def unreachable(workdir: Path, progress: Progress) -> Distribution:
        (workdir / "half").touch()
        raise DistributionError("no network")

    good = work.builder()
    bad = Builder(unreachable, good.build_snapshot, good.compile_image, good.config_fingerprint)
    with pytest.raises(DistributionError, match=r"^no network$"):
        ImageStore(bad, home, no_bundle).ensure()
    assert files_under(home / "images") == {"build.lock"}

    image = ImageStore(good, home, no_bundle).ensure()
    assert files_under(home / "images") == expected_files(image)


@pytest.mark.slow
def test_ten_processes_build_once(home: Path, work: FakeWork, until: Callable[[Callable[[], bool]], None]) -> None:
    # The one that builds is held until the nine others have said that they wait.
    processes = [start(home, work, hold="compile") for _ in range(10)]
    until(lambda: work.steps().count("wait") == 9)
    work.release()
    keys = {process.communicate(timeout=240)[0] for process in processes}
    assert [process.returncode for process in processes] == [0] * 10
    assert len(keys) == 1
    assert sorted(work.steps()) == sorted([*BUILT, *["wait"] * 9])


@pytest.mark.slow
@pytest.mark.parametrize("step", BUILT)
def test_a_build_killed_half_way_leaves_nothing_broken(
    store: ImageStore, home: Path, work: FakeWork, until: Callable[[Callable[[], bool]], None], step: str
) -> None:
    process = start(home, work, hold=step)
    until(lambda: step in work.steps())
    process.kill()
    process.communicate()
    assert process.returncode == -9
    assert files_under(home / "images" / "work"), "it was killed while it worked"

    image = store.ensure()
    assert image.compiled.read_bytes() == b"compiled epoch \0asm snapshot"
    assert files_under(home / "images") == expected_files(image)


def test_leavings_of_a_killed_build_go_with_the_next(store: ImageStore, home: Path) -> None:
    image = store.ensure()
    leavings = home / "images" / "work"
    leavings.mkdir()
    (leavings / "unfinished-snapshot.wasm").write_bytes(b"half")
    image.compiled.unlink()
    store.ensure()
    assert files_under(home / "images") == expected_files(image)


def test_threads_build_once(store: ImageStore, work: FakeWork) -> None:
    threads = [threading.Thread(target=store.ensure) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert work.steps() == BUILT


def test_a_store_others_can_write_is_refused(store: ImageStore, home: Path) -> None:
    image = store.ensure()
    (home / "images").chmod(0o770)
    message = (
        rf"{home}/images can be written by other users \(mode 0770\)\. `chmod go-w {home}/images`, or set ISOLITH_HOME"
    )
    for refused in (store.ensure, store.info, store.clear):
        with pytest.raises(UnsafeStoreError, match=message):
            refused()
    assert image.compiled.exists()


def test_a_compiled_file_others_can_write_is_refused(store: ImageStore) -> None:
    compiled = store.ensure().compiled
    compiled.chmod(0o666)
    with pytest.raises(UnsafeStoreError, match=rf"{compiled} can be written by other users \(mode 0666\)"):
        store.ensure()


def test_a_store_that_cannot_be_made_says_what_to_do(work: FakeWork, tmp_path: Path, no_bundle: Bundle) -> None:
    (tmp_path / "file").touch()
    store = ImageStore(work.builder(), tmp_path / "file" / "home", no_bundle)
    with pytest.raises(ImageStoreError, match=r"cannot be used: .* set ISOLITH_HOME to a folder that is\.$"):
        store.ensure()


def test_info_makes_nothing(store: ImageStore, home: Path) -> None:
    info = store.info()
    assert (info.image, info.created, info.bundled, info.total_bytes) == (None, None, False, 0)
    assert not home.exists()


def test_info_tells_what_is_there(store: ImageStore, home: Path) -> None:
    image = store.ensure()
    info = store.info()
    assert (info.image, info.folder) == (image, home / "images")
    assert info.created is not None
    assert info.created.endswith("+00:00")
    assert info.total_bytes == sum(path.stat().st_size for path in home.rglob("*") if path.is_file())


def test_clear_removes_all_images(store: ImageStore, work: FakeWork, home: Path) -> None:
    before = store.info().total_bytes if store.ensure() else 0
    assert store.clear() == before
    assert files_under(home / "images") == {"build.lock"}
    assert store.info().image is None
    store.ensure()
    assert work.steps() == [*BUILT, *BUILT]


def test_a_bundle_needs_no_build(store: ImageStore, work: FakeWork, tmp_path: Path, no_bundle: Bundle) -> None:
    target = Bundle(tmp_path / "bundled")
    assert store.bundle(target) == target.folder
    assert work.steps() == ["obtain", "snapshot"]

    elsewhere = ImageStore(work.builder(), tmp_path / "other machine", target)
    assert elsewhere.info().bundled
    image = elsewhere.ensure(work.progress)
    assert image.compiled.read_bytes() == b"compiled epoch \0asm snapshot"
    assert image.meta == {"step": 7}
    assert work.steps() == ["obtain", "snapshot", "compile"]
    assert (Stage.UNPACK, 0.0) in work.stages


def test_a_bundle_with_other_time_zone_data_is_used(
    store: ImageStore, work: FakeWork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = Bundle(tmp_path / "bundled")
    store.bundle(target)

    def next_version(name: str) -> str:
        return f"next {name}"

    monkeypatch.setattr(fingerprint, "version", next_version)
    ImageStore(work.builder(), tmp_path / "other machine", target).ensure()
    assert work.steps() == ["obtain", "snapshot", "compile"]


@pytest.mark.parametrize("file", ["snapshot.wasm.z", "meta.json"])
@pytest.mark.parametrize("harm", [halve, change, empty, Path.unlink])
def test_a_damaged_bundle_is_not_used(
    store: ImageStore, work: FakeWork, tmp_path: Path, file: str, harm: Callable[[Path], None]
) -> None:
    target = Bundle(tmp_path / "bundled")
    store.bundle(target)
    harm(target.folder / file)
    image = ImageStore(work.builder(), tmp_path / "other machine", target).ensure()
    assert image.compiled.read_bytes() == b"compiled epoch \0asm snapshot"
    assert work.steps() == ["obtain", "snapshot", *BUILT]


def test_old_images_go_and_the_newest_stay(store: ImageStore, work: FakeWork, home: Path) -> None:
    made: list[ImageFiles] = []
    for number in range(6):
        work.config = f"config {number}"
        made.append(store.ensure())
        os.utime(made[-1].compiled.with_suffix(".json"), (number, number))
    assert [image.compiled.exists() for image in made] == [False, False, True, True, True, True]
    assert len(list((home / "images" / "compiled").iterdir())) == 8
