"""What a method says of itself: the summary and the description of its operation, the first words first."""

from __future__ import annotations

import json

import pytest
from tests.bindings.openapi.bench import OK, a_document, compiled

WORDS = [
    # FastAPI makes a summary of the function's name for whoever writes none.
    ("give_back", "Give Back", "Give a book back.", "Give a book back."),
    ("giveBack", "give-back", "Give a book back.", "Give a book back."),
    ("give_back", "Give Back", "", "Give Back"),
    ("give_back", "Return a loan", "Give a book back.", "Return a loan\n\nGive a book back."),
    ("give_back", "Give a book back.", "Give a book back.", "Give a book back."),
    ("give_back", "", "Give a book back.", "Give a book back."),
]


@pytest.mark.parametrize(("called", "summary", "description", "said"), WORDS)
def test_a_summary_that_is_no_more_than_the_name_hides_no_description(
    called: str, summary: str, description: str, said: str
) -> None:
    operation = {"operationId": called, "summary": summary, "description": description, "responses": OK}
    api = compiled(json.dumps(a_document({"/loans": {"post": operation}})).encode())
    assert [each.description for each in api.operations] == [said]
