"""A builder that is quick, writes down what it does, and can be held at a step."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from isolith_runtime.image.bundle import Bundle
from isolith_runtime.image.cache import Builder, ImageStore, Variant
from isolith_runtime.image.distribution import Distribution
from isolith_runtime.image.progress import Progress, Stage

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(frozen=True)
class FakeSnapshot:
    wasm: bytes
    meta: dict[str, object]


@dataclass
class FakeWork:
    """`journal` gets a line for every step, from any process; `hold` is a step that waits until `release()`."""

    journal: Path
    hold: str = ""
    snapshot: FakeSnapshot = field(default_factory=lambda: FakeSnapshot(b"\0asm snapshot", {"step": 7}))
    config: str = "config"
    stages: list[tuple[Stage, float]] = field(default_factory=list[tuple[Stage, float]])

    def builder(self) -> Builder:
        return Builder(self._obtain, self._build_snapshot, self._compile_image, lambda variant: self.config + variant)

    def steps(self) -> list[str]:
        return self.journal.read_text().split() if self.journal.exists() else []

    def release(self) -> None:
        self._released.touch()

    def progress(self, stage: Stage, fraction: float) -> None:
        self.stages.append((stage, fraction))
        if stage is Stage.WAIT:
            self._step("wait")

    @property
    def _released(self) -> Path:
        return self.journal.with_suffix(".released")

    def _step(self, name: str) -> None:
        with self.journal.open("a") as file:
            file.write(f"{name}\n")
        if name == self.hold:
            wait_until(self._released.exists)

    def _obtain(self, workdir: Path, _progress: Progress) -> Distribution:
        (workdir / "download").write_bytes(b"half a download")
        self._step("obtain")
        return Distribution(b"wasm", b"stdlib")

    def _build_snapshot(self, _distribution: Distribution, _progress: Progress) -> FakeSnapshot:
        self._step("snapshot")
        return self.snapshot

    def _compile_image(self, wasm: bytes, variant: Variant) -> bytes:
        self._step("compile")
        return b"compiled " + variant.encode() + b" " + wasm


def wait_until(condition: Callable[[], bool], timeout_s: float = 60.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.005)


@pytest.fixture
def until() -> Callable[[Callable[[], bool]], None]:
    return wait_until


@pytest.fixture
def work(tmp_path: Path) -> FakeWork:
    return FakeWork(tmp_path / "journal")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def no_bundle(tmp_path: Path) -> Bundle:
    return Bundle(tmp_path / "no bundle here")


@pytest.fixture
def store(work: FakeWork, home: Path, no_bundle: Bundle) -> ImageStore:
    return ImageStore(work.builder(), home, no_bundle)
