"""The server scenarios of MCP's conformance suite that `isolith serve` can be asked, as it is.

The others ask for tools, prompts and resources of fixed names, which only a server made for the suite has; in two
scenarios some of the checks do, and those are named here.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.conformance.run import installed
from tests.npm import missing

from isolith_runtime.image.builder import open_store

if TYPE_CHECKING:
    from collections.abc import Generator

    from isolith_runtime.driver import Supply

BOTH = ("tools-list", "resources-list", "dns-rebinding-protection", "server-sse-multiple-streams")
CASES = [
    *(("2026-07-28", name) for name in (*BOTH, "server-stateless", "sep-2164-resource-not-found", "caching")),
    ("2026-07-28", "input-required-result-unsupported-methods"),
    *(("2025-11-25", name) for name in (*BOTH, "server-initialize", "ping")),
]
NOT_ASKED = {
    "server-stateless": {
        "sep-2575-server-rejects-undeclared-capability",  # asks the tool test_missing_capability
        "sep-2575-missing-capability-http-400",
        "sep-2575-http-server-no-independent-requests-on-stream",  # asks the tool test_streaming_elicitation
        "sep-2575-server-no-log-without-loglevel",  # asks the tool test_logging_tool
    },
    "caching": {"sep-2549-prompts-list-caching-hints"},  # there are no prompts
}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def suite() -> list[str]:
    command = installed()
    if command is None:
        missing()
    return command


@pytest.fixture(scope="module")
def url(supply: Supply, tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """A server with state of its own and the image that is there."""
    home = tmp_path_factory.mktemp("home")
    home.chmod(0o700)
    shutil.copytree(open_store().folder.root, home / "images", copy_function=os.link)
    command = [str(Path(sys.executable).with_name("isolith")), "serve", "--http", "127.0.0.1:0", "--no-auth"]
    environment = {**os.environ, "ISOLITH_HOME": str(home)}
    with subprocess.Popen(command, cwd=home, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = re.search(r"serving (http://\S+)", process.stderr.readline())
        assert found is not None
        yield found[1]
        process.send_signal(signal.SIGTERM)
        process.communicate()


@pytest.mark.parametrize(("revision", "scenario"), CASES)
def test_a_scenario(suite: list[str], url: str, revision: str, scenario: str) -> None:
    told = ["--url", url, "--scenario", scenario, "--spec-version", revision]
    played = subprocess.run([*suite, "server", *told], check=False, capture_output=True, text=True, timeout=120)
    said = re.sub(r"\x1b\[\d+m", "", played.stdout + played.stderr)
    checks = re.findall(r"^\S+Z \[(\S+) *\] (SUCCESS|FAILURE|WARNING)", said, re.MULTILINE)
    assert any(result == "SUCCESS" for _, result in checks), said
    assert {name for name, result in checks if result != "SUCCESS"} == NOT_ASKED.get(scenario, set()), said
