"""A program that ends while its tools are still being read: it ends well, and not in SQLite."""

from __future__ import annotations

import subprocess
import sys

# The thread is waited for after all that is done at the end of a process: an index that was closed there before crashed.
PROGRAM = """
import atexit
catalog = None
atexit.register(lambda: (thread := catalog._reading) and thread.join())
from isolith_bindings.catalog import Catalog
from isolith_bindings.testing import RecordingConnector
catalog = Catalog([RecordingConnector("tool", {f"find_number_{n}": n for n in range(1500)})])
catalog.follow()
while not catalog._index._entries:
    pass
"""


def test_a_process_may_end_while_the_index_is_made() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=240, check=False)
    assert (done.returncode, done.stderr) == (0, "")
