"""Tests from npm are not passed over where CI runs."""

from __future__ import annotations

import shutil

import pytest
from tests import npm


def test_without_npm_they_fail_where_ci_runs_and_are_left_out_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="the README names it"):
        npm.npm()
    monkeypatch.delenv("CI")
    with pytest.raises(pytest.skip.Exception):
        npm.npm()
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
    assert npm.npm() == "/bin/npm"
