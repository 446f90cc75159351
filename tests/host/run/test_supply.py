"""The guests' supply: one for each image in a process, made once, dropped whole."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from isolith.run.supply import get_supply, ready_supply
from isolith_runtime.errors import ImageError
from isolith_runtime.image.cache import ImageStore

if TYPE_CHECKING:
    from pathlib import Path

    from isolith_runtime.driver import Supply


def test_there_is_one(supply: Supply) -> None:
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: get_supply(), range(16)))
    assert all(one is supply for one in found)
    assert ready_supply() is supply


def test_none_is_ready_where_none_was_asked_for(tmp_path: Path) -> None:
    assert ready_supply("epoch", tmp_path) is None


def test_an_image_that_cannot_be_had_is_said_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_self: ImageStore, *_: object) -> None:
        raise ImageError("no npm, no network")

    monkeypatch.setattr(ImageStore, "ensure", fail)
    for _ in range(2):
        with pytest.raises(ImageError, match="no npm, no network"):
            get_supply("epoch", tmp_path)
    assert ready_supply("epoch", tmp_path) is None


CLOSING = """
import threading
from isolith import CodeMode
from isolith.run.supply import close_supplies, get_supply, ready_supply
code_mode = CodeMode()
first = get_supply()
assert code_mode.execute_sync("1 + 1").value == 2
close_supplies()
close_supplies()
assert ready_supply() is None
assert not [t for t in threading.enumerate() if t.name == "isolith-guest"]
assert code_mode.execute_sync("1 + 1").value == 2
assert get_supply() is not first
print("closed")
"""


def test_after_closing_there_is_a_new_one(supply: Supply) -> None:
    done = subprocess.run([sys.executable, "-c", CLOSING], capture_output=True, text=True, timeout=240, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "closed\n", "")


def test_a_process_that_ends_in_the_middle_of_a_run_ends(supply: Supply) -> None:
    script = "import asyncio, isolith\nasync def main():\n    isolith.CodeMode().start('while True: pass')\n    await asyncio.sleep(0.3)\nasyncio.run(main())\nprint('ended')"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=240, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ended\n", "")
