"""Run by test_cache in processes of their own: HOME JOURNAL [STEP TO BE HELD AT]; prints the compiled key."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.runtime.image.conftest import FakeWork

from isolith_runtime.image.bundle import Bundle
from isolith_runtime.image.cache import ImageStore

home, journal, hold = sys.argv[1:]
work = FakeWork(Path(journal), hold)
store = ImageStore(work.builder(), Path(home), Bundle(Path(home) / "no bundle here"))
sys.stdout.write(store.ensure(work.progress).compiled_key)
