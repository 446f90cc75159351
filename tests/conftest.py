"""What every test may use: the supply of guests of this process, from the user's own image store."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
import structlog
from hypothesis import HealthCheck, settings
from tests.postgres import cluster

from isolith.run import type_checker
from isolith.run.supply import get_supply

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isolith_runtime.driver import Supply

# What the terminal of who runs the tests is like, or a CI says of itself, changes no output; Typer looks once, when it is
# imported.
for _name in ("COLUMNS", "LINES", "FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS"):
    os.environ.pop(_name, None)

# Packages may have to come by a proxy; the servers of the tests are on this machine.
for _name in ("no_proxy", "NO_PROXY"):
    os.environ[_name] = ",".join(filter(None, (os.environ.get(_name), "127.0.0.1", "localhost")))

# A machine that is busy with other things is slow, and that fails no property. Each run tries the same examples, so that
# none fails for what it did not change; `ISOLITH_EXPLORE=1000` tries so many new ones wherever a test names no number.
_EXPLORED = int(os.environ.get("ISOLITH_EXPLORE", "0"))
settings.register_profile(
    "isolith",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=not _EXPLORED,
    max_examples=_EXPLORED or 100,
)
settings.load_profile("isolith")


@pytest.fixture(scope="session", autouse=True)
def _same_examples() -> Iterator[None]:
    """Hypothesis draws from the constants of every module here that is loaded by then: others in each order of files."""
    with pytest.MonkeyPatch.context() as patched:
        if not _EXPLORED:
            place = "hypothesis.internal.conjecture.providers.is_local_module_file"
            patched.setattr(place, lambda _path: False, raising=False)
        yield


@pytest.fixture(scope="session", autouse=True)
def _data_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What commands keep, the journal for one, is kept here and not among the user's own."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _time_for_type_checkers() -> Iterator[None]:
    """A person waits a few seconds for what they say; a test, however busy the machine is."""
    with pytest.MonkeyPatch.context() as patched:
        for name in ("_TIMEOUT_S", "_FAST_TIMEOUT_S"):
            patched.setattr(type_checker, name, 240.0)
        yield


@pytest.fixture(autouse=True)
def _log_as_it_was() -> Iterator[None]:
    """A command that a test ran in this process must not leave its own, closed, stderr to log to."""
    yield
    structlog.reset_defaults()


@pytest.fixture(scope="session")
def supply() -> Supply:
    """Builds the image where there is none, which takes half a minute."""
    return get_supply()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a Postgres of these tests' own."""
    with cluster() as url:
        yield url
