"""Coverage-guided fuzzing of what takes bytes of a guest: `python tests/security/fuzz.py parse -max_total_time=300`.

Needs atheris, which is no dependency: it has wheels for CPython 3.11 to 3.13 on Linux alone. The first argument is a
target of `fuzz_targets.py`, the others are libFuzzer's. What is found goes to `fixtures/fuzz`, for `test_fuzz_corpus.py`.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def main() -> None:
    """Fuzz one target, beginning with what is kept of it."""
    atheris: Any = importlib.import_module("atheris")
    name, *options = sys.argv[1:]
    sys.path.insert(0, str(ROOT))
    with atheris.instrument_imports(include=["isolith", "isolith_runtime", "isolith_bindings"]):
        from tests.security.fuzz_targets import TARGETS
    found = tempfile.mkdtemp(prefix=f"fuzz-{name}-")  # the first folder is where libFuzzer writes
    atheris.Setup([sys.argv[0], *options, found, str(ROOT / "fixtures" / "fuzz" / name)], TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
