"""Results as JUnit XML, as CI servers read it. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from isolith.mcp.view import said_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isolith.testing.suite import Result

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 has no way to write."""
_MOST_TEXT = 64 * 1024


def junit(results: Sequence[Result]) -> bytes:
    """The document, UTF-8. A case is a failure where it came out otherwise, an error where that is a bug of ours."""
    suites = Element("testsuites")
    counts = {
        "tests": len(results),
        "failures": sum(not result.passed and not result.internal for result in results),
        "errors": sum(result.internal for result in results),
        "skipped": 0,
    }
    told = {name: str(count) for name, count in counts.items()} | {"time": _seconds(sum(r.seconds for r in results))}
    suite = SubElement(suites, "testsuite", {"name": "isolith", **told})
    for result in results:
        _case(suite, result)
    indent(suites)
    document: bytes = tostring(suites, encoding="utf-8", xml_declaration=True)
    return document


def _case(suite: Element, result: Result) -> None:
    script = result.case.script
    named = {"classname": script.parent.as_posix(), "name": script.stem, "file": script.as_posix()}
    case = SubElement(suite, "testcase", {name: _text(value) for name, value in named.items()})
    case.set("time", _seconds(result.seconds))
    if not result.passed:
        lines = list(result.differences)
        error = result.outcome.error
        if error is not None:
            lines.append(said_of(error))
        problem = SubElement(case, "error" if result.internal else "failure")
        problem.set("message", _text(lines[0].splitlines()[0]))
        problem.set("type", error.kind if error is not None else "difference")
        problem.text = _text("\n".join(lines))
    if result.outcome.logs:
        SubElement(case, "system-out").text = _text("\n".join(log.message for log in result.outcome.logs))


def _text(text: str) -> str:
    """Text that XML can have; what a script writes may be anything."""
    cut = text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}... ({len(text):,} characters)"
    return _NOT_XML.sub(lambda match: f"\\x{ord(match[0]):02x}", cut)


def _seconds(amount: float) -> str:
    return f"{amount:.3f}"
