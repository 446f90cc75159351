"""Every server scenario of MCP's conformance suite, in both revisions, with no baseline.

Most of them ask for tools, prompts and resources of fixed names: `everything.py` puts those beside Isolith's own
server. What is not about such names is asked of `isolith serve` as it is, too.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.conformance.run import REVISIONS, installed
from tests.conformance.server import EVERYTHING, play, required, serving, wrong
from tests.e2e.serving import link_images

if TYPE_CHECKING:
    from collections.abc import Generator

    from isolith_runtime.driver import Supply

COUNTS = {"2026-07-28": 37, "2025-11-25": 30}
_BOTH = ("tools-list", "resources-list", "dns-rebinding-protection", "server-sse-multiple-streams")
AS_IT_IS = {
    "2026-07-28": (
        *(*_BOTH, "server-stateless", "sep-2164-resource-not-found", "caching"),
        "input-required-result-unsupported-methods",
    ),
    "2025-11-25": (*_BOTH, "server-initialize", "ping"),
}
NOT_ASKED = {
    "server-stateless": {
        "sep-2575-server-rejects-undeclared-capability",  # asks the tool test_missing_capability
        "sep-2575-missing-capability-http-400",
        "sep-2575-http-server-no-independent-requests-on-stream",  # asks the tool test_streaming_elicitation
        "sep-2575-server-no-log-without-loglevel",  # asks the tool test_logging_tool
        "sep-2575-server-sends-tools-list-changed-on-subscription",  # asks the tool test_trigger_tool_change
    },
    "caching": {"sep-2549-prompts-list-caching-hints"},  # there are no prompts
}

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1000)]


@pytest.fixture(scope="module")
def suite() -> list[str]:
    command = installed()
    if command is None:
        pytest.skip("npm is not installed")
    return command


@pytest.fixture(scope="module")
def environment(supply: Supply, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """State of its own, with the image that is there."""
    home = tmp_path_factory.mktemp("home")
    home.chmod(0o700)
    link_images(home)
    return {**os.environ, "ISOLITH_HOME": str(home)}


@pytest.fixture(scope="module")
def everything(environment: dict[str, str]) -> Generator[str]:
    with serving(EVERYTHING, environment, Path(environment["ISOLITH_HOME"])) as url:
        yield url


@pytest.fixture(scope="module")
def served(environment: dict[str, str]) -> Generator[str]:
    program = str(Path(sys.executable).with_name("isolith"))
    command = (program, "serve", "--http", "127.0.0.1:0", "--no-auth")
    with serving(command, environment, Path(environment["ISOLITH_HOME"])) as url:
        yield url


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_scenario(suite: list[str], everything: str, revision: str) -> None:
    asked, found = required(suite, revision), play(suite, everything, revision)
    assert len(asked) == COUNTS[revision]
    assert {name: wrong(found[name]) for name in asked if wrong(found[name])} == {}
    assert all(found[name] for name in asked)


@pytest.mark.parametrize("revision", REVISIONS)
def test_serve_as_it_is(suite: list[str], served: str, revision: str) -> None:
    found = play(suite, served, revision)
    for name in AS_IT_IS[revision]:
        assert found[name], name
        failed = {
            check for check, status in wrong(found[name]).items() if status != "SKIPPED"
        }  # there is no such thing
        assert failed == NOT_ASKED.get(name, set()), found[name]
