"""What is said to a model that makes one of the mistakes that models make."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from isolith import CodeMode, connector

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

pytestmark = pytest.mark.anyio


@connector("bugs")
class Bugs:
    """Bugs, and what is known of them."""

    async def get(self, id: int = 1) -> dict[str, object]:  # noqa: A002
        """One."""
        created = datetime(2026, 1, 2, tzinfo=UTC)
        return {"id": id, "title": "2.5", "created": created, "price": Decimal("1.10"), "due": "2026-01-02"}

    async def all(self) -> list[dict[str, object]]:
        """All of them."""
        return [await self.get(number) for number in range(3)]

    async def page(self) -> dict[str, object]:
        """Some of them."""
        return {"total": 3, "items": await self.all()}


@pytest.fixture
async def code_mode() -> AsyncGenerator[CodeMode]:
    async with CodeMode([Bugs], types="off") as made:
        yield made


KEYS = "this is a dict with the keys: id, title, created, price, due"
NO_SHELL = "leave out the lines that begin with `%` or `!`: there is no shell here, and nothing can be installed"
VALUE_ITSELF = (
    "end the script with the value itself, which keeps its types; for text write json.dumps(..., default=str)"
)
NO_TEXT = "this is no text: a time that a tool gives may be a datetime already, to be used as it is"
ZONES = "give both a time zone, as tools do: datetime.now(timezone.utc), x.replace(tzinfo=timezone.utc)"
PROGRESS = "progress(done: float, total: float | None = None, text: str | None = None)"
ONE_BY_ONE = (
    "asyncio.gather takes calls one by one, not a list of them, and none that was awaited: "
    "write `await asyncio.gather(*[...])`"
)
SEVERAL = "for several calls write `await asyncio.gather(*[...])`; leave out `await` where these are values already"
VALUES = (
    "in a script that never says `await` a call gives its value: use it as it is; "
    "to let calls overlap, write `await asyncio.gather(...)`"
)
OPENSSL = "it is OpenSSL's, which is not here: hashlib and hmac have the digests, or let a connector do it"
ESCAPED = "`\\n` stands here as two characters, where a line should end: the script was escaped twice"

DECIMAL = 'a Decimal and a float do not mix: write Decimal("{}") (from decimal import Decimal), or float(x)'
A_TIME = "one of them is text: {}.fromisoformat(x) makes a time of it"
A_NUMBER = "one of them is text: float(x) or Decimal(x) makes a number of it, str(x) text of a number"
FAILED = "try:\n    raise ToolError('x', data={'status': 404})\nexcept ToolError as e:\n"
PARTS = "a failed call has message, kind, data, hint, tool and retriable"
ROWS = "`p` is a dict, and a loop over it gives its keys: go through the list in it, p['items']"
KEYS_OF = (
    "`r` is text, '{}'; a loop over a dict gives its keys: where this is one, go through the list in it, "
    "such as found['results'] of a search"
)

HINTS: dict[str, str | None] = {
    # calls
    "await asyncio.gather([bugs.get(), bugs.get()])": ONE_BY_ONE,
    "await asyncio.gather(bugs.get() for n in range(2))": ONE_BY_ONE,
    "await asyncio.gather(await bugs.get(), await bugs.get())": ONE_BY_ONE,
    "x = [bugs.get()]\nasyncio.gather(x)": VALUES,
    "async def go():\n    await asyncio.gather(bugs.get())\n    return {[1]: 2}\nawait go()": None,
    "await asyncio.wait_for(asyncio.sleep(9), 0.01)": "the script's own timeout of 0.01 s passed: wait longer, or ask for less at a time",
    "async with asyncio.timeout(0.01):\n    await asyncio.sleep(9)": "the script's own timeout passed: wait longer, or ask for less at a time",
    "raise TimeoutError": None,
    "def f(): return await bugs.get()\nf()": "write `async def` for a function that awaits, and `await` it where it is called",
    "f = lambda: await bugs.get()\nf()": "a lambda cannot await: write an `async def`, and `await` what it gives",
    "def f():\n    async for x in bugs: pass\nf()": "write `async def` for a function that awaits, and `await` it where it is called",
    "x = [bugs.get()]\nawait x": SEVERAL,
    "x = (bugs.get() for n in range(2))\nawait x": SEVERAL,
    # names
    "count = 0\ndef inc():\n    count += 1\ninc()": "say `global count` first in the function: an assignment makes `count` the function's own",
    "def f():\n    n = 0\n    def g():\n        n += 1\n    g()\nf()": "say `nonlocal n` first in the function: an assignment makes `n` the function's own",
    "def f():\n    bugs = bugs.get()\nf()": "`bugs` is the connector: give what is assigned here another name",
    "def f(x):\n    if x:\n        y = 1\n    return y\nf(0)": "assign `y` on every way that leads here",
    "x = {name: 'a'}": "a key of a dict that is text stands in quotes: {'name': ...}",
    "exec(\"x = {name: 'a'}\")": "a key of a dict that is text stands in quotes: {'name': ...}",
    "totl = 1\ntot1 + 1": "did you mean `totl`? The connectors of this run: bugs",
    # values
    "import json\njson.dumps(await bugs.all())": VALUE_ITSELF,
    "import json\njson.loads(await bugs.get())": "this is a dict already: leave out json.loads",
    "import json\njson.loads(input)": "this is a dict already: leave out json.loads",
    "x = bugs.get()\nx['created'][:10]": "this is a datetime, not text: use its parts, such as .year, or the text, .isoformat()",
    "x = bugs.get()\nx['created'].split('T')": "this is a datetime, not text: x.isoformat().split(...)",
    "x = bugs.get()\nx['price'].split('.')": "this is a Decimal, not text: str(x).split(...)",
    "from datetime import datetime\nx = bugs.get()\ndatetime.fromisoformat(x['created'])": NO_TEXT,
    "from datetime import datetime\nx = bugs.get()\ndatetime.strptime(x['created'], '%Y')": NO_TEXT,
    "from datetime import datetime\nx = bugs.get()\ndatetime.now() - x['created']": ZONES,
    "from datetime import datetime\nx = bugs.get()\ndatetime.now() > x['created']": ZONES,
    "import hashlib\nhashlib.pbkdf2_hmac('sha256', b'a', b'b', 1)": OPENSSL,
    "from hashlib import scrypt": OPENSSL,
    "import signal\nsignal.alarm(1)": "there are no signals here: use asyncio.timeout(...)",
    "x = bugs.get()\nx['price'] * 1.5": DECIMAL.format("1.5"),
    "total = 0.0\nfor x in bugs.all():\n    total += x['price']": DECIMAL.format("1.1"),
    "from datetime import date\nx = bugs.get()\nmin(date.today(), x['due'])": A_TIME.format("date"),
    "from datetime import datetime\nx = bugs.get()\nx['due'] > datetime.now()": A_TIME.format("datetime"),
    "from datetime import timedelta\nx = bugs.get()\nx['due'] + timedelta(1)": A_TIME.format("datetime"),
    "sum(x['title'] for x in bugs.all())": A_NUMBER,
    "x = bugs.get()\nx['title'] * 1.5": A_NUMBER,
    "x = bugs.get()\nround(x['title'], 2)": A_NUMBER,
    "import statistics\nstatistics.mean(x['title'] for x in bugs.all())": A_NUMBER,
    "x = bugs.get()\nf'{x[\"title\"]:.2f}'": "this is text: write float(x) or Decimal(x) before the colon",
    "int('x')": None,
    # what failed
    f"{FAILED}    e.status": f"{PARTS}; here e.data['status']",
    f"{FAILED}    print(e.status_code)": f"{PARTS}; here e.data['status']",
    f"{FAILED}    e.response": PARTS,
    f"{FAILED}    e.mesage": "did you mean `.message`?",
    # what is text, and taken for a dict
    "p = bugs.page()\n[b['id'] for b in p]": ROWS,
    "p = bugs.page()\nfor b in p:\n    b['id']": ROWS,
    "p = bugs.page()\nfor b in p:\n    b.get('id')": ROWS,
    "async def go():\n    p = await bugs.page()\n    return [b['id'] for b in p]\nawait go()": ROWS,
    "for r in search('bugs'):\n    r['path']": KEYS_OF.format("results"),
    "for r in search('bugs'):\n    print(r.get('path'))": KEYS_OF.format("results"),
    "x = '[1]'\nx['a']": "`x` is text: json.loads(x)",
    "x = 'what, is this?'\nx['a']": None,
    # keys
    "for x in await bugs.all():\n    print(x['name'])": KEYS,
    "for x in bugs.all():\n    if x['name'] == 'y':\n        print(1)": KEYS,
    "x = bugs.all()\n[y['name'] for y in x]": KEYS,
    "async def go():\n    x = await bugs.all()\n    return [y['name'] for y in x]\nawait go()": KEYS,
    "x = bugs.all()\nx[0]['name']": KEYS,
    "x = bugs.all()\nx[0]['titel']": "did you mean 'title'?",
    "x = {'a': {'b': 1}}\nx['a']['c']": "this is a dict with the keys: b",
    "x = {'a': 1}\nbugs.get()['name']": None,
    "class D(dict):\n    def __missing__(self, k): return {}[k]\nD()['name']": None,
    # what every script has
    "progress('halfway')": PROGRESS,
    "progress(0.5, message='x')": PROGRESS,
    "await progress(1, 3)": "leave out `await`: this is a value already",
    "describe(progress)": f"{PROGRESS}: Say how far the work is.",
    "artifact()": "artifact(data: bytes | str, *, name: str = 'artifact', mime: str | None = None)",
    "budget()": "`budget.remaining` says what is left, `budget.limits` what there was",
    "x = input()\nx": "`input` is the caller's data, not a function; nobody is there to ask",
    # what does not compile
    "import pandas\n!pip install pandas\nx = 1": NO_SHELL,
    "!pip install pandas\nimport pandas": NO_SHELL,
    "x = 1\n%matplotlib inline": NO_SHELL,
    "x = 1\nif x == 2:\n    y = 1\nelse if x == 3:\n    y = 2\ny": "write `elif` instead of `else if`",
    "print(\u201chello\u201d)": "write plain quotes, \" or ', instead of curly ones",
    "x = 1\\nx + 1": ESCAPED,
    "x = 'a\\n'\\nx": ESCAPED,
    "x = 1\ny = !x": "this is Python, not JavaScript: write `not x` instead of `!x`",
}  # fmt: skip


@pytest.mark.parametrize("script", HINTS)
async def test_a_mistake_has_its_hint(code_mode: CodeMode, script: str) -> None:
    error = (await code_mode.execute(script, input={"a": 1})).error
    assert error is not None
    assert error.hint == HINTS[script]


@pytest.mark.parametrize(
    ("script", "name"), [("input['a']", "input"), ("input.get('a')", "input"), ("x = input\nx['a']", "x")]
)
@pytest.mark.parametrize(
    ("given", "hint"), [('{"a": 1}', "`{}` is text: json.loads({})"), ("a, b", "`input` is text: use it as it is")]
)
async def test_an_input_that_is_text_is_no_dict(
    code_mode: CodeMode, script: str, name: str, given: str, hint: str
) -> None:
    error = (await code_mode.execute(script, input=given)).error
    assert error is not None
    assert error.hint == hint.format(name, name)


@pytest.mark.parametrize(
    ("script", "line"),
    [("import sys\nsys.exit(0)\n1", 2), ("x = 1\nexit()", 2), ("quit(0)", 1), ("raise SystemExit", 1)],
)
async def test_a_script_that_leaves_half_way_has_failed_whatever_its_code(
    code_mode: CodeMode, script: str, line: int
) -> None:
    outcome = await code_mode.execute(script)
    assert outcome.status == "failed"
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.error.line) == ("exception", line)
    assert outcome.error.hint == "a script ends with its last expression or `return`"


async def test_a_cause_that_says_the_same_is_said_once(code_mode: CodeMode) -> None:
    error = (await code_mode.execute("import urllib.request\nurllib.request.urlopen('https://a.example')")).error
    assert error is not None
    assert error.message == "URLError: <urlopen error there is no network here: call a connector>"


@pytest.mark.parametrize("script", ["open('/a')", "o = open\no('/a')"])
async def test_what_is_not_here_is_said_without_the_number_of_another_error(code_mode: CodeMode, script: str) -> None:
    error = (await code_mode.execute(script)).error
    assert error is not None
    assert error.message == (
        "PermissionError: there is no file system here: take data from `input`, keep bytes with artifact(...), or call "
        "a connector: '/a'"
    )


async def test_it_is_a_permission_error_with_its_parts(code_mode: CodeMode) -> None:
    script = (
        "import errno\ntry:\n    open('/a')\nexcept OSError as e:\n    r = [e.errno == errno.EACCES, e.filename]\n"
        "try:\n    open(1)\nexcept PermissionError as e:\n    r.append(str(e)[:29])\nr"
    )
    assert (await code_mode.execute(script)).value == [True, "/a", "there is no file system here:"]
