"""What a person is shown of an execution."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from isolith.command_line.review import about, first_line, reviewed
from isolith.journal.model import Call, Execution, Order

if TYPE_CHECKING:
    from isolith.journal.statuses import ExecutionStatus

NOW = datetime(2026, 1, 2, 12, tzinfo=UTC)
STANDS = Execution(
    "e1", "paused", "ada", "s1", NOW - timedelta(minutes=90), NOW, None, None, None, 1, None, None
)  # fmt: skip
SCRIPT = "x = 1\r\nawait bank.pay(\r\n    amount=x)\n"
ORIGIN = {
    "connect": ["/a b/bank.py", "shop=https://u:hunter2@h/mcp"],
    "config": None,
    "policy": "careful",
    "folder": "/a",
}
PAY = Call(
    execution_id="e1",
    number=2,
    connector="bank",
    method="pay",
    arguments="{}",
    digest="d",
    occurrence=0,
    pass_number=1,
    status="pending_approval",
    line=2,
    idempotency_key=None,
    repeatable=False,
    revertible=False,
    created_at=NOW,
    started_at=None,
    ended_at=None,
    outcome=None,
    error=None,
    attempts=0,
    reason="policy",
    effect=None,
    expires_at=NOW + timedelta(days=2, hours=3),
    edited_arguments=None,
    late=None,
    asked=1,
    on_rejection="raise",
)


def test_the_script_is_there_with_the_line_of_the_call_that_waits() -> None:
    order = Order("e1", SCRIPT, input='{"team":"a"}', origin=json.dumps(ORIGIN))
    assert reviewed(STANDS, order, [PAY], NOW) == [
        "execution e1: paused, begun 2026-01-02 10:30:00 UTC (1 h ago), for ada, session s1",
        "connected: --connect '/a b/bank.py' --connect 'shop=https://***@h/mcp' --policy careful",
        'input: {"team": "a"}',
        "script:",
        "     1 | x = 1",
        ">    2 | await bank.pay(",
        "     3 |     amount=x)",
        "call 2, bank.pay in line 2, waits for a person until 2026-01-04 15:00:00 UTC, for 2 d yet",
    ]


LATER, BEFORE = NOW + timedelta(seconds=20), NOW - timedelta(seconds=1)


@pytest.mark.parametrize(
    ("status", "owner", "until", "left"),
    [
        ("running", "host/1", LATER, False),
        ("running", "host/1", BEFORE, True),
        ("running", None, None, True),
        ("paused", None, None, False),
        ("completed", None, None, False),
    ],
)
def test_that_nobody_works_on_a_run_is_said(
    status: ExecutionStatus, owner: str | None, until: datetime | None, *, left: bool
) -> None:
    lines = reviewed(replace(STANDS, status=status, owner=owner, leased_until=until), Order("e1", SCRIPT), [], NOW)
    assert any(line.startswith("nobody works on it any more: `isolith executions retry`") for line in lines) is left


@pytest.mark.parametrize(
    ("origin", "says"),
    [
        ("null", "what the host that began it has"),
        ('["a", "host\'s own"]', "what the host that began it has"),
        ('{"connect": {"its": "own"}, "config": [1], "policy": 2}', "what the host that began it has"),
        ('{"connect": [], "config": null, "policy": null}', "nothing"),
        ('{"within": "e0", "snippet": ["week", 1]}', "what execution e0 has, which calls it as a snippet"),
        ('{"connect": [], "config": "/a/isolith.toml", "policy": null}', "--config /a/isolith.toml"),
    ],
)
def test_what_was_connected(origin: str, says: str) -> None:
    assert reviewed(STANDS, Order("e1", "1", origin=origin), [], NOW)[1] == f"connected: {says}"


def test_what_is_over_and_what_has_no_end_or_line() -> None:
    order = Order("e1", "1")
    over = replace(PAY, expires_at=NOW - timedelta(seconds=1))
    endless = replace(PAY, expires_at=None, line=None)
    assert reviewed(STANDS, order, [over, endless], NOW)[-2:] == [
        "call 2, bank.pay in line 2, waits for a person until 2026-01-02 11:59:59 UTC, which is over",
        "call 2, bank.pay, waits for a person",
    ]


@pytest.mark.parametrize(
    ("script", "line"),
    [
        ("", ""),
        ("```python\n# all of it\n\nimport json\nrows = 1\n", "rows = 1"),
        ("import json\n", "import json"),
        ("a\x1b[2Jb = 1", "a[2Jb = 1"),
        ("x" * 100, "x" * 70 + " ... (cut)"),
    ],
)
def test_the_first_line_that_says_something(script: str, line: str) -> None:
    assert first_line(script) == line


def test_what_waits_tells_more_than_the_first_line() -> None:
    assert about([PAY, PAY, replace(PAY, method="close")], "x = 1") == "bank.pay, bank.close"
    assert about([], "x = 1") == "x = 1"
