"""What models write around a script comes off, each time with a warning; what is not Python is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from isolith import CodeMode

pytestmark = pytest.mark.anyio

THERE = "`{}` was removed: connectors are there already"
GUARD = "`__name__ == '__main__'` was removed: a script always runs"
RUNNER = "`asyncio.run(...)` was replaced by `await ...`"
FENCED = "Here is the script:\n\n```python\nawait crm.get(id=1)\n```\n\nIt gets one contact."


@pytest.mark.parametrize(
    ("script", "warnings"),
    [
        (FENCED, [("removed lines 1 to 3 around the script", 1), ("removed lines 5 to 7 around the script", 5)]),
        ("```\ncrm.get(id=1)\n```", [("removed line 1 around the script", 1), ("removed line 3 around the script", 3)]),
        ("```py\nx = crm\n```\nand then\n```py\nx.get(id=1)\n```", None),
        ("    x = crm\n    x.get(id=1)", [("removed 4 columns of indentation", 1)]),
        ("\ufeffcrm.get(id=1)\r\n", []),
        ("import crm\ncrm.get(id=1)", [(THERE.format("import crm"), 1)]),
        ("import crm, json\ncrm.get(id=json.loads('1'))", [(THERE.format("import crm"), 1)]),
        ("import crm as c\nc.get(id=1)", [(THERE.format("import crm as c"), 1)]),
        ("import tools\ntools.crm.get(id=1)", [(THERE.format("import tools"), 1)]),
        ("import tools.crm\ncrm.get(id=1)", [(THERE.format("import tools.crm"), 1)]),
        ("import tools.crm as c\nc.get(id=1)", [(THERE.format("import tools.crm as c"), 1)]),
        ("from tools import crm\ncrm.get(id=1)", [(THERE.format("from tools import crm"), 1)]),
        ("from tools import crm as c\nc.get(id=1)", [(THERE.format("from tools import crm as c"), 1)]),
        ("from tools import *\ncrm.get(id=1)", [(THERE.format("from tools import *"), 1)]),
        ("from tools.crm import get\nget(id=1)", [(THERE.format("from tools.crm import get"), 1)]),
        ("from crm import get as g\ng(id=1)", [(THERE.format("from crm import get as g"), 1)]),
        ("from functions import crm, echo\ncrm.get(id=1)", [(THERE.format("from functions import crm, echo"), 1)]),
        ("def main():\n    return crm.get(id=1)", [("`main` was called: the script only defined it", 1)]),
        ("async def main():\n    return await crm.get(id=1)", [("`main` was called: the script only defined it", 1)]),
        ("import json\n\ndef fetch():\n    return crm.get(id=1)", [("`fetch` was called: the script only defined it", 3)]),
        ("def main():\n    return crm.get(id=1)\n\nif __name__ == '__main__':\n    main()", [(GUARD, 4)]),
        ("if '__main__' == __name__:\n    crm.get(id=1)", [("`'__main__' == __name__` was removed: a script always runs", 1)]),
        ("import asyncio\nasync def main():\n    return await crm.get(id=1)\nasyncio.run(main())", [(RUNNER, 4)]),
        (
            "async def main():\n    return await crm.get(id=1)\nif __name__ == '__main__':\n    asyncio.run(main())",
            [(GUARD, 3), (RUNNER, 4)],
        ),
        ("asyncio.run(crm.get(id=1))", [(RUNNER, 1)]),
        ("asyncio.run(asyncio.gather(crm.get(id=1)))[0]", [(RUNNER, 1)]),
        (
            "async def main():\n    return await crm.get(id=1)\nasyncio.get_event_loop().run_until_complete(main())",
            [("`asyncio.get_event_loop().run_until_complete(...)` was replaced by `await ...`", 3)],
        ),
        ("async def main():\n    return await crm.get(id=1)\nloop = asyncio.new_event_loop()\n"
         "asyncio.set_event_loop(loop)\ntry:\n    x = loop.run_until_complete(main())\nfinally:\n    loop.close()\nx", []),
        ("def go():\n    async def main():\n        return await crm.get(id=1)\n    return asyncio.run(main())\ngo()", []),
    ],
)  # fmt: skip
async def test_what_is_around_a_script_comes_off(
    code_mode: CodeMode, script: str, warnings: list[tuple[str, int]] | None
) -> None:
    outcome = await code_mode.execute(script)
    assert (outcome.value, outcome.error) == ({"id": 1}, None)
    assert {warning.kind for warning in outcome.warnings} <= {"not_a_script"}
    if warnings is not None:
        assert [(warning.message, warning.line) for warning in outcome.warnings] == warnings


@pytest.mark.parametrize(
    ("script", "value"),
    [
        ("def main(name):\n    return name", None),
        ("def first():\n    return 1\ndef second():\n    return 2", None),
        ("def first():\n    return 1\ndef main():\n    return first()", 1),
        ("x = 1\ndef f():\n    return x\nprint(x)", None),
        ("import asyncio\nasync def main():\n    return 5\nx = await main()\nx", 5),
    ],
)
async def test_a_function_is_called_only_where_it_is_the_script(
    code_mode: CodeMode, script: str, value: object
) -> None:
    outcome = await code_mode.execute(script)
    assert (outcome.value, outcome.status) == (value, "completed")


@pytest.mark.parametrize(
    ("script", "message", "line"),
    [
        ("const rows = await crm.get({id: 1});\nconsole.log(rows);", "this is JavaScript, not Python", 1),
        ("#!/bin/sh\ncurl -s https://example.org | jq .", "this is shell, not Python", 1),
        ('{"tool": "crm.get", "arguments": {"id": 1}}', "this is JSON, not Python", 1),
        ("I would first list the contacts and then count them.", "this is prose, not Python", 1),
        ("```javascript\nlet x = 1;\n```", "there is no Python between the fences: the block at line 1 is tagged", 1),
        ("", "the script is empty", None),
        ("  \n\t\n", "the script is empty", None),
    ],
)
async def test_what_is_not_python_is_named(code_mode: CodeMode, script: str, message: str, line: int | None) -> None:
    outcome = await code_mode.execute(script)
    assert outcome.error is not None
    assert (outcome.status, outcome.error.kind, outcome.error.line) == ("failed", "not_a_script", line)
    assert outcome.error.message.startswith(message)
    assert outcome.error.hint


@pytest.mark.parametrize(
    ("script", "line", "column", "source_line"),
    [
        ("x = (1,\ny = 2", 1, 5, "x = (1,"),
        ("Look:\n```python\nx = 1\ny = = 2\n```", 4, 5, "y = = 2"),
        ("```\n    x = 1\n    y = = 2\n```", 3, 9, "    y = = 2"),
        ("\r\n\r\nx = = 1", 3, 5, "x = = 1"),
        ("é = 'ü'; y = = 2", 1, 14, "é = 'ü'; y = = 2"),
        ("return = 5", 1, 8, "return = 5"),
        ("x = 5 +", 1, 8, "x = 5 +"),
    ],
)
async def test_a_syntax_error_is_at_the_user_s_own_place(
    code_mode: CodeMode, script: str, line: int, column: int, source_line: str
) -> None:
    outcome = await code_mode.execute(script)
    assert outcome.error is not None
    place = (outcome.error.line, outcome.error.column, outcome.error.source_line)
    assert (outcome.error.kind, *place) == ("syntax", line, column, source_line)


async def test_a_phantom_module_names_what_is_there(code_mode: CodeMode) -> None:
    outcome = await code_mode.execute("import sandbox_tools\nsandbox_tools.call('x')")
    assert outcome.error is not None
    assert outcome.error.message == "ModuleNotFoundError: No module named 'sandbox_tools'"
    assert outcome.error.hint == (
        "only the standard library is here; reach anything else through a connector;"
        " the connectors of this run: crm, echo"
    )


async def test_a_module_of_the_standard_library_that_is_called_like_a_connector(code_mode: CodeMode) -> None:
    outcome = await code_mode.execute("from json import dumps\nimport re\ndumps(re.findall('a', 'aa'))")
    assert (outcome.value, outcome.warnings) == ('["a", "a"]', ())
