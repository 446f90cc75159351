"""Secrets planted around connectors that fail show nowhere: not in outcomes, events, logs, nor in what is printed.

`test_hostile.py` asks the same of every script of the corpus, and of the journal of all of them.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, cast

import pytest
from tests.security.desk import CANARY

from isolith_bindings.secrets import MASK, redact

if TYPE_CHECKING:
    from tests.security.configured import Upstream

    from isolith import CodeMode, Outcome

pytestmark = pytest.mark.anyio

INTERNAL = ("cellar.open()", "await cellar.open()")
CAUGHT = (
    "try:\n    cellar.open()\nexcept Exception as error:\n    [str(error), repr(error), error.__dict__]",
    "import traceback\ntry:\n    cellar.open()\nexcept Exception:\n    traceback.format_exc()",
    "try:\n    desk.fail()\nexcept Exception as error:\n    [str(error), repr(error), error.__dict__, error.__notes__]",
    "try:\n    api.get_thing()\nexcept Exception as error:\n    [str(error), repr(error), error.__dict__]",
    "shop.get_thing()",
    "try:\n    shop.get_broken()\nexcept Exception as error:\n    [str(error), repr(error), error.__dict__]",
    "try:\n    remote.anything()\nexcept Exception as error:\n    [str(error), repr(error), error.__dict__]",
    "try:\n    local.anything()\nexcept Exception as error:\n    [str(error), repr(error), error.__dict__]",
    "[search('cellar'), search('api'), describe('api'), describe('cellar'), describe('api.get_thing')]",
)


SENT = ("key", "header", "bearer")
"""In the headers of requests."""


class Told:
    """All that anybody is told of a run: its outcome, its events, what was logged and printed."""

    def __init__(
        self, code_mode: CodeMode, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        self._code_mode, self._capfd, self._caplog = code_mode, capfd, caplog
        self.logged = ""

    async def by(self, script: str) -> tuple[Outcome, str]:
        execution = self._code_mode.start(script)
        outcome = await execution.outcome()
        events = [event async for event in execution.events()]
        printed = self._capfd.readouterr()
        self.logged = self._caplog.text + printed.out + printed.err
        return outcome, "\n".join([outcome.to_json_text(), repr(outcome), repr(events), self.logged])


@pytest.fixture
def told(code_mode: CodeMode, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> Told:
    return Told(code_mode, capfd, caplog)


@pytest.mark.parametrize("script", INTERNAL)
async def test_a_broken_connector_is_a_bug_of_ours_that_the_log_resolves(script: str, told: Told) -> None:
    outcome, text = await told.by(script)
    assert outcome.error is not None
    assert outcome.error.kind == "internal"
    assert "RuntimeError" not in outcome.to_json_text()
    assert CANARY not in text
    [error_id] = {call.error.error_id for call in outcome.calls if call.error is not None}
    assert error_id
    assert error_id in told.logged


@pytest.mark.parametrize("script", CAUGHT)
async def test_a_script_that_looks_closely_at_what_failed_sees_no_secret(script: str, told: Told) -> None:
    outcome, text = await told.by(script)
    assert outcome.status == "completed" or "__notes__" in script
    assert CANARY not in text


async def test_what_configuration_files_hold_was_really_sent_and_is_masked_where_it_comes_back(
    told: Told, configured: Upstream
) -> None:
    outcome, text = await told.by("shop.get_thing()")
    [headers] = cast("dict[str, dict[str, str]]", outcome.value).values()
    assert headers["X-Shop-Key"] == MASK
    assert CANARY not in text
    for script in ("remote.anything()", "local.anything()"):
        outcome, text = await told.by(script)
        assert outcome.error is not None
        assert outcome.error.kind == "tool_unavailable"
        assert CANARY not in text
    sent = "".join(configured.sent)
    assert [name for name in SENT if f"{CANARY}-sent-{name}" not in sent] == []
    assert configured.started() == f"{CANARY}-given-environment"


async def test_the_credential_was_used_and_is_masked_wherever_it_would_show(told: Told) -> None:
    outcome, _ = await told.by("api.get_thing()")
    assert outcome.error is not None
    assert outcome.error.kind == "tool_unavailable"
    assert redact(json.dumps(f"Bearer {CANARY}-credential")) == json.dumps(f"Bearer {MASK}")
