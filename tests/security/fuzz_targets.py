"""What is fuzzed, without a fuzzer: each target takes bytes of an attacker and fails where the host would.

`fuzz.py` feeds them with what atheris makes up, `test_fuzz_corpus.py` with what it found before (`fixtures/fuzz`).
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from typing import TYPE_CHECKING, cast

from isolith import Budgets
from isolith.events import EventLog
from isolith.json_form import to_json_text
from isolith.outcome import Outcome, Usage
from isolith.run import ending
from isolith.run.normalize import Prepared
from isolith.run.reply import reply_of
from isolith.run.said import Said
from isolith_runtime import json_bounds, protocol, traceback_reader
from isolith_runtime.errors import HibernationError, ProtocolError
from isolith_runtime.guest import codec
from isolith_runtime.hibernation import Hibernation
from isolith_runtime.paging import PAGE

if TYPE_CHECKING:
    from collections.abc import Callable

_SCRIPT = Prepared("1\n2\n3", "1\n2\n3", (), ())
_BUDGETS = Budgets(log_bytes=500, value_bytes=2_000, emit_events=20)
_FACTS = ending.Facts(_BUDGETS, ending.NOTHING_SPENT, calls_refused=False, internal_call=False)
_RUNTIME = 64
_TABLE = 8 + 8 * 64


def parse(data: bytes) -> None:
    """A batch is refused, or its frames are such that everything the host does with what was said has an end."""
    try:
        frames = protocol.parse(data)
    except ProtocolError:
        return
    said = Said(_BUDGETS, EventLog("run"), ())
    said.script = _SCRIPT
    for frame in frames:
        said.take(frame)
        _end(frame, said)
        if isinstance(frame, protocol.Call):
            _writable(frame.arguments)


def bounds(data: bytes) -> None:
    """What passes the look that reads nothing is as bounded as it promises, and all of it is Unicode."""
    try:
        json_bounds.check(data)
        found = cast("object", json.loads(data.decode()))
    except (ProtocolError, ValueError, RecursionError):
        return
    if not isinstance(found, list | dict):
        return
    assert _depth(found) <= codec.MAX_TEXT_DEPTH
    json.dumps(found, ensure_ascii=False).encode()
    assert json_bounds.weight(data) >= len(data)


def values(data: bytes) -> None:
    """A value that crossed is data: written again it says the same, and it has a JSON form."""
    try:
        json_bounds.check(data)
        value = codec.loads(data)
    except (ProtocolError, codec.Malformed, UnicodeDecodeError):
        return
    said = to_json_text(value)
    text = _writable(value)
    assert text is None or to_json_text(codec.loads(text)) == said


def line(data: bytes) -> None:
    """The first bytes say what the guest was running, the rest is its location table."""
    first, position = int.from_bytes(data[:2], "little"), int.from_bytes(data[2:4], "little")
    try:
        found = traceback_reader.line_of(data[4:], first, position)
    except (IndexError, traceback_reader.Unreadable):
        return
    assert found is None or abs(found) < 2**40


def memory(data: bytes) -> None:
    """Memory that is all the attacker's, but for the cookie without which nobody looks."""
    image = bytes(_RUNTIME) + b"xdebugpy" + _offsets(data) + data[64:]
    reads = 0

    def read(address: int, size: int) -> bytes | None:
        nonlocal reads
        reads += 1
        return image[address : address + size] if 0 <= address <= len(image) - size else None

    found = traceback_reader.current_line(read, _RUNTIME)
    assert found is None or isinstance(cast("object", found), int)
    assert reads <= 4 * traceback_reader.FULL.frames + 10


def asleep(data: bytes) -> None:
    """A guest that was put away, in a journal that somebody else can write: its head, a line, and its pages."""
    head, _, rest = data.partition(b"\n")
    pages, content = rest[: len(rest) // 2], rest[len(rest) // 2 :]
    sealed = struct.pack("<II", len(head), len(pages)) + head + pages + zlib.compress(content * (PAGE // 4), 1)
    loose = data + zlib.compress(bytes(PAGE))
    for body in (sealed, loose):
        try:
            guest = Hibernation.of_bytes(b"ISOLITH-GUEST-1\n" + hashlib.sha256(body).digest() + body)
        except HibernationError:
            continue
        assert Hibernation.of_bytes(guest.to_bytes()) == guest
        guest.inputs()


TARGETS: dict[str, Callable[[bytes], None]] = {
    function.__name__: function for function in (parse, bounds, values, line, memory, asleep)
}


def _end(frame: protocol.Frame, said: Said) -> None:
    """The end of a run, if the frame is one, as far as it is decided without a loop."""
    if isinstance(frame, protocol.Result):
        reply = reply_of(frame, _SCRIPT, _BUDGETS, None)
        value, error = reply.value, reply.error
    elif isinstance(frame, protocol.Failure):
        value, error = None, ending.of_failure(frame, _SCRIPT, _FACTS)
    else:
        return
    outcome = Outcome(
        execution_id="run",
        status="completed" if error is None else ending.status_of(error),
        value=value,
        error=error,
        warnings=tuple(said.warnings),
        logs=said.logs,
        usage=Usage.model_construct(),
    )
    outcome.to_json_text()


def _writable(value: object) -> str | None:
    try:
        return codec.dumps(value)
    except (codec.NoDataForm, codec.TooLarge):
        return None


def _depth(value: object) -> int:
    deepest, level = 0, [value]
    while level := [item for item in level if isinstance(item, list | dict)]:
        deepest += 1
        level = [inner for item in level for inner in (item.values() if isinstance(item, dict) else item)]
    return deepest


def _offsets(data: bytes) -> bytes:
    """A byte for each of them, so that a fuzzer finds its way."""
    numbers = data[:64].ljust(64, b"\0")
    return struct.pack("<64Q", *(number * 4 for number in numbers))
