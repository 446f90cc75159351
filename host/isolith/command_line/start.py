"""Where the command begins and ends.

`isolith check` has its type checker read Python's own stubs while the rest is imported.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def main() -> None:
    """Run the command line and end the process with its exit code."""
    if will_check(sys.argv[1:]):
        import_module("isolith.run.type_checker").get_ready("auto")
    # The memory of a process ends with it: to look through all of it for cycles once more is a tenth of a short run.
    atexit.register(gc.freeze)
    try:
        run = import_module("isolith.command_line.cli").main
    except KeyboardInterrupt:
        # Ctrl-C before there is a command to end: what was being imported is nobody's business.
        sys.stderr.write("isolith: interrupted\n")
        sys.exit(1)
    run()


def will_check(arguments: Sequence[str]) -> bool:
    """Whether scripts are to be checked against something, by a checker that nobody names: then it is told later."""
    if arguments[:1] != ["check"] or any(word.startswith("--types") for word in arguments):
        return False
    return "ISOLITH_CONFIG" in os.environ or any(word.startswith(("--connect", "--config")) for word in arguments)
