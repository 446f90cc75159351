"""The tables of this folder's README name tests that are there, and every budget."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from isolith import Budgets

ROOT = Path(__file__).parents[2]
README = (Path(__file__).parent / "README.md").read_text().partition("## Soak")[0]
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py(?:::\w+)?)`", README)))


@pytest.mark.parametrize("name", NAMED)
def test_what_is_named_is_there(name: str) -> None:
    file, _, function = name.partition("::")
    tree = ast.parse((ROOT / file).read_text())
    tests = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
    assert any(test.startswith("test_") for test in tests)
    assert not function or function in tests


def test_every_kind_has_a_test() -> None:
    rows = re.findall(r"^\| (.+) \| (.*) \|$", README.partition("## What went wrong elsewhere")[2], re.MULTILINE)
    rows = [row for row in rows if row[0] not in {"kind", "budget", "---"}]
    assert len(rows) > 30
    assert [kind for kind, tests in rows if "`tests/" not in tests] == []


def test_every_budget_has_a_test() -> None:
    budgets = README.partition("## Budgets")[2]
    assert set(re.findall(r"^\| `(\w+)` \|", budgets, re.MULTILINE)) == set(Budgets.model_fields)


def test_every_file_of_the_folder_is_described() -> None:
    there = {path.name for path in Path(__file__).parent.glob("test_*.py")}
    assert there <= set(re.findall(r"test_\w+\.py", README))
