"""Files that people write: JSON with comments, TOML, and what is wrong with either, without showing what is in it."""

from __future__ import annotations

import contextlib
import json
import re
import tomllib
from typing import TYPE_CHECKING, Final, cast

from isolith.configuration.known_names import names_at
from isolith.errors import UsageError
from isolith.visible import visible
from isolith_bindings import json_text
from isolith_bindings.names import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pydantic import BaseModel, ValidationError

MAX_BYTES: Final = 4 << 20
"""Of a file that a person wrote."""

_MOST_QUOTED = 40
_LIST_TYPES = re.compile(r"tuple\[.*\]|list\[.*\]|function-.*|constrained-.*|literal\[.*\]|<.*>|str|int|float|bool")
_OF_LISTS = frozenset({"tuple_type", "list_type"})
_PLAIN = {**dict.fromkeys(_OF_LISTS, "has to be a list"), "bool_type": "has to be true or false"}
"""Words of a document in place of Python's."""
_COMMENTS = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_HEADER = re.compile(r"^[ \t]*\[\[([^\[\]\n]+)\]\]", re.MULTILINE)
_BLANKS = re.compile(r"\s+")
_TRAILING = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])')


def read_document(path: Path, what: str) -> dict[str, object]:
    """A mapping from a JSON or TOML file, told apart by its suffix. Raises UsageError, which names the file."""
    content = read_bytes(path, what, MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise UsageError(f"{what} `{path}` is larger than {MAX_BYTES:,} bytes")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{what} `{path}` is not UTF-8 at byte {error.start}: save it as UTF-8") from None
    found = parse_toml(text, f"{what} `{path}`") if path.suffix == ".toml" else parse_json(text, f"{what} `{path}`")
    if not isinstance(found, dict):
        raise UsageError(f"{what} `{path}` holds no table of names and values")
    return cast("dict[str, object]", found)


def read_bytes(path: Path, what: str, most: int) -> bytes:
    """At most `most` bytes of a file. Raises UsageError where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(most)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{what} `{path}` cannot be read: {reason}") from error


def parse_toml(text: str, where: str) -> object:
    """TOML 1.0. Raises UsageError."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{where} is not TOML: {error}") from error
    except RecursionError:
        raise UsageError(f"{where} is nested too deep to be read") from None


def parse_json(text: str, where: str) -> object:
    """JSON, where comments and trailing commas may stand as in the files of VS Code. Raises UsageError."""
    try:
        # Of a comment's brackets and quotes nobody knows how deep they are.
        with contextlib.suppress(json.JSONDecodeError, RecursionError):
            return json_text.loads(text)
        return json_text.loads(_blanked(_blanked(text, _COMMENTS), _TRAILING))
    except json.JSONDecodeError as error:
        raise UsageError(f"{where} is not JSON: line {error.lineno}, column {error.colno}: {error.msg}") from error
    except RecursionError:
        raise UsageError(f"{where} is nested too deep to be read") from None


def _blanked(text: str, pattern: re.Pattern[str]) -> str:
    """Blanks in place of what the pattern finds outside of strings, so that lines and columns stay."""
    return pattern.sub(lambda match: match[1] or re.sub(r"[^\n]", " ", match[0]), text)


def explain(error: ValidationError, model: type[BaseModel] | None = None, toml: str = "") -> str:
    """What pydantic found wrong, by path, each place once. The values themselves may be secret and are left out.

    But for those of a few words, of which each is one: what was written in place of them is no secret. `model`: what
    was read, whose names are what a name that is not known may have been meant to be. `toml`: the text, where that was
    one, for the line of what has no name but a number.
    """
    found: dict[str, str] = {}
    for item in error.errors(include_url=False):
        place = _place([part for part in item["loc"] if not _LIST_TYPES.fullmatch(str(part))], toml)
        message = item["msg"].removeprefix("Value error, ").replace("Input should be", "has to be")
        if item["type"] == "extra_forbidden":
            known = names_at(model.model_json_schema(), item["loc"][:-1]) if model is not None else ()
            close = did_you_mean(str(item["loc"][-1]), known)
            message = f"is not known here{'; ' if close else ''}{close}"
        elif item["type"] == "missing":
            message = "is missing"
        elif item["type"] in _PLAIN:
            message = _PLAIN[item["type"]]
            if item["type"] in _OF_LISTS and isinstance(item["input"], str):
                message += ': `["..."]`'
        elif item["type"] == "literal_error" and isinstance(item["input"], str):
            message = f"{message}, and not '{visible(item['input'][:_MOST_QUOTED])}'"
        found[place] = f"{found[place]}, or {message}" if place in found else message
    return "; ".join(f"{place} {message}".lstrip() for place, message in found.items())


def _place(path: Sequence[int | str], toml: str) -> str:
    """A path, in quotes; with the line where the nearest entry around it begins that has a number and a header."""
    if not path:
        return ""
    line = next(filter(None, (_line_of(path[: depth + 1], toml) for depth in reversed(range(len(path))))), None)
    return f"`{'.'.join(map(str, path))}`{'' if line is None else f' (line {line})'}"


def _line_of(path: Sequence[int | str], toml: str) -> int | None:
    """Where a `[[...]]` begins. One that is meant relative to its file counts by the end of its name."""
    *names, number = path
    if not isinstance(number, int):
        return None
    name = f".{'.'.join(map(str, names))}"
    headers = [found for found in _HEADER.finditer(toml) if name.endswith(f".{_BLANKS.sub('', found[1])}")]
    return toml.count("\n", 0, headers[number].start()) + 1 if number < len(headers) else None
