"""What to try instead where a value is not what the script takes it for: its type, its attributes, its keys."""

from __future__ import annotations

import difflib
import inspect
import re
from datetime import date, datetime, time
from types import ModuleType

from isolith_runtime.guest.hints_of_operands import failure_hint, operand_hint, text_hint
from isolith_runtime.guest.reached import subscripted
from isolith_runtime.guest.toolerror import ToolError
from isolith_runtime.guest.tracebacks import frames, names_seen

_MAX_LISTED = 20
_MAX_COMPARED = 2000
_MAX_NAME = 100
_MAX_KEYS = 200

EVERYWHERE = frozenset({"emit", "progress", "search", "describe", "artifact"})
"""The functions of every script whose signature is told to whoever calls them wrongly."""

NOT_BUILT = {
    "pbkdf2_hmac": "it is OpenSSL's, which is not here: hashlib and hmac have the digests, or let a connector do it",
    "scrypt": "it is OpenSSL's, which is not here: hashlib and hmac have the digests, or let a connector do it",
    "alarm": "there are no signals here: use asyncio.timeout(...)",
    "setitimer": "there are no signals here: use asyncio.timeout(...)",
    "thread_time": "there is one thread here: use time.process_time()",
    "thread_time_ns": "there is one thread here: use time.process_time_ns()",
}
"""What modules of the standard library lack here, and what to use instead."""

_TEXTS: tuple[tuple[str, str], ...] = (
    (
        r"not JSON serializable",
        "end the script with the value itself, which keeps its types; for text write json.dumps(..., default=str)",
    ),
    (
        r"the JSON object must be str, bytes or bytearray, not (?:ReadOnly)?(\w+)",
        "this is a {} already: leave out json.loads",
    ),
    (
        r"'datetime\.(\w+)' object is not subscriptable",
        "this is a {}, not text: use its parts, such as .year, or the text, .isoformat()",
    ),
    (
        r"fromisoformat: argument must be str|strptime\(\) argument 1 must be str, not datetime",
        "this is no text: a time that a tool gives may be a datetime already, to be used as it is",
    ),
    (
        r"offset-naive and offset-aware",
        "give both a time zone, as tools do: datetime.now(timezone.utc), x.replace(tzinfo=timezone.utc)",
    ),
    (r"'Budget' object is not callable", "`budget.remaining` says what is left, `budget.limits` what there was"),
)
"""What Python says, and what to write instead."""


def type_hint(error: TypeError, line: str) -> str | None:
    """Of a value of another type than is needed."""
    text = str(error)
    if "object is not callable" in text and re.search(r"\binput\s*\(", line):
        return "`input` is the caller's data, not a function; nobody is there to ask"
    for pattern, hint in _TEXTS:
        found = re.search(pattern, text)
        if found:
            return hint.format(*map(str.lower, found.groups()))
    return operand_hint(error, line) or _signature(error, text)


def _signature(error: TypeError, text: str) -> str | None:
    """How a function is called that every script has."""
    found = re.match(r"(\w+)\(", text)
    function = names_seen(error).get(found[1]) if found and found[1] in EVERYWHERE else None
    return signature(found[1], function) if found and callable(function) else None


def signature(name: str, function: object) -> str:
    """A function of ours as it is called: `progress(done: float, total: float | None = None)`."""
    shown = str(inspect.signature(function)).partition(" ->")[0]  # type: ignore[arg-type]
    return name + re.sub(r": '([^']*)'", r": \1", shown)


def attribute_hint(error: AttributeError, line: str) -> str | None:
    """Of an attribute that is not there."""
    obj, name = error.obj, error.name or ""
    if isinstance(obj, ToolError):
        return _did_you_mean(obj, name) or failure_hint(obj, name, line)
    if isinstance(obj, str):
        return text_hint(error, obj, line) or _attribute_meant(obj, name)
    if isinstance(obj, dict):
        return f"this is a dict: write [{name!r}]" if name in obj else _keys("this is a dict with the keys", obj)
    if isinstance(obj, list) and name in {"length", "push", "map", "filter", "forEach", "includes"}:
        return "this is Python: len(x), x.append(y), [f(y) for y in x], y in x"
    if obj is None or not name:
        return None
    return (NOT_BUILT.get(name) if isinstance(obj, ModuleType) else None) or _attribute_meant(obj, name)


def _attribute_meant(obj: object, name: str) -> str | None:
    close = _did_you_mean(obj, name)
    if close:
        return close
    if name in dir(str) and not isinstance(obj, (list, tuple, set)):
        text = ".isoformat()" if isinstance(obj, (datetime, date, time)) else ""
        return f"this is a {type(obj).__name__}, not text: {f'x{text}' if text else 'str(x)'}.{name}(...)"
    return None


def _did_you_mean(obj: object, name: str) -> str | None:
    close = _closest(name, dir(obj), 0.7)
    return f"did you mean `.{close}`?" if close else None


def key_hint(error: KeyError, line: str) -> str | None:
    """Of a key that is not there: the one that was meant, or those that are."""
    inner = list(frames(error))[-1:]
    wanted = error.args[0] if error.args else None
    if not inner or not isinstance(wanted, str):
        return None
    scope = {**inner[0].f_globals, **inner[0].f_locals}
    owners = [owner for _, owner, key in subscripted(line, scope) if key == wanted and isinstance(owner, dict)]
    asked = [owner for owner in owners if wanted not in owner]
    # `__builtins__` is a dict that a script has not made.
    own = [value for name, value in inner[0].f_locals.items() if isinstance(value, dict) and not name.startswith("__")]
    for mapping in asked or [value for value in own if len(value) <= _MAX_KEYS and wanted not in value]:
        close = _closest(wanted, _texts(mapping), 0.6)
        if re.fullmatch(r"[\w .-]+", close):
            return f"did you mean {close!r}?"
    return _keys("this is a dict with the keys", asked[0]) if len(asked) == 1 and asked[0] else None


def _keys(what: str, mapping: dict[object, object]) -> str:
    return f"{what}: {', '.join(map(str, list(mapping)[:_MAX_LISTED]))}"


def _texts(mapping: dict[object, object]) -> list[str]:
    return [key for key in mapping if isinstance(key, str)]


def _closest(name: str, known: list[str], alike: float) -> str:
    """The name that looks most like this one, or nothing; a script may have made a million of them."""
    return next(iter(difflib.get_close_matches(name[:_MAX_NAME], known[:_MAX_COMPARED], 1, alike)), "")
