from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from isolith_runtime.image.bundle import Bundle, Manifest

if TYPE_CHECKING:
    from pathlib import Path

WASM = b"\0asm" * 10_000


def manifest_of(wasm: bytes) -> Manifest:
    sha256 = hashlib.sha256(wasm).hexdigest()
    return Manifest(key="key", inputs="inputs", sha256=sha256, size=len(wasm), meta={"step": 7})


def test_comes_back_as_it_was_and_smaller(tmp_path: Path) -> None:
    bundle, manifest = Bundle(tmp_path / "bundled"), manifest_of(WASM)
    bundle.write(manifest_of(b"an older one"), b"an older one")
    assert bundle.write(manifest, WASM) == tmp_path / "bundled"
    assert bundle.manifest("inputs") == manifest
    assert bundle.unpack(manifest) == WASM
    assert sum(path.stat().st_size for path in bundle.folder.iterdir()) < len(WASM) / 10


def test_one_of_other_sources_is_not_used(tmp_path: Path) -> None:
    bundle = Bundle(tmp_path)
    bundle.write(manifest_of(WASM), WASM)
    assert bundle.manifest("other inputs") is None


def test_one_that_unpacks_to_more_than_it_says_is_not_unpacked_further(tmp_path: Path) -> None:
    bundle = Bundle(tmp_path)
    bundle.write(manifest_of(b"small"), bytes(100_000_000))
    assert bundle.unpack(manifest_of(b"small")) is None
