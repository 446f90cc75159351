"""What `isolith run` was given, read and checked: the script, its input, its budgets. Raises `UsageError`."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from isolith.budgets import Budgets
from isolith.errors import UsageError
from isolith_bindings import json_text

if TYPE_CHECKING:
    from collections.abc import Mapping

_STDIN = "-"


@dataclass(frozen=True, slots=True)
class Request:
    """One script to run; bytes are not yet decoded, `input` is data, and `given` says whether there was any."""

    script: str | bytes
    input: object
    budgets: Budgets
    given: bool = False


def read_request(
    script: str | None, code: str | None, data: str | None, budgets: Mapping[str, float | None]
) -> Request:
    """Read everything that was named; a budget that is None was not, and has its default."""
    if script == _STDIN and data == f"@{_STDIN}":
        raise UsageError("both the script and the input are to come from stdin: put one of them into a file")
    asked = Budgets.model_validate({name: value for name, value in budgets.items() if value is not None})
    return Request(_script(script, code, asked.script_bytes), read_data(data), asked, data is not None)


def read_script(name: str, max_bytes: int) -> bytes:
    """A script from a file, or `-` for stdin; of what is too large, enough to see that it is."""
    return _stdin("the script", max_bytes + 1) if name == _STDIN else _file(name, "the script", max_bytes + 1)


def _script(script: str | None, code: str | None, max_bytes: int) -> str | bytes:
    """From a file, from stdin or from `-c`; of what is too large, enough to see that it is."""
    if script is not None and code is not None:
        raise UsageError(f"both a script, `{script}`, and `-c` are given: keep one")
    if code is not None:
        return _as_typed(code)
    if script is None:
        raise UsageError("no script: give a file, `-` for stdin, or `-c CODE`, as in `isolith run -c '1 + 1'`")
    return read_script(script, max_bytes)


def read_data(data: str | None, flag: str = "--input", what: str = "the input") -> object:
    """The data in `--input JSON`, `--input @FILE` or, of stdin, `--input @-`; None without one. Raises UsageError."""
    if data is None:
        return None
    name = data.removeprefix("@")
    if name == data:
        mend = f"quote it for the shell, or put it into a file and write `{flag} @FILE`"
        return _parsed(_as_typed(data), f"`{flag}`", mend)
    try:
        text = (_stdin(what) if name == _STDIN else _file(name, what)).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{what} `{name}` is not UTF-8 at byte {error.start}: save it as UTF-8") from error
    return _parsed(text, f"{what} `{name}`", "mend it there")


def _as_typed(text: str) -> str:
    """An argument as it was typed, where the locale is none that knows its characters."""
    try:
        return text if text.isascii() else text.encode("ascii", "surrogateescape").decode()
    except UnicodeError:
        return text


def _stdin(what: str, max_bytes: int = -1) -> bytes:
    if sys.stdin is None:
        raise UsageError(f"{what} cannot be read: stdin is closed")
    return sys.stdin.buffer.read(max_bytes)


def _file(name: str, what: str, max_bytes: int = -1) -> bytes:
    try:
        with Path(name).open("rb") as file:
            return file.read(max_bytes)
    except FileNotFoundError as error:
        raise UsageError(f"{what} `{name}` does not exist: give the path of a file") from error
    except IsADirectoryError as error:
        raise UsageError(f"{what} `{name}` is a folder: give the path of a file") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{what} `{name}` cannot be read: {reason}") from error


def _parsed(text: str, where: str, mend: str) -> object:
    try:
        return json_text.loads(text, parse_constant=_no_constant, parse_int=_integer)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise UsageError(f"{where} is not JSON: {place}: {error.msg}; {mend}") from error
    except RecursionError as error:
        raise UsageError(f"{where} is nested too deep to be read") from error
    except _TooLong as error:
        raise UsageError(
            f"{where} holds an integer of {error.digits:,} digits, too many to be read: make it a text"
        ) from error
    except ValueError as error:
        raise UsageError(f"{where} is not JSON: {error}; {mend}") from error


class _TooLong(Exception):
    def __init__(self, digits: int) -> None:
        super().__init__(digits)
        self.digits = digits


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise _TooLong(len(text.removeprefix("-"))) from error


def _no_constant(name: str) -> object:
    raise ValueError(f"`{name}` is not in it, `null` is")
