"""The table of this folder's README names tests that are there, and every file of the folder."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
README = (HERE / "README.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`((?:tests/[\w/]+/)?test_\w+\.py(?:::\w+)?)`", README)))


@pytest.mark.parametrize("name", NAMED)
def test_it_is_there(name: str) -> None:
    file, _, function = name.partition("::")
    place = ROOT / file if file.startswith("tests/") else HERE / file
    tree = ast.parse(place.read_text(encoding="utf-8"))
    tests = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
    assert not function or function in tests


def test_every_promise_has_a_test_and_every_file_a_promise() -> None:
    rows = re.findall(r"^\| (.+) \| (.*) \|$", README, re.MULTILINE)
    assert len(rows) > 30
    assert [promise for promise, tests in rows if "`" not in tests] == ["what is promised"]
    assert {path.name for path in HERE.glob("test_*.py")} <= set(re.findall(r"test_\w+\.py", README))
