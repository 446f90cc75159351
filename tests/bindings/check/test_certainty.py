"""What is certain to fail, what may not run, and what a script makes of its own names."""

from __future__ import annotations

import pytest
from tests.bindings.check.corpus import shop

from isolith_bindings.check import check

NOPE = "crm.nope()"


def verdicts(text: str) -> list[bool]:
    return [finding.certain for finding in check(text, shop()).findings]


@pytest.mark.parametrize(
    "text",
    [
        NOPE,
        f"x = 1\n{NOPE}",
        f"x = [{NOPE}]",
        f"[c for c in {NOPE}]",
        f"for c in {NOPE}:\n    pass",
        f"if {NOPE}:\n    pass",
        f"while {NOPE}:\n    pass",
        f"while True:\n    {NOPE}",
        f"for n in range(3):\n    {NOPE}",
        f"for n in (1, 2):\n    {NOPE}",
        f"if True:\n    {NOPE}",
        f"try:\n    {NOPE}\nfinally:\n    pass",
        f"try:\n    pass\nfinally:\n    {NOPE}",
        f"class A:\n    x = {NOPE}",
        f"def f(x={NOPE}): pass",
        f"@{NOPE}\ndef f(): pass",
        f"def f():\n    {NOPE}\nf()",
        f"def f():\n    {NOPE}\ndef g():\n    return f()\ng()",
        f"def main():\n    {NOPE}",
        f"async def main():\n    {NOPE}\nawait main()",
        f"async def main():\n    {NOPE}\nmain()",
        f"import asyncio\nasync def main():\n    {NOPE}\nasyncio.run(main())",
        f"if __name__ == '__main__':\n    {NOPE}",
        f"if input:\n    raise ValueError\n{NOPE}",
        f"for c in input:\n    if c:\n        break\n{NOPE}",
        f"while input:\n    continue\n{NOPE}",
        f"def f():\n    for c in input:\n        return c\nf()\n{NOPE}",
        f"async with asyncio.TaskGroup() as group:\n    group.create_task({NOPE})",
        f"async with asyncio.timeout(5):\n    await {NOPE}",
        f"match {NOPE}:\n    case _:\n        pass",
        f"x = 1 < 2 and 3\ny = {NOPE} and 1",
        f"with {NOPE} as x:\n    pass",
        f"assert {NOPE}",
        f"return {NOPE}",
        f"raise ValueError({NOPE})",
        f"(lambda x={NOPE}: x)",
        f"f'{{{NOPE}}}'",
        f"print(*[{NOPE}])",
        f"x: int = {NOPE}",
        f"x = 0\nx += {NOPE}",
        f"x = {{}}\nx[{NOPE}] = 1",
    ],
)
def test_it_is_certain_where_a_run_cannot_pass(text: str) -> None:
    assert verdicts(text)[:1] == [True]


@pytest.mark.parametrize(
    "text",
    [
        f"try:\n    {NOPE}\nexcept Exception:\n    pass",
        f"try:\n    pass\nexcept Exception:\n    {NOPE}",
        f"try:\n    pass\nexcept ValueError:\n    pass\nelse:\n    {NOPE}",
        f"def f():\n    try:\n        {NOPE}\n    finally:\n        return 1\nf()",
        f"def f():\n    {NOPE}\ntry:\n    f()\nexcept ToolError:\n    pass",
        f"import contextlib\nwith contextlib.suppress(ToolError):\n    {NOPE}",
        f"if input:\n    {NOPE}",
        f"if input:\n    pass\nelse:\n    {NOPE}",
        f"for c in input:\n    {NOPE}",
        f"for c in []:\n    {NOPE}",
        f"for c in range(0):\n    {NOPE}",
        f"for c in range(len(input)):\n    {NOPE}",
        f"while input:\n    {NOPE}",
        f"if input:\n    return 1\n{NOPE}",
        f"for c in (1, 2):\n    if c:\n        break\n    {NOPE}",
        f"def f():\n    if input:\n        return 1\n    {NOPE}\nf()",
        f"def f():\n    {NOPE}\nprint(f)",
        f"async def f():\n    {NOPE}\nt = asyncio.create_task(f())\nawait asyncio.wait([t])",
        f"def f():\n    yield {NOPE}\nf()",
        f"lambda: {NOPE}",
        f"[{NOPE} for c in input]",
        f"input and {NOPE}",
        f"input or {NOPE}",
        f"{NOPE} if input else 1",
        f"1 < input < {NOPE}",
        f"assert input, {NOPE}",
        f"match input:\n    case 1:\n        {NOPE}",
        f"exec('crm = 1')\n{NOPE}",
        f"globals()['crm'] = 1\n{NOPE}",
        f"setattr(crm, 'nope', print)\n{NOPE}",
        f"crm.nope = print\n{NOPE}",
        f"import sys\nsys.modules['x'] = 1\n{NOPE}",
    ],
)
def test_it_is_not_certain_where_it_may_not_happen(text: str) -> None:
    assert verdicts(text)[:1] == [False]


@pytest.mark.parametrize(
    "text",
    [
        "def f(crm):\n    return crm.nope()\nf(1)",
        "crm = {}\ncrm.nope()",
        "for crm in input:\n    crm.nope()",
        "[crm.nope() for crm in input]",
        "with input as crm:\n    crm.nope()",
        "import json as crm\ncrm.nope()",
        "try:\n    pass\nexcept Exception as crm:\n    crm.nope()",
        "class crm:\n    nope = print\ncrm.nope()",
        "def crm(): pass\ncrm.nope",
        "(crm := input)\ncrm.nope()",
        "match input:\n    case [crm, *mail]:\n        [crm.nope(), mail.nope()]",
        "lambda crm: crm.nope()",
        "if input:\n    crm = input\ncrm.nope()",
        "def f():\n    global crm\n    crm = 1\ncrm.nope()",
        "async def f(*, crm=None, **mail):\n    return [crm.nope(), mail.nope()]\nf()",
        "c = crm\nc = input\nc.nope()",
        "crm.__class__.__name__",
        "crm[input].nope()",
        "getattr(crm, input)",
        "getattr(crm, 'nope', None)",
        "getattr(input, 'nope')",
        "x = crm\ndel x\nx",
        "from tools import *\nlist_contacts()",
        "from crm import *\nlist_contacts()",
    ],
)
def test_what_the_script_itself_binds_is_its_own(text: str) -> None:
    assert verdicts(text) == []


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("x = 1; crm.nope()", 1, 8),
        ("é = 'ü'; crm.nope()", 1, 10),
        ("x = (crm\n     .nope())", 2, 7),
        ("x = (crm.get_contact\n     .nope())", 2, 7),
        ("crm.revenue(\n    yaer=1)", 1, 1),
        ("tools.crm.nope(\n)", 1, 1),
        ("x = [\n    crm.nope(),\n]", 2, 5),
    ],
)
def test_the_place_is_the_one_where_python_would_fail(text: str, line: int, column: int) -> None:
    fatal = check(text, shop()).fatal
    assert fatal is not None
    assert (fatal.line, fatal.column) == (line, column)


def test_the_fatal_finding_is_the_first_to_happen_not_the_first_written() -> None:
    text = "def f():\n    crm.nope()\nmail.nope()\nf()"
    report = check(text, shop())
    assert report.fatal is not None
    assert report.fatal.tool == "mail.nope"
    assert [finding.line for finding in report.findings] == [2, 3]


def test_the_same_function_is_looked_at_once() -> None:
    assert verdicts("def f():\n    crm.nope()\nf()\nf()\nf()") == [True]


def test_at_most_so_many_findings() -> None:
    assert len(check("crm.nope()\n" * 500, shop()).findings) == 50
