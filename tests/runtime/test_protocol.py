"""The frames of a guest: hostile until parsed, and then either frames or an error of ours."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isolith_runtime import protocol
from isolith_runtime.errors import ProtocolError
from isolith_runtime.guest import codec
from isolith_runtime.protocol import Call, Cancel, Emit, Failure, Frame, Log, Parked, Progress, Result, Warn

FAILURE = {
    "kind": "exception",
    "message": "ValueError: no",
    "line": 3,
    "column": 1,
    "source_line": "raise ValueError('no')",
    "hint": None,
    "tool": None,
    "retriable": False,
    "traceback": "line 3: raise ValueError('no')",
}
GOOD: list[tuple[list[object], Frame]] = [
    (["call", 1, "crm", "get", {"id": 5}, 3], Call(1, "crm", "get", {"id": 5}, 3, 0)),
    (["call", 1, "", "search", {}, 0], Call(1, "", "search", {}, None, 0)),
    (["cancel", 7], Cancel(7)),
    (["log", "info", "text", {"a": 1}, 2], Log("info", "text", {"a": 1}, 2)),
    (["emit", [1, {"$set": [2]}]], Emit([1, {2}], 0)),
    (["progress", 1, 2.5, "half"], Progress(1.0, 2.5, "half")),
    (["progress", 1, None, None], Progress(1.0, None, None)),
    (["warning", "check", "text", 2], Warn("check", "text", 2)),
    (["parked", None, None], Parked(None, None)),
    (["parked", 0.5, 3], Parked(0.5, 3)),
    (["parked", -1, None], Parked(0.0, None)),
    (["result", {"a": [1]}, "dict[str, list[int]]"], Result({"a": [1]}, "dict[str, list[int]]", 0)),
    (
        ["failure", FAILURE],
        Failure("exception", "ValueError: no", 3, 1, None, None, retriable=False, traceback=str(FAILURE["traceback"])),
    ),
]


def encoded(*frames: object) -> bytes:
    return json.dumps(list(frames), separators=(",", ":")).encode()


@pytest.mark.parametrize(("written", "read"), GOOD)
def test_every_kind_of_frame(written: list[object], read: Frame) -> None:
    batch = encoded(written)
    [frame] = protocol.parse(batch)
    assert frame == (replace(read, size=len(batch)) if isinstance(read, (Call, Emit, Result)) else read)


def test_a_batch_keeps_its_order() -> None:
    frames = [written for written, _ in GOOD]
    assert [type(frame) for frame in protocol.parse(encoded(*frames))] == [type(read) for _, read in GOOD]
    assert protocol.parse(b"[]") == []


def without(name: str) -> dict[str, object]:
    return {key: value for key, value in FAILURE.items() if key != name}


BAD: list[object] = [
    None,
    5,
    "call",
    {},
    [],
    [None],
    [5],
    [["call"]],
    ["unknown"],
    ["answer", 1, 2],
    ["call"],
    ["call", 1, "crm", "get", {}],
    ["call", 1, "crm", "get", {}, 1, 1],
    ["call", 0, "crm", "get", {}, 1],
    ["call", -1, "crm", "get", {}, 1],
    ["call", 2**31, "crm", "get", {}, 1],
    ["call", True, "crm", "get", {}, 1],
    ["call", 1.0, "crm", "get", {}, 1],
    ["call", "1", "crm", "get", {}, 1],
    ["call", 1, None, "get", {}, 1],
    ["call", 1, "crm", ["get"], {}, 1],
    ["call", 1, "c" * 201, "get", {}, 1],
    ["call", 1, "crm", "g" * 201, {}, 1],
    ["call", 1, "crm", "get", [], 1],
    ["call", 1, "crm", "get", None, 1],
    ["call", 1, "crm", "get", {"$dict": [1, 2]}, 1],
    ["call", 1, "crm", "get", {"$set": [1]}, 1],
    ["cancel"],
    ["cancel", None],
    ["cancel", 1, 2],
    ["log", "fatal", "text", {}, 1],
    ["log", None, "text", {}, 1],
    ["log", ["info"], "text", {}, 1],
    ["log", "info", 5, {}, 1],
    ["log", "info", "text", [], 1],
    ["log", "info", "text", {"$dict": [1, 2]}, 1],
    ["emit"],
    ["emit", 1, 2],
    ["progress", None, None, None],
    ["progress", "1", None, None],
    ["progress", True, None, None],
    ["progress", 1e300, None, None],
    ["progress", {"$float": "nan"}, None, None],
    ["progress", {"$float": "inf"}, None, None],
    ["progress", 1, "2", None],
    ["progress", 1, None, 5],
    ["warning", "internal", "text", 1],
    ["warning", None, "text", 1],
    ["warning", ["check"], "text", 1],
    ["warning", "check", None, 1],
    ["parked"],
    ["parked", "soon", None],
    ["parked", {"$float": "nan"}, None],
    ["result"],
    ["result", 1],
    ["result", 1, None],
    ["result", 1, 5],
    ["failure"],
    ["failure", None],
    ["failure", []],
    ["failure", {}],
    *(["failure", without(name)] for name in ("kind", "message", "line", "column", "hint", "tool", "retriable")),
    ["failure", {**FAILURE, "kind": None}],
    ["failure", {**FAILURE, "message": 5}],
    ["failure", {**FAILURE, "hint": 5}],
    ["failure", {**FAILURE, "tool": []}],
    ["failure", {**FAILURE, "traceback": None}],
]


@pytest.mark.parametrize("frame", BAD, ids=lambda frame: json.dumps(frame)[:60])
def test_every_bad_variant(frame: object) -> None:
    with pytest.raises(ProtocolError):
        protocol.parse(encoded(frame))


@pytest.mark.parametrize("line", [None, 0, -1, 10**9, 1.0, True, "1", [], {}])
def test_a_line_that_is_none_is_no_line(line: object) -> None:
    [call] = protocol.parse(encoded(["call", 1, "crm", "get", {}, line]))
    assert isinstance(call, Call)
    assert call.line is None


@pytest.mark.parametrize("said", [1, "yes", None, [True]])
def test_only_true_is_retriable(said: object) -> None:
    [failure] = protocol.parse(encoded(["failure", {**FAILURE, "retriable": said}]))
    assert isinstance(failure, Failure)
    assert failure.retriable is False


@pytest.mark.parametrize(
    "batch",
    [
        b"",
        b"{}",
        b"null",
        b'"text"',
        b"[[]",
        b"\xff\xfe",
        b'["\xc3\x28"]',
        b'[["emit","\\ud800"]]',
        b'[["emit","\\uD83D\\uDE00"]]',
        b'[["log","info","\\\\\\udfff",{},1]]',
        b"[" * 100_000 + b"]" * 100_000,
        b'{"$tuple":' * 300 + b"[]" + b"}" * 300,
    ],
)
def test_what_is_no_batch(batch: bytes) -> None:
    with pytest.raises(ProtocolError):
        protocol.parse(batch)


def test_a_backslash_is_no_escape() -> None:
    [emit] = protocol.parse(encoded(["emit", "C:\\udata\\ud800"]))
    assert isinstance(emit, Emit)
    assert emit.value == "C:\\udata\\ud800"


@given(st.binary())
def test_any_bytes(batch: bytes) -> None:
    parse_or_refuse(batch)


ANY = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.dictionaries(st.text(max_size=5), inner, max_size=3),
        st.builds(lambda tag, content: {tag: content}, st.sampled_from(["$set", "$dict", "$int", "$float"]), inner),
    ),
    max_leaves=10,
)
NAMES = st.sampled_from([str(written[0]) for written, _ in GOOD])


@given(st.lists(st.one_of(ANY, st.builds(lambda name, parts: [name, *parts], NAMES, st.lists(ANY, max_size=5)))))
def test_any_json(frames: list[object]) -> None:
    parse_or_refuse(encoded(*frames))


def parse_or_refuse(batch: bytes) -> None:
    try:
        frames = protocol.parse(batch)
    except ProtocolError:
        return
    assert all(isinstance(frame, Frame) for frame in frames)


# what would cost too much to read


def test_too_many_frames() -> None:
    batch = b"[" + b",".join([b'["cancel",1]'] * (protocol.MAX_FRAMES + 1)) + b"]"
    with pytest.raises(ProtocolError, match="a batch of more than 2,000 frames"):
        protocol.parse(batch)


def test_what_is_large_is_weighed_and_each_frame_has_its_share() -> None:
    call: list[object] = ["call", 1, "crm", "get", {"ids": [[]] * 9_000}, 1]
    [alone] = protocol.parse(encoded(call))
    frames = protocol.parse(encoded(call, ["emit", 1], ["cancel", 1]))
    [small] = protocol.parse(encoded(["call", 1, "crm", "get", {"ids": [[]] * 9}, 1]))
    assert isinstance(alone, Call)
    assert isinstance(small, Call)
    assert (small.weight, alone.weight > 9_000 * 100) == (0, True)
    assert [frame.weight for frame in frames if isinstance(frame, (Call, Emit))] == [
        pytest.approx(alone.weight / 3, 0.01)
    ] * 2


@pytest.mark.parametrize("container", [b"[]", b"{}"])
def test_too_many_containers(container: bytes) -> None:
    batch = b'[["emit",[' + b",".join([container] * 2 * codec.MAX_CONTAINERS) + b"]]]"
    begun = time.thread_time()
    with pytest.raises(ProtocolError, match="a batch of more than 2,000,000 lists and mappings"):
        protocol.parse(batch)
    assert time.thread_time() - begun < 2


def test_brackets_in_texts_are_no_containers() -> None:
    text = "[[{" * 1_000_000 + '"]\\'
    [emit] = protocol.parse(encoded(["emit", text]))
    assert isinstance(emit, Emit)
    assert emit.value == text


@pytest.mark.parametrize("noise", ["", ']]]"', '\\"]', "}", "\\", "\\\\", '\\\\"[', '"', '""', '"["', '[""]', '}"{"\\'])
def test_no_deeper_than_an_encoder_writes(noise: str) -> None:
    """Brackets in texts hide nothing."""
    assert protocol.parse(encoded(["emit", nested(noise, codec.MAX_DEPTH)]))
    with pytest.raises(ProtocolError, match="a value that is nested more than 100 deep"):
        protocol.parse(encoded(["emit", nested(noise, codec.MAX_DEPTH + 1)]))
    with pytest.raises(ProtocolError, match="a value that is nested more than 100 deep"):
        protocol.parse(encoded(["emit", nested(noise, codec.MAX_TEXT_DEPTH - 2)]))
    with pytest.raises(ProtocolError, match="a batch that is nested more than 208 deep"):
        protocol.parse(encoded(["emit", nested(noise, codec.MAX_TEXT_DEPTH - 1)]))


def nested(noise: str, levels: int) -> object:
    value: object = noise
    for _ in range(levels):
        value = [noise, value]
    return value


VAST = {
    "too deep": nested("", 120),
    "too many items": [1] * (codec.MAX_NODES + 1),
    "too many lists": [[[] for _ in range(1000)] for _ in range(codec.MAX_CONTAINERS // 1000)],
}


@pytest.mark.parametrize("vast", VAST)
@pytest.mark.parametrize("place", ["call", "log", "emit", "result", "failure"])
def test_a_value_that_could_not_be_written_again_crosses_nowhere(place: str, vast: str) -> None:
    """Its run ended as a bug of ours: the log, the calls and the journal write what they were given."""
    deep = {"a": VAST[vast]}
    frames: dict[str, list[object]] = {
        "call": ["call", 1, "crm", "get", deep, 1],
        "log": ["log", "info", "text", deep, 1],
        "emit": ["emit", deep],
        "result": ["result", deep, "dict"],
        "failure": ["failure", {**FAILURE, "more": deep}],
    }
    with pytest.raises(ProtocolError, match="a value that is nested more than 100 deep"):
        protocol.parse(encoded(frames[place]))


def test_the_deepest_value_an_encoder_takes_crosses() -> None:
    value: object = 1
    for _ in range(codec.MAX_DEPTH):
        value = {1: value}
    text = f'[["result",{codec.dumps(value)},"dict"]]'
    [result] = protocol.parse(text.encode())
    assert isinstance(result, Result)
    assert result.value == value


# the other way


def test_frames_for_the_guest() -> None:
    frames = [protocol.start({"source": "1"}), protocol.answer(1, {1, 2}), protocol.failure(2, {"kind": "denied"})]
    assert protocol.batch(frames) == (
        b'[["start",{"source":"1"}],["answer",1,{"$set":[1,2]}],["error",2,{"kind":"denied"}]]'
    )


def test_an_answer_without_a_data_form() -> None:
    with pytest.raises(codec.NoDataForm):
        protocol.answer(1, object())
