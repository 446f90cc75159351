"""From the text of a script to code: what comes off, what its value is, and that lines stay where they were."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from isolith_runtime import protocol
    from isolith_runtime.testing import Ran, Scripts

CRM = {"crm": ["get", "list_contacts", "issues.list"]}


def echo(call: protocol.Call) -> object:
    """What was called, as its answer."""
    return f"{call.connector}.{call.method}{call.arguments or ''}"


def run(scripts: Scripts, source: str) -> Ran:
    return scripts.run(source, connectors=CRM, answer=echo)


# the value

VALUES: list[tuple[str, object]] = [
    ("", None),
    ("# only a comment", None),
    ("1 + 1", 2),
    ("'text'", "text"),
    ("x = 1; x + 1", 2),
    ("x = 1\nx", 1),
    ("x = y = 5", 5),
    ("a, b = 1, 2", (1, 2)),
    ("[a, b] = 1, 2", [1, 2]),
    ("a, b = map(int, '12')", (1, 2)),
    ("x = {}\nx['k'] = 5", 5),
    ("class A: pass\nA.b = 3", 3),
    ("x = 1\nx += 2", 3),
    ("x: int = 5", 5),
    ("x: int", None),
    ("if 1:\n    5", None),
    ("x = 5\nif 0:\n    x", None),
    ("return 5", 5),
    ("return", None),
    ("if 1:\n    return 5\n6", 5),
    ("if 0:\n    return 5\n6", 6),
    ("if 0:\n    return 5\nx = 6", 6),
    ("for n in range(5):\n    if n == 3:\n        return n", 3),
    ("while True:\n    return 1", 1),
    ("try:\n    return 1\nexcept:\n    return 2", 1),
    ("try:\n    1 / 0\nexcept:\n    return 2", 2),
    ("try:\n    return 1\nfinally:\n    x = 2", 1),
    ("import contextlib\nwith contextlib.nullcontext(4) as x:\n    return x", 4),
    ("match [1, 2]:\n    case [a, *rest]:\n        return a, rest", (1, [2])),
    ("match {'a': 1, 'b': 2}:\n    case {'a': x, **others}:\n        pass\nif 1: return x, others", (1, {"b": 2})),
    ("async def f():\n    return 5\nreturn await f()", 5),
    ("async def f():\n    yield 5\nreturn [n async for n in f()]", [5]),
    ("async def f():\n    yield 5\nasync for n in f():\n    return n", 5),
    ("async def f():\n    return 5\nf()", 5),
    ("import asyncio\nasyncio.create_task(asyncio.sleep(0, 5))", 5),
    ("crm.get(id=1)", "crm.get{'id': 1}"),
    ("async def f():\n    await asyncio.sleep(0)\ncrm.get(id=1)", "crm.get{'id': 1}"),
]


@pytest.mark.parametrize(("source", "value"), VALUES)
def test_values(scripts: Scripts, source: str, value: object) -> None:
    assert run(scripts, source).value == value


def test_a_target_is_not_called_twice(scripts: Scripts) -> None:
    """`d[crm.get()] = 5` asked for the call again to read what was assigned."""
    for source in ("d = {}\nd[crm.get(id=1)] = 5", "d = {}\nif 0: return 1\nd[crm.get(id=1)] = 5"):
        ran = run(scripts, source)
        assert (ran.value, len(ran.calls)) == (5, 1)


# a script with `return` is a function whose names are still globals

WRAPPED: list[tuple[str, object]] = [
    ("x = 1\ndef f():\n    global x\n    x += 1\nf()\nreturn x", 2),
    ("x = 1\ndef f():\n    return x\nx = 2\nreturn f()", 2),
    ("def f():\n    global made\n    made = 3\nf()\nreturn made", 3),
    ("x: int = 1\nif 1:\n    y: str = 'a'\nreturn x, y", (1, "a")),
    ("class A:\n    x: int = 1\nreturn A.__annotations__['x'] is int, A.__qualname__", (True, "A")),
    ("def f(a: int = 1) -> str: ...\nreturn f.__qualname__", "f"),
    ("x = 5\ny = [x for x in range(3)]\nreturn x, y", (5, [0, 1, 2])),
    ("y = [x for x in range(3)]\nimport math as x\nreturn x.pi > 3", True),
    ("any((found := n) > 1 for n in range(5))\nreturn found, 'found' in globals()", (2, True)),
    (
        "import os.path as p, json\nfrom math import pi as q\nreturn 'p' in globals() and 'json' in globals() and q > 3",
        True,
    ),
    ("from math import *\nreturn floor(pi)", 3),
    ("from __future__ import annotations\nreturn 1", 1),
    (
        "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    said = str(error)\nreturn said, 'error' in globals()",
        ("division by zero", False),
    ),
    ("type X = int\nreturn X.__value__ is int", True),
    ("def f[T](x: T) -> T: return x\nreturn f(1)", 1),
    ("for i in range(3): pass\nreturn i, globals()['i']", (2, 2)),
    ("import contextlib\nwith contextlib.nullcontext((1, 2)) as (a, b): pass\nreturn a + b", 3),
    ("x = 1\ndel x\nreturn 'x' in globals()", False),
    ("a = [1]\na[0]: int = 5\nreturn a", [5]),
    ("return __name__", "__main__"),
    ("def f():\n    def g():\n        return seen\n    return g\nseen = 4\nreturn f()()", 4),
    ("import asyncio\nresults = [await asyncio.sleep(0, n) for n in range(3)]\nreturn results", [0, 1, 2]),
]


@pytest.mark.parametrize(("source", "value"), WRAPPED)
def test_names_are_the_scripts_globals(scripts: Scripts, source: str, value: object) -> None:
    assert scripts.run(source).value == value


SYNTAX: list[tuple[str, str, int | None]] = [
    ("x = 1\nx = = 2", "invalid syntax", 2),
    ("def f(:\n    pass", "invalid syntax", 1),
    ("x = 1\nyield x\nreturn x", "'yield' outside function", 2),
    ("class A:\n    return 1", "'return' outside function", 2),
    ("x = 1\nbreak", "'break' outside loop", 2),
    ("def f():\n    await g()", "'await' outside async function", 2),
    ("(" * 500 + ")" * 500, "too many nested parentheses", 1),
    ("x = '\n", "unterminated string literal (detected at line 1)", 1),
]


@pytest.mark.parametrize(("source", "message", "line"), SYNTAX, ids=lambda part: str(part)[:40])
def test_what_does_not_compile(scripts: Scripts, source: str, message: str, line: int | None) -> None:
    failure = scripts.run(source).failure
    assert (failure.kind, failure.line) == ("syntax", line)
    assert failure.message == message


def test_a_long_expression_compiles(scripts: Scripts) -> None:
    """Walking the tree by recursion refused what CPython compiles."""
    chain = " + ".join(["1"] * 2000)
    assert scripts.run(f"import json\nx = {chain}\nif x: return x").value == 2000
    assert scripts.run(f"import json\n{chain}").value == 2000


def test_what_is_nested_too_deep_to_compile_is_said(scripts: Scripts) -> None:
    failure = scripts.run("-" * 100_000 + "1").failure
    assert failure.kind in {"recursion", "syntax"}


def test_annotations_are_the_scripts_own(scripts: Scripts) -> None:
    """They were text, because the flags of our own module were inherited."""
    source = "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\nA.__annotations__['x'] is int"
    assert scripts.run(source).value is True


# what comes off

REMOVED = "was removed: connectors are there already"
IMPORTS: list[tuple[str, object]] = [
    ("import crm\ncrm.get()", "crm.get"),
    ("import crm as c\nc.get()", "crm.get"),
    ("import tools\ntools.crm.get()", "crm.get"),
    ("import tools as t\nt['crm']['get']()", "crm.get"),
    ("import tools.crm\ntools.crm.get()", "crm.get"),
    ("import tools.crm as c\nc.get()", "crm.get"),
    ("import crm.issues as issues\nissues.list()", "crm.issues.list"),
    ("from tools import crm\ncrm.get()", "crm.get"),
    ("from tools import crm as c\nc.get()", "crm.get"),
    ("from tools import *\ncrm.get()", "crm.get"),
    ("from tools.crm import get\nget()", "crm.get"),
    ("from tools.crm import get as g, list_contacts\ng() + list_contacts()", "crm.getcrm.list_contacts"),
    ("from crm import get\nget(id=1)", "crm.get{'id': 1}"),
    ("from crm import *\nget() + list_contacts()", "crm.getcrm.list_contacts"),
    ("from crm.issues import list as all_issues\nall_issues()", "crm.issues.list"),
    ("from functions import crm\ncrm.get()", "crm.get"),
    ("from . import crm\ncrm.get()", "crm.get"),
    ("def f():\n    import crm\n    return crm.get()\nf()", "crm.get"),
    ("def f():\n    from crm import get as g\n    return g()\nf()", "crm.get"),
    ("try:\n    import crm\nexcept ImportError:\n    crm = None\ncrm.get()", "crm.get"),
    ("if True:\n    from tools import crm\nreturn crm.get()", "crm.get"),
]


@pytest.mark.parametrize(("source", "value"), IMPORTS)
def test_imports_of_connectors(scripts: Scripts, source: str, value: object) -> None:
    ran = run(scripts, source)
    assert ran.value == value
    [(kind, message, line)] = ran.warnings
    assert (kind, message.endswith(REMOVED)) == ("not_a_script", True)
    assert line == next(n for n, text in enumerate(source.split("\n"), 1) if "import" in text)


def test_other_imports_stay(scripts: Scripts) -> None:
    ran = run(scripts, "import crm, json, math as m\nfrom os import path\njson.dumps(m.floor(2.5)), path.sep")
    assert ran.value == ("2", "/")
    assert [message for _, message, _ in ran.warnings] == [f"`import crm` {REMOVED}"]


def test_what_stays_of_an_import_is_not_called_removed(scripts: Scripts) -> None:
    source = "import time, crm as c, json\njson.dumps(time.gmtime(0).tm_year)"
    ran = scripts.run(source, connectors={"time": ["get"], "crm": ["get"]})
    assert ran.value == "1970"
    assert [message for _, message, _ in ran.warnings] == [f"`import crm as c` {REMOVED}"]


@pytest.mark.parametrize("source", ["from tools import cmr", "import tools.cmr", "from tools.cmr import get"])
def test_a_connector_that_is_not_there_has_a_near_name(scripts: Scripts, source: str) -> None:
    failure = run(scripts, source).failure
    assert (failure.kind, failure.message) == ("unknown_tool", "there is no connector 'cmr' in this run")
    assert failure.hint == "did you mean crm?"


WRITTEN_AROUND: list[tuple[str, object, list[str]]] = [
    ("x = 5\nif __name__ == '__main__':\n    x + 1", 6, ["`__name__ == '__main__'` was removed: a script always runs"]),
    (
        'def main():\n    return 5\nif "__main__" == __name__:\n    main()',
        5,
        ["`'__main__' == __name__` was removed: a script always runs"],
    ),
    ("async def main():\n    return 5\nasyncio.run(main())", 5, ["`asyncio.run(...)` was replaced by `await ...`"]),
    (
        "import asyncio\nasync def main():\n    await asyncio.sleep(0)\n    return 5\nresult = asyncio.run(main())\nresult",
        5,
        ["`asyncio.run(...)` was replaced by `await ...`"],
    ),
    (
        "async def main():\n    return 5\nasyncio.get_event_loop().run_until_complete(main())",
        5,
        ["`asyncio.get_event_loop().run_until_complete(...)` was replaced by `await ...`"],
    ),
    ("def main():\n    return 5", 5, ["`main` was called: the script only defined it"]),
    ("async def main():\n    return 5", 5, ["`main` was called: the script only defined it"]),
    (
        "async def main():\n    return helper()\ndef helper():\n    return 6",
        6,
        ["`main` was called: the script only defined it"],
    ),
    ("def report(n=5):\n    return n", 5, ["`report` was called: the script only defined it"]),
    ('"""Doc."""\nimport json\nN = 5\ndef main():\n    return N', 5, ["`main` was called: the script only defined it"]),
    (
        "import asyncio\nasync def main():\n    return 5\nif __name__ == '__main__':\n    asyncio.run(main())",
        5,
        [
            "`__name__ == '__main__'` was removed: a script always runs",
            "`asyncio.run(...)` was replaced by `await ...`",
        ],
    ),
]


@pytest.mark.parametrize(("source", "value", "said"), WRITTEN_AROUND)
def test_what_models_write_around_a_script(scripts: Scripts, source: str, value: object, said: list[str]) -> None:
    ran = scripts.run(source)
    assert ran.value == value
    assert [(kind, message) for kind, message, _ in ran.warnings] == [("not_a_script", message) for message in said]


QUIET: list[tuple[str, object]] = [
    ("import asyncio\nasync def f(n): return n\nlist(asyncio.run(f(n)) for n in range(2))", [0, 1]),
    ("import asyncio\nasync def f(n): return n\ndef g(): return asyncio.run(f(3))\ng()", 3),
    ("from asyncio import run\nasync def f(n): return n\nrun(f(3))", 3),
    ("loop = asyncio.new_event_loop()\nasync def f(): return 3\nx = loop.run_until_complete(f())\nloop.close()\nx", 3),
    ("def main():\n    return 5\nx = main()\nx", 5),
    ("'__main__' in 'if __name__'", False),
    ("def add(a, b):\n    return a + b\nadd(1, 2)", 3),
]


@pytest.mark.parametrize(("source", "value"), QUIET)
def test_what_needs_no_change_has_no_warning(scripts: Scripts, source: str, value: object) -> None:
    ran = scripts.run(source)
    assert (ran.value, ran.warnings) == (value, [])


def test_only_what_could_be_the_script_is_called(scripts: Scripts) -> None:
    for source in ("def f():\n    return 1\ndef g():\n    return 2", "def main(n):\n    return n", "def f():\n    f()"):
        ran = scripts.run(source)
        assert ran.value is None
        assert [message.partition(",")[0] for _, message, _ in ran.warnings] == ["the script ends without a value"]


LINES: list[str] = [
    "import crm\nfrom tools import crm as c\n\n1 / 0  # here",
    "x = 1\nif __name__ == '__main__':\n    1 / 0  # here",
    "async def main():\n    await asyncio.sleep(0)\n    1 / 0  # here\n\nasyncio.run(main())",
    "def main():\n    x = 1\n    1 / 0  # here",
    "x: int = 1\nif x:\n    1 / 0  # here\nreturn 5",
    "from math import *\nif pi:\n    y = (1 +\n        1 / 0)  # here\n    return y",
    "try:\n    pass\nfinally:\n    x = [n / 0 for n in [1]]  # here",
]


@pytest.mark.parametrize("source", LINES)
def test_lines_are_the_users(scripts: Scripts, source: str) -> None:
    failure = run(scripts, source).failure
    assert failure.message.startswith("ZeroDivisionError")
    line = next(number for number, text in enumerate(source.split("\n"), 1) if "# here" in text)
    assert failure.line == line
    assert failure.column is not None
    assert source.split("\n")[line - 1][failure.column - 1 :].startswith(("1 / 0", "n / 0"))
