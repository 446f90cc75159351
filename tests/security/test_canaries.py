"""Secrets planted around hostile scripts show nowhere: not in outcomes, events, logs, nor in what the process prints."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.security.desk import CANARY

ROOT = Path(__file__).parents[2]
PLANTED = {
    "AWS_SECRET_ACCESS_KEY": f"{CANARY}-aws",
    "DATABASE_URL": f"postgres://user:{CANARY}-url@host/db",
    f"{CANARY}_NAME": "a secret name",
}


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """What the process reported, and all that it printed."""
    report = tmp_path_factory.mktemp("canaries") / "report"
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-m", "tests.security.canary_process", str(report)],
        cwd=ROOT,
        env={**os.environ, **PLANTED, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return report.read_text(), done.stdout + done.stderr


@pytest.mark.slow
def test_no_secret_in_an_outcome_or_an_event(process: tuple[str, str]) -> None:
    reported, _ = process
    lines = reported.splitlines()
    assert len(lines) > 200
    assert [line[:2000] for line in lines if CANARY in line] == []


@pytest.mark.slow
def test_no_secret_in_what_the_process_prints_or_logs(process: tuple[str, str]) -> None:
    _, printed = process
    assert CANARY not in printed


@pytest.mark.slow
def test_a_broken_connector_is_a_bug_of_ours_that_the_log_resolves(process: tuple[str, str]) -> None:
    reported, printed = process
    documents = [json.loads(line) for line in reported.splitlines()]
    errors = [document["error"] for document in documents if isinstance(document.get("error"), dict)]
    internal = [error for error in errors if error["kind"] == "internal"]
    ids = [call["error"]["error_id"] for document in documents for call in document.get("calls", []) if call["error"]]
    assert len(internal) == 2
    assert "RuntimeError" not in json.dumps(internal)
    for error_id in filter(None, ids):
        assert error_id in printed
