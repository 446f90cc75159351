"""What to try instead where a value cannot be reckoned with, compared, formatted or taken a part of: text, mostly."""

from __future__ import annotations

import re

from isolith_runtime.guest.reached import subscripted
from isolith_runtime.guest.toolerror import ToolError
from isolith_runtime.guest.tracebacks import names_seen

_MAX_KEYS = 200
_MAX_TEXT = 1000

_DECIMALS = 'a Decimal and a float do not mix: write Decimal("{}") (from decimal import Decimal), or float(x)'
_NUMBERS = "one of them is text: float(x) or Decimal(x) makes a number of it, str(x) text of a number"
_FORMATTED = "this is text: write float(x) or Decimal(x) before the colon"
_A_TIME = r"'?(?:datetime\.)?(datetime|date|time|timedelta)'?"
_A_NUMBER = r"'(?:int|float|decimal\.Decimal)'"
_BETWEEN = r"(?:unsupported operand type\(s\) for|not supported between instances of)"
_NO_NUMBER = "|".join(
    (
        rf"{_BETWEEN}.* 'str' and {_A_NUMBER}|{_BETWEEN}.* {_A_NUMBER} and 'str'",
        r"can only concatenate str \(not \"(?:int|float|decimal\.Decimal)\"\)",
        r"can't multiply sequence by non-int of type '(?:float|decimal\.Decimal)'",
        r"can't convert type 'str' to numerator/denominator",
        r"type str doesn't define __round__ method",
        r"bad operand type for (?:abs\(\)|unary -): 'str'",
    )
)
_NO_TIME = "|".join(
    (
        rf"{_BETWEEN}.* 'str' and {_A_TIME}$",
        rf"{_BETWEEN}.* {_A_TIME} and 'str'$",
        rf"can only concatenate str \(not \"{_A_TIME}\"\)",
    )
)
_METHODS_OF_DICTS = frozenset({"get", "items", "keys", "values"})
_KEYS_OF_DATA = {"status_code": "status", "code": "status", "details": "body", "detail": "body", "response": "body"}
"""What is in the data of a failed request, by the names that other libraries have for it."""


def operand_hint(error: TypeError, line: str) -> str | None:
    """Of an operator whose two sides do not go together, or a text that is taken for a number, a time or a dict."""
    text = str(error)[:_MAX_TEXT]
    if re.search(r"'decimal\.Decimal' and 'float'|'float' and 'decimal\.Decimal'", text):
        written = re.search(r"(?<![\w.\"'])\d+\.\d+\b", line)
        return _DECIMALS.format(written[0] if written else "1.1")
    found = re.search(_NO_TIME, text)
    if found:
        kind = next(filter(None, found.groups()))
        return f"one of them is text: {'datetime' if kind == 'timedelta' else kind}.fromisoformat(x) makes a time of it"
    if re.search(_NO_NUMBER, text):
        return _NUMBERS
    return _part_hint(error, line) if text.startswith("string indices must be integers") else None


def format_hint(error: ValueError, _line: str) -> str | None:
    """Of text that is formatted as a number."""
    return (
        _FORMATTED if re.match(r"Unknown format code '[bcdeEfFgGnoxX%]' for object of type 'str'", str(error)) else None
    )


def text_hint(error: AttributeError, text: str, line: str) -> str | None:
    """Of text that is taken for a dict by what a dict can do."""
    if error.name not in _METHODS_OF_DICTS:
        return None
    scope = names_seen(error)
    named = re.findall(rf"\b([^\W\d]\w*)\.{error.name}\b", line)
    name = next((each for each in named if scope.get(each) is text), named[0] if len(named) == 1 else "x")
    return _taken_for_a_dict(name, text, scope)


def failure_hint(failed: ToolError, name: str, line: str) -> str:
    """Of what a failed call does not have: a status, say, is in its data."""
    found = re.search(rf"\b(\w+)\.{re.escape(name)}\b", line)
    owner, data = found[1] if found else "e", failed.data if isinstance(failed.data, dict) else {}
    key = next((each for each in (name, _KEYS_OF_DATA.get(name)) if each in data), None)
    here = f"; here {owner}.data[{key!r}]" if key else ""
    return f"a failed call has message, kind, data, hint, tool and retriable{here}"


def _part_hint(error: TypeError, line: str) -> str | None:
    scope = names_seen(error)
    found = [(name, owner) for name, owner, key in subscripted(line, scope) if isinstance(key, str)]
    return next((_taken_for_a_dict(name, owner, scope) for name, owner in found if isinstance(owner, str)), None)


def _taken_for_a_dict(name: str, text: str, scope: dict[str, object]) -> str | None:
    if text.lstrip().startswith(("{", "[")):
        return f"`{name}` is text: json.loads({name})"
    if scope.get("input") is text:
        return "`input` is text: use it as it is"
    if not re.fullmatch(r"[\w .-]{1,40}", text):
        return None
    for owner, value in scope.items():
        if isinstance(value, dict) and not owner.startswith("_") and len(value) <= _MAX_KEYS and text in value:
            lists = [key for key in value if isinstance(key, str) and isinstance(value[key], list)]
            within = f"go through the list in it, {owner}[{lists[0]!r}]" if lists else "take its values"
            return f"`{owner}` is a dict, and a loop over it gives its keys: {within}"
    return (
        f"`{name}` is text, {text!r}; a loop over a dict gives its keys: where this is one, go through the list in it, "
        "such as found['results'] of a search"
    )
