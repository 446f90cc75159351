"""Validation against the public JSON-Schema-Test-Suite, every draft."""

from __future__ import annotations

import json

import pytest
from tests.bindings.schema.suite import DRAFTS, SCHEMAS, Example, examples

from isolith_bindings.schema.validate import Validator

REMOTE = "localhost:1234"
"""Where the suite keeps what a validator would have to fetch."""


@pytest.mark.slow
@pytest.mark.parametrize("draft", DRAFTS)
def test_every_example(draft: str) -> None:
    checked = [
        example for example in (*examples(draft), *examples(draft, optional=True)) if not _of_a_fetched_dialect(example)
    ]
    assert len(checked) > (400 if draft == "draft3" else 600)
    assert [example.name for example in checked if example.valid and _problems(example)] == []
    missed = [example for example in checked if not example.valid and not _problems(example)]
    assert [example.name for example in missed if REMOTE not in json.dumps(example.schema)] == []


def _problems(example: Example) -> list[object]:
    return [*Validator(example.schema).problems(example.value)]


def _of_a_fetched_dialect(example: Example) -> bool:
    if not isinstance(example.schema, dict):
        return False
    # What is of draft 3 is read as draft 4, and that has no meta-schema of draft 3.
    of_draft_3 = str(example.schema.get("$ref")).startswith(SCHEMAS["draft3"])
    return of_draft_3 or REMOTE in str(example.schema.get("$schema"))
