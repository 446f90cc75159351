"""What a script says: lines, attributes, events, and where its budget cuts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isolith_runtime.guest import codec
from isolith_runtime.protocol import Emit, Log, Progress

if TYPE_CHECKING:
    from isolith_runtime.testing import Scripts

SAID: list[tuple[str, list[tuple[str, str]]]] = [
    ("print('a')\nprint('b', 1)", [("info", "a"), ("info", "b 1")]),
    ("print('a', end='')\nprint('b')", [("info", "ab")]),
    ("print('no newline', end='')", [("info", "no newline")]),
    ("print('a\\nb\\n\\nc')", [("info", "a"), ("info", "b"), ("info", ""), ("info", "c")]),
    ("import sys\nprint('a', file=sys.stderr)\nsys.stdout.write('b\\n')", [("warning", "a"), ("info", "b")]),
    ("log.debug('a'); log.info('b'); log.warning('c'); log.warn('d'); log.error('e'); log('f')",
     [("debug", "a"), ("info", "b"), ("warning", "c"), ("warning", "d"), ("error", "e"), ("info", "f")]),
    ("import logging\nlogging.debug('a'); logging.info('b %s', 1); logging.warning('c'); logging.error('d'); logging.critical('e')",
     [("info", "b 1"), ("warning", "c"), ("error", "d"), ("error", "e")]),
    ("import logging\nlogging.basicConfig(level=logging.DEBUG)\nlogging.debug('a'); logging.info('b')", [("debug", "a"), ("info", "b")]),
    ("import logging\nlogging.basicConfig(level=logging.ERROR)\nlogging.info('a'); logging.error('b')", [("error", "b")]),
    ("import logging\nlogging.basicConfig(format='%(levelname)s! %(message)s')\nlogging.info('a')", [("info", "INFO! a")]),
    ("import logging\nlogging.getLogger('x').info('a')", [("info", "a")]),
    ("import logging, sys\nlogging.getLogger('x').addHandler(logging.StreamHandler(sys.stdout))\nlogging.getLogger('x').info('a')",
     [("info", "a")]),
    ("import io, logging\nout = io.StringIO()\nlogging.basicConfig(stream=out)\nlogging.info('a')\nprint(out.getvalue().strip())",
     [("info", "INFO:root:a")]),
    ("import warnings\nwarnings.warn('old')", [("warning", "<script>:2: UserWarning: old")]),
    ("print('\\ud800')", [("info", "\\ud800")]),
    ("print()", [("info", "")]),
    ("print('a')\n1 / 0", [("info", "a")]),
]  # fmt: skip


@pytest.mark.parametrize(("source", "said"), SAID)
def test_lines(scripts: Scripts, source: str, said: list[tuple[str, str]]) -> None:
    assert scripts.run(source).logs == said


def test_a_record_of_logging_has_its_logger_and_its_traceback(scripts: Scripts) -> None:
    ran = scripts.run(
        "import logging\ntry:\n    1 / 0\nexcept Exception:\n    logging.getLogger('x').exception('a')\n5"
    )
    [log] = [frame for frame in ran.frames if isinstance(frame, Log)]
    assert (log.level, log.attrs, log.line) == ("error", {"logger": "x"}, 5)
    assert log.message.startswith("a\nTraceback")
    assert log.message.endswith("ZeroDivisionError: division by zero")


def test_a_record_that_cannot_be_written_does_not_fail_the_script(scripts: Scripts) -> None:
    ran = scripts.run("import logging\nlogging.info('%d', 'a')\n5")
    assert ran.value == 5
    assert any("TypeError" in message for _, message in ran.logs)


def test_attributes_are_data_and_what_is_none_is_text(scripts: Scripts) -> None:
    ran = scripts.run("log.info('a', n=1, items=[1, (2,)], what=object, **{'\\ud800': '\\ud800'})")
    [log] = [frame for frame in ran.frames if isinstance(frame, Log)]
    assert log.attrs == {"n": 1, "items": [1, (2,)], "what": "<class 'object'>", "\\ud800": "\\ud800"}
    assert log.line == 1


def test_each_line_knows_where_it_was_said(scripts: Scripts) -> None:
    ran = scripts.run("def f():\n    print('x')\n\nf()\nlog.info('y')")
    assert [frame.line for frame in ran.frames if isinstance(frame, Log)] == [2, 5]


@pytest.mark.parametrize(
    "source",
    ["for n in range(10**5): print('x' * 100)", "for n in range(10**5): print('x' * 100, end='')", "print('x' * 10**7)",
     "for n in range(10**4): log.info('x', a='y' * 1000)"],
)  # fmt: skip
def test_past_the_budget_the_run_goes_on_and_nothing_crosses(scripts: Scripts, source: str) -> None:
    ran = scripts.run(f"{source}\n5", log_bytes=1000)
    assert ran.value == 5
    size = sum(len(f.message) + len(codec.dumps(f.attrs)) for f in ran.frames if isinstance(f, Log))
    assert 900 < size < 2500


def test_events(scripts: Scripts) -> None:
    ran = scripts.run("for n in range(50): emit({'n': n})\nprogress(1, 2, 'half')\n5", emit_events=10)
    assert ran.value == 5
    assert [f.value for f in ran.frames if isinstance(f, Emit)] == [{"n": n} for n in range(11)]
    assert [f for f in ran.frames if isinstance(f, Progress)] == []
    ran = scripts.run("from decimal import Decimal\nprogress(Decimal(1))\nprogress(1, 2, 'half')")
    assert [f for f in ran.frames if isinstance(f, Progress)] == [Progress(1, None, None), Progress(1, 2, "half")]
