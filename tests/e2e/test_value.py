"""What a script answers with: which statement is the value, what is said where there is none, what cannot leave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from isolith import CodeMode

pytestmark = pytest.mark.anyio

ASSIGNED = "the script ends with an assignment, so it answers with `{0}`; end with `{0}`"
NOTHING = "the script ends without a value, so it answers null; end it with an expression or `return`"
PRINTED = "the script printed, but answers null; end it with the value that it should answer"


@pytest.mark.parametrize(
    ("script", "value"),
    [
        ("1 + 1", 2),
        ("x = 3\nx", 3),
        ("x = 3\nx  # comment\n\n", 3),
        ("1; 2; 3", 3),
        ("None", None),
        ("await crm.get(id=1)", {"id": 1}),
        ("return 4", 4),
        ("return", None),
        ("return None", None),
        ("if input:\n    return 1\nreturn 2", 2),
        ("for n in range(9):\n    if n == 5:\n        return n\n'never'", 5),
        ("with __import__('contextlib').suppress(Exception):\n    return await crm.get(id=2)", {"id": 2}),
        ("try:\n    return 1\nfinally:\n    print('x')", 1),
        ("if input is not None:\n    return 1\n7", 7),
        ("def f(x: int) -> int:\n    return x\nf(3)", 3),
        ("x: int = 5\nreturn x", 5),
        ("async def f():\n    return 6\nf()", 6),
        ("'''docstring'''", "docstring"),
        ("a if (a := 3) else 0", 3),
        ("[x async for x in __import__('builtins').aiter(())] if False else 1", 1),
        ("match 5:\n    case x:\n        pass\nx", 5),
        ("type Pair = tuple[int, int]\nstr(Pair)", "Pair"),
        ("t'{1}'.strings", ("", "")),
        ("lambda_ = lambda: 5\nlambda_()", 5),
        ("global_ = 1\ndef f():\n    global global_\n    global_ = 2\nf()\nreturn global_", 2),
        ("total = 0\nfor n in [1, 2]:\n    total += n\nreturn total", 3),
        ("rows = [n for n in range(3)]\nreturn rows", [0, 1, 2]),
        ("import math\nreturn math.floor(2.5)", 2),
        ("try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    return str(error)", "division by zero"),
        ("class A:\n    n = 1\nreturn A.n", 1),
    ],
)
async def test_the_value_is_the_last_expression_or_what_is_returned(
    code_mode: CodeMode, script: str, value: object
) -> None:
    outcome = await code_mode.execute(script)
    assert (outcome.value, outcome.error, outcome.warnings) == (value, None, ())


@pytest.mark.parametrize(
    ("script", "value", "line", "message"),
    [
        ("x = await crm.get(id=1)", {"id": 1}, 1, ASSIGNED.format("x")),
        ("x = 1\ny = x", 1, 2, ASSIGNED.format("y")),
        ("x: int = 1", 1, 1, ASSIGNED.format("x")),
        ("x = 1\nx += 1", 2, 2, ASSIGNED.format("x")),
        ("a, b = 1, 2", (1, 2), 1, ASSIGNED.format("(a, b)")),
        ("a = b = [1]", [1], 1, ASSIGNED.format("a")),
        ("x = {}\nx['k'] = 1", 1, 2, ASSIGNED.format("x['k']")),
        ("if True:\n    1", None, 1, NOTHING),
        ("for n in [1]:\n    n", None, 1, NOTHING),
        ("def f(x):\n    return x", None, 1, NOTHING),
        ("try:\n    1\nexcept ValueError:\n    pass", None, 1, NOTHING),
        ("x = 1\ndel x", None, 2, NOTHING),
        ("import json", None, 1, NOTHING),
        ("first, *rest = [1, 2]", None, 1, NOTHING),
        ("x: int", None, 1, NOTHING),
        ("print('hello')", None, 1, PRINTED),
        ("def main():\n    print('hello')\nmain()", None, 3, PRINTED),
        ("await asyncio.sleep(0)\nprint(await crm.get(id=1))", None, 2, PRINTED),
    ],
)
async def test_any_other_ending_has_a_warning(
    code_mode: CodeMode, script: str, value: object, line: int, message: str
) -> None:
    outcome = await code_mode.execute(script)
    assert (outcome.status, outcome.value) == ("completed", value)
    [warning] = outcome.warnings
    assert (warning.kind, warning.message, warning.line) == ("check", message, line)
    assert warning.source_line == script.split("\n")[line - 1]


async def test_a_script_that_failed_is_told_nothing_of_its_ending(code_mode: CodeMode) -> None:
    outcome = await code_mode.execute("x = crm.fail()")
    assert (outcome.status, outcome.warnings) == ("failed", ())


@pytest.mark.parametrize(
    ("script", "message", "line"),
    [
        ("lambda: 1", "the value at $ is of type function, which has no data form: call it, or leave it out", 1),
        (
            "x = 1\n(n for n in 'ab')",
            "the value at $ is of type generator, which has no data form: wrap it in list(...)",
            2,
        ),
        (
            "{'a': [1, {'b': object()}]}",
            "the value at $.a[1].b is of type object, which has no data form: make it a dict,",
            1,
        ),
        (
            "{'not a name': {1: object}}",
            "the value at $['not a name'][1] is of type type, which has no data form: call it",
            1,
        ),
        ("crm", "the value at $ is the connector crm, which has no data form: call one of its methods", 1),
        ("[crm.get]", "the value at $[0] is the method crm.get, which has no data form: call it, crm.get(...)", 1),
        ("tools", "the value at $ is `tools`, which has no data form: call a method", 1),
        ("x = []\nx.append(x)\nx", "the value at $[0][0]", 3),
        ("'\\ud800'", "the value at $ holds text that is not valid Unicode (a lone surrogate)", 1),
        ("print", "the value at $ is of type builtin_function_or_method, which has no data form: call it", 1),
    ],
)
async def test_what_has_no_data_form_is_named_by_its_path(
    code_mode: CodeMode, script: str, message: str, line: int
) -> None:
    outcome = await code_mode.execute(script)
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.error.line) == ("exception", line)
    assert outcome.error.message.startswith(message)
    assert len(outcome.error.message) < 250


@pytest.mark.parametrize(
    ("script", "name"),
    [
        ("[]", "list"),
        ("[1, 2]", "list[int]"),
        ("[{'a': 1}]", "list[dict[str, int]]"),
        ("[1, 'a', None]", "list[int | str | None]"),
        ("[1, 'a', 2.0, True, b'']", "list[object]"),
        ("(1, 'a')", "tuple[int, str]"),
        ("()", "tuple[()]"),
        ("(1, 2, 3, 4, 5)", "tuple[int, ...]"),
        ("{1}", "set[int]"),
        ("frozenset('a')", "frozenset[str]"),
        ("{}", "dict"),
        ("{'a': {'b': {'c': {'d': {'e': 1}}}}}", "dict[str, dict[str, dict[str, dict[str, dict]]]]"),
        ("None", "None"),
        ("True", "bool"),
        ("1.5", "float"),
        ("b'x'", "bytes"),
        ("bytearray(b'x')", "bytes"),
        ("1j", "complex"),
        ("range(3)", "list[int]"),
        ("{'a': 1}.items()", "list[tuple[str, int]]"),
        ("__import__('collections').Counter('ab')", "dict[str, int]"),
        ("__import__('collections').namedtuple('P', 'x y')(1, 2)", "tuple[int, int]"),
        ("__import__('datetime').datetime.now()", "datetime"),
        ("__import__('decimal').Decimal(1)", "Decimal"),
        ("__import__('uuid').uuid4()", "UUID"),
        ("__import__('enum').Enum('E', 'A').A", "int"),
        ("__import__('dataclasses').make_dataclass('D', ['x'])(1)", "dict[str, int]"),
        ("type('S', (str,), {})('a')", "str"),
        ("ValueError('x')", "dict[str, str]"),
    ],
)
async def test_the_type_is_written_as_a_reader_would(code_mode: CodeMode, script: str, name: str) -> None:
    assert (await code_mode.execute(script)).value_type == name
