"""The server side of the suite: every scenario that a revision requires, in one process, with what each check came to."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

Checks = dict[str, str]
"""What each check came to, by its name; of several of one name, the worst."""

EVERYTHING = (sys.executable, str(Path(__file__).with_name("everything.py")))
_PATIENCE = Path(__file__).with_name("patience.cjs")
FINE = frozenset({"SUCCESS", "INFO"})
_SECONDS = 900


def required(suite: Sequence[str], revision: str) -> list[str]:
    """The server scenarios that a revision requires, in the suite's order."""
    command = [*suite, "list", "--server", "--requirements", revision]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    section = listed.partition("Server scenarios")[2].partition("Client scenarios")[0]
    return re.findall(r"^ *- (\S+)$", section, re.MULTILINE)


def play(suite: Sequence[str], url: str, revision: str) -> dict[str, Checks]:
    """Ask a server everything that a revision requires. What is run beside that, and never scored, is here as well."""
    with TemporaryDirectory() as folder:
        told = ["--url", url, "--requirements", revision, "--timeout", "120000", "--output-dir", folder]
        node, *program = suite
        command = [node, "--require", str(_PATIENCE), *program, "server", *told]
        subprocess.run(command, check=False, capture_output=True, timeout=_SECONDS)
        found = {_scenario(path): _checks(path) for path in Path(folder).glob("server-*/checks.json")}
    assert found, "the suite wrote no results"
    return found


def wrong(checks: Checks) -> Checks:
    """What is no success."""
    return {name: status for name, status in checks.items() if status not in FINE}


def _scenario(path: Path) -> str:
    return re.sub(r"-\d{4}-\d\d-\d\dT[\d-]+Z$", "", path.parent.name.removeprefix("server-"))


def _checks(path: Path) -> Checks:
    worst: Checks = {}
    for check in cast("list[dict[str, str]]", json.loads(path.read_text())):
        if worst.get(check["id"], "SUCCESS") in FINE:
            worst[check["id"]] = check["status"]
    return worst


@contextmanager
def serving(command: Sequence[str], environment: Mapping[str, str], folder: Path) -> Generator[str]:
    """A server as a process of its own, and its URL, which it says in its first line."""
    out, err = subprocess.PIPE, subprocess.STDOUT
    with subprocess.Popen(command, cwd=folder, env=dict(environment), stdout=out, stderr=err, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"serving (http://[^\s,]+)", process.stdout.readline())
        try:
            assert found is not None, process.stdout.read()
            yield found[1]
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate()
