"""The tree of errors, and what a failed call carries."""

from __future__ import annotations

import pytest

from isolith_bindings import errors
from isolith_bindings.errors import BindError, BindingError, CallError, InvalidName, NameCollision


def test_every_exception_is_in_the_tree_that_is_drawn() -> None:
    found = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)]
    assert all(issubclass(cls, BindingError) and cls.__name__ in str(errors.__doc__) for cls in found)
    assert len(found) == 5


@pytest.mark.parametrize("cls", [InvalidName, NameCollision])
def test_names_are_a_matter_of_binding(cls: type[Exception]) -> None:
    assert issubclass(cls, BindError)


def test_a_call_error_with_nothing_but_a_message() -> None:
    error = CallError("tool_error", "no")
    assert (str(error), error.kind, error.message) == ("no", "tool_error", "no")
    assert (error.data, error.exception, error.retriable, error.hint) == (None, None, False, None)


def test_a_call_error_with_everything() -> None:
    error = CallError("tool_timeout", "late", data=[1], exception="TimeoutError", retriable=True, hint="ask for less")
    assert (error.data, error.exception, error.retriable, error.hint) == ([1], "TimeoutError", True, "ask for less")
