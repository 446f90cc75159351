"""What the parser takes and no compiler does: the script is not run at all, and that is said before."""

from __future__ import annotations

import ast

import pytest
from tests.bindings.check.corpus import shop

from isolith_bindings.check import check
from isolith_bindings.check.scopes import scopes_of

DEFINE = "write `async def` for a function that awaits, and `await` it where it is called"
LAMBDA = "a lambda cannot await: write an `async def`, and `await` what it gives"
COMPREHENSION = "asynchronous comprehension outside of an asynchronous function"
MISPLACED = [
    ("def load():\n    return await crm.list_contacts()\nload()", (2, 12), "'await' outside async function", DEFINE),
    ("def f():\n    async with x:\n        pass", (2, 5), "'async with' outside async function", DEFINE),
    ("async def g():\n    def f():\n        async for x in y: pass", (3, 9), "'async for' outside async function", DEFINE),
    ("f = lambda id: await crm.get_contact(id=id)", (1, 16), "'await' outside async function", LAMBDA),
    ("def f(ids):\n    return [await crm.get_contact(id=i) for i in ids]\nf([1])", (2, 12), COMPREHENSION, DEFINE),
    ("f = lambda ids: {i async for i in ids}", (1, 17), COMPREHENSION, LAMBDA),
    ("class A:\n    rows = [await c for c in ()]", (2, 12), COMPREHENSION, DEFINE),
    ("class A:\n    async for c in (): pass", (2, 5), "'async for' outside async function", DEFINE),
    ("class A:\n    rows = await crm.list_contacts()", (2, 12), "'await' outside function", None),
    ("await crm.get_contact(id=1, id=2)", (1, 29), "keyword argument repeated: id", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "place", "message", "hint"), MISPLACED)
def test_it_is_certain_and_all_that_is_said(text: str, place: tuple[int, int], message: str, hint: str | None) -> None:
    report = check(text, shop())
    [finding] = report.findings
    assert report.fatal is finding
    assert (finding.kind, finding.line, finding.column, finding.message, finding.hint, finding.certain) == (
        *("syntax", *place, message, hint),
        True,
    )


@pytest.mark.parametrize(
    "text",
    [
        "async def f():\n    return [await crm.get_contact(id=i) for i in (1, 2)]\nawait f()",
        "def f():\n    async def g():\n        await crm.list_contacts()\n    return g()\nawait f()",
        "def f(rows=await crm.list_contacts()):\n    return rows\nf()",
        "def f():\n    return (await c for c in [crm.list_contacts()])\n[x async for x in f()]",
        "await crm.list_contacts(**{'limit': 1}, **{'state': 'active'})",
    ],
)
def test_what_is_well_placed(text: str) -> None:
    assert check(text, shop()).findings == ()


WAITING = [
    *("await x", "[await x for x in y]", "{await x: 1 for x in y}", "(await x for x in y)", "[x for x in await y]"),
    *("[x async for x in y]", "(x async for x in y)", "[x for x in y if await x]", "[x for z in y async for x in z]"),
    *("[[await x for x in z] for z in y]", "([await x for x in z] for z in y)", "[(await x for x in z) for z in y]"),
    *("(x for x in [await x for x in y])", "[lambda: await x for x in y]", "[x for x in y for z in await x]"),
]
AROUND = [
    *("{}", "def f():\n    {}", "async def f():\n    {}", "class A:\n    {}", "f = lambda: {}", "def f(a={}): ..."),
    *(
        "async def f():\n    class A:\n        {}",
        "async def f():\n    g = lambda: {}",
        "class A:\n    def f(s, a={}): ...",
    ),
    *("async def f():\n    def g(a={}): ...", "class A:\n    async def f(self):\n        {}"),
]


@pytest.mark.parametrize("around", AROUND)
def test_it_is_what_cpython_does_not_compile(around: str) -> None:
    for waiting, text in [(each, around.format(each)) for each in WAITING]:
        try:
            compile(text, "script", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            compiles = True
        except SyntaxError:
            compiles = False
        assert (scopes_of(ast.parse(text)).misplaced is None) is compiles, waiting
