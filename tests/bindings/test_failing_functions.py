"""What a script is told of a Python function that fails, and what it is not."""

import traceback
from typing import NoReturn

import pytest
from tests.bindings.called import call, failure

from isolith_bindings.connector import Connector
from isolith_bindings.errors import CallError
from isolith_bindings.functions import as_connector


class Missing(KeyError):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.secret = "hunter2"  # noqa: S105 - no secret


class Plain(Exception):
    pass


class Unspeakable(ValueError):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class Base(BaseException):
    pass


def raising(error: BaseException) -> Connector:
    def sync() -> NoReturn:
        raise error

    async def asynchronous() -> NoReturn:
        raise error

    return as_connector([sync, asynchronous], "t")


def both(error: BaseException) -> list[CallError]:
    return [failure(raising(error), name) for name in ("sync", "asynchronous")]


@pytest.mark.parametrize(
    ("error", "message", "exception"),
    [
        (ValueError("no such contact"), "no such contact", "ValueError"),
        (ValueError(), "ValueError", "ValueError"),
        (Missing("x"), "'x'", "KeyError"),
        (FileNotFoundError(2, "not there", "x"), "[Errno 2] not there: 'x'", "FileNotFoundError"),
        (Plain("oh"), "oh", None),
        (Plain(), "Plain", None),
        (Exception("oh"), "oh", None),
        (Unspeakable(), "Unspeakable", "ValueError"),
        (SystemExit(3), "3", None),
        (Base("oh"), "oh", None),
        (StopAsyncIteration("oh"), "oh", "StopAsyncIteration"),
        (TimeoutError(), "TimeoutError", "TimeoutError"),
        (
            ExceptionGroup("two", [ValueError("a"), Plain()]),
            "two (2 sub-exceptions): ValueError: a; Plain: Plain",
            "ExceptionGroup",
        ),
    ],
)
def test_what_a_function_raises(error: BaseException, message: str, exception: str | None) -> None:
    for failed in both(error):
        assert (failed.kind, str(failed), failed.exception) == ("tool_error", message, exception)
        assert failed.data is None
        assert failed.__cause__ is error


@pytest.mark.parametrize(("levels", "told"), [(20, True), (21, False)])
def test_of_groups_in_groups_the_outer_are_told(levels: int, *, told: bool) -> None:
    """A thousand of them were an error of ours, when the stack ended."""
    error: Exception = ValueError("innermost")
    for _ in range(levels):
        error = ExceptionGroup[Exception]("group", [error])
    for failed in both(error):
        assert failed.kind == "tool_error"
        assert str(failed).startswith("group (1 sub-exception): ExceptionGroup: group (1 sub-exception): ")
        assert ("innermost" in str(failed)) is told


def test_stop_iteration_does_not_hang_a_thread() -> None:
    failed = failure(raising(StopIteration("oh")), "sync")
    assert (failed.kind, str(failed), failed.exception) == ("tool_error", "oh", "StopIteration")


def test_a_call_error_is_passed_as_it_is() -> None:
    error = CallError("denied", "not for you", data={"a": 1}, retriable=True, hint="ask")
    for failed in both(error):
        assert failed is error


def test_no_traceback_and_no_local_shows() -> None:
    def f() -> NoReturn:
        password = "hunter2"  # noqa: S105 - no secret
        raise LookupError(f"gone {len(password)}")

    failed = failure(as_connector([f]), "f")
    assert (str(failed), vars(failed)["data"], failed.hint) == ("gone 7", None, None)
    assert "hunter2" not in "".join(traceback.format_exception_only(failed))


def test_an_interrupt_passes_through() -> None:
    async def f() -> NoReturn:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        call(as_connector([f]), "f")
