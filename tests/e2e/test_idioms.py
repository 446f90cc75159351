"""What models write without thinking, unchanged; and the first things that one tries in a new sandbox."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from isolith import CodeMode

pytestmark = pytest.mark.anyio

IDIOMS: dict[str, object] = {
    "import json, datetime\njson.dumps({'d': datetime.date(2026, 1, 2)}, default=str, indent=2, sort_keys=True)": '{\n  "d": "2026-01-02"\n}',
    "import json\njson.dumps({'ü': 1}, ensure_ascii=False)": '{"ü": 1}',
    "import json\njson.loads('[1, {\"a\": null}]')": [1, {"a": None}],
    "from datetime import datetime, timezone\nlen(datetime.now(timezone.utc).isoformat()) > 20": True,
    "from datetime import datetime\ndatetime.fromisoformat('2026-01-02T03:04:05Z').strftime('%d.%m.%Y')": "02.01.2026",
    "from datetime import date, timedelta\n(date(2026, 3, 1) - timedelta(days=1)).isoformat()": "2026-02-28",
    "from zoneinfo import ZoneInfo\nfrom datetime import datetime\n"
    "datetime(2026, 7, 1, 12, tzinfo=ZoneInfo('Europe/Berlin')).isoformat()": "2026-07-01T12:00:00+02:00",
    "import re\nre.sub(r'\\d', lambda m: str(int(m[0]) + 1), 'a1b2')": "a2b3",
    "import re\n[m.group('k') for m in re.finditer(r'(?P<k>\\w)=', 'a=1,b=2')]": ["a", "b"],
    "from collections import OrderedDict\nOrderedDict([('b', 1), ('a', 2)])": {"b": 1, "a": 2},
    "from collections import Counter\nCounter('banana').most_common(1)": [("a", 3)],
    "from collections import defaultdict\nd = defaultdict(list)\nd['x'].append(1)\ndict(d)": {"x": [1]},
    "from enum import Enum\nclass Color(Enum):\n    RED = 'red'\n[Color.RED.value, Color('red').name, Color.RED]": ["red", "RED", "red"],
    "from dataclasses import dataclass, asdict, field\n@dataclass\nclass P:\n    x: int\n    tags: list = field(default_factory=list)\n"
    "[asdict(P(1)), P(2), P(1) == P(1), repr(P(1))]": [{"x": 1, "tags": []}, {"x": 2, "tags": []}, True, "P(x=1, tags=[])"],
    "class T:\n    def __init__(self, c):\n        self._c = c\n    @property\n    def f(self):\n        return self._c * 9 / 5 + 32\nT(100).f": 212.0,
    "def evens():\n    n = 0\n    while True:\n        yield n\n        n += 2\nfrom itertools import islice\nlist(islice(evens(), 3))": [0, 2, 4],
    "import textwrap\ntextwrap.dedent('''\n    a\n      b\n''').strip()": "a\n  b",
    "import statistics\n[statistics.mean([1, 2, 3]), statistics.median([1, 3]), round(statistics.stdev([1, 2, 3]), 3)]": [2, 2.0, 1.0],
    "from decimal import Decimal, ROUND_HALF_UP\nstr(Decimal('2.675').quantize(Decimal('0.01'), ROUND_HALF_UP))": "2.68",
    "from itertools import groupby\n{k: [v for _, v in g] for k, g in groupby([('a', 1), ('a', 2), ('b', 3)], key=lambda p: p[0])}": {"a": [1, 2], "b": [3]},
    "from functools import reduce, lru_cache, partial\n@lru_cache(None)\ndef fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\n"
    "[fib(30), reduce(lambda a, b: a * b, [1, 2, 3]), partial(pow, 2)(3)]": [832040, 6, 8],
    "import csv, io\nlist(csv.DictReader(io.StringIO('a,b\\n1,2\\n')))": [{"a": "1", "b": "2"}],
    "import io, csv\nout = io.StringIO()\ncsv.writer(out).writerow(['x', 1])\nout.getvalue()": "x,1\r\n",
    "import math\n[math.isclose(0.1 + 0.2, 0.3), math.ceil(1.2), math.comb(5, 2)]": [True, 2, 10],
    "import hashlib, base64\n[hashlib.sha256(b'a').hexdigest()[:8], base64.b64encode(b'a').decode()]": ["ca978112", "YQ=="],
    "from urllib.parse import urlparse, urlencode, quote\n[urlparse('https://a.b/c?d=1').netloc, urlencode({'q': 'a b'}), quote('ü')]": ["a.b", "q=a+b", "%C3%BC"],
    "from pathlib import PurePosixPath, Path\n[PurePosixPath('/a/b.txt').suffix, str(Path('a') / 'b'), Path('x.tar.gz').stem]": [".txt", "a/b", "x.tar"],
    "import os\n[os.path.join('a', 'b'), os.path.splitext('x.py')[1]]": ["a/b", ".py"],
    "import typing\nfrom typing import Any, Optional, TypedDict\nclass Row(TypedDict):\n    id: int\nrow: Row = {'id': 1}\nrow": {"id": 1},
    "import heapq, bisect\n[heapq.nlargest(2, [3, 1, 2]), bisect.bisect([1, 2], 1)]": [[3, 2], 1],
    "import string, random\nlen(''.join(random.choices(string.ascii_letters, k=8)))": 8,
    "import difflib\ndifflib.get_close_matches('appel', ['ape', 'apple'])": ["apple", "ape"],
    "import sqlite3\ndb = sqlite3.connect(':memory:')\ndb.execute('create table t(n)')\n"
    "db.executemany('insert into t values (?)', [(1,), (2,)])\ndb.execute('select sum(n) from t').fetchone()[0]": 3,
    "import xml.etree.ElementTree as ET\nET.fromstring('<a><b x=\"1\"/></a>').find('b').attrib": {"x": "1"},
    "from html import escape, unescape\n[escape('<a>'), unescape('&amp;')]": ["&lt;a&gt;", "&"],
    "import copy\na = [[1]]\nb = copy.deepcopy(a)\nb[0].append(2)\n[a, b]": [[[1]], [[1, 2]]],
    "import logging\nlogging.basicConfig(level=logging.INFO)\nlogging.getLogger(__name__).info('hi')\n1": 1,
    "import sys\n[sys.version_info[:2], sys.platform]": [(3, 14), "emscripten"],
    "from contextlib import contextmanager\n@contextmanager\ndef c():\n    yield 5\nwith c() as x:\n    pass\nx": 5,
    "x = 5\nassert x == 5, 'no'\nf'{x=} {x:>4} {x!r} {3.14159:.2f} {1234567:,}'": "x=5    5 5 3.14 1,234,567",
    "a, *b, c = range(5)\n[a, b, c]": [0, [1, 2, 3], 4],
    "(lambda **k: k)(a=1) | {'b': 2}": {"a": 1, "b": 2},
    "match {'type': 'x', 'n': 1}:\n    case {'type': 'x', 'n': n}:\n        r = n\nr": 1,
    "sorted([{'n': 2}, {'n': 1}], key=lambda r: (-r['n']))": [{"n": 2}, {"n": 1}],
    "try:\n    int('x')\nexcept ValueError as e:\n    r = str(e)\nr": "invalid literal for int() with base 10: 'x'",
    "import asyncio\nsem = asyncio.Semaphore(2)\nasync def one(n):\n    async with sem:\n        return (await crm.get(id=n))['id']\n"
    "await asyncio.gather(*(one(n) for n in range(5)))": [0, 1, 2, 3, 4],
    "import asyncio\nasync def pages():\n    for n in range(3):\n        yield await crm.get(id=n)\n[p['id'] async for p in pages()]": [0, 1, 2],
    "import asyncio\nqueue = asyncio.Queue()\nasync def work():\n    while True:\n        n = await queue.get()\n        done.append(n)\n        queue.task_done()\n"
    "done = []\nworker = asyncio.create_task(work())\nfor n in range(3):\n    queue.put_nowait(n)\nawait queue.join()\nworker.cancel()\ndone": [0, 1, 2],
    "import time\nstart = time.perf_counter()\nr = [crm.get(id=n)['id'] for n in range(3)]\nelapsed = time.perf_counter() - start\n[r, elapsed < 30]": [[0, 1, 2], True],
    "results = {}\nfor contact in crm.list_contacts(limit=2):\n    results[contact['name']] = crm.get(id=contact['id'])\nresults": {"name 0": {"id": 0}, "name 1": {"id": 1}},
    "last = None\nfor attempt in range(3):\n    try:\n        last = crm.get(id=attempt)\n        break\n    except Exception as e:\n        print(f'attempt {attempt} failed: {e}')\nlast": {"id": 0},
    "from __future__ import annotations\nfrom typing import List\ndef f(x: List[int]) -> int:\n    return sum(x)\nf([1, 2])": 3,
    "from __future__ import annotations\nfrom dataclasses import dataclass, InitVar\nfrom typing import ClassVar, get_type_hints\n@dataclass\nclass N:\n    v: int\n"
    "    add: InitVar[int] = 0\n    most: ClassVar[int] = 3\n    def __post_init__(self, add):\n        self.v += add\n[N(1, add=4), sorted(get_type_hints(N))]": [{"v": 5}, ["add", "most", "v"]],
    "import sys, __main__\nlimit = 5\n[getattr(sys.modules[__name__], 'limit'), __main__.limit, __name__]": [5, 5, "__main__"],
    "import pickle\nclass P:\n    x = 1\npickle.loads(pickle.dumps([P()]))[0].x": 1,
    "import doctest\ndef double(x):\n    '''\n    >>> double(2)\n    4\n    '''\n    return x * 2\ndoctest.testmod()": (0, 1),
    "import unittest\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(1, 1)\nunittest.main(exit=False).result.testsRun": 1,
    "import asyncio\nasync def main():\n    return (await crm.get(id=2))['id']\nwith asyncio.Runner() as runner:\n    got = runner.run(main())\ngot": 2,
    "import unittest\nclass T(unittest.IsolatedAsyncioTestCase):\n    async def test_it(self):\n        self.assertEqual((await crm.get(id=2))['id'], 2)\n"
    "found = unittest.defaultTestLoader.loadTestsFromTestCase(T)\nr = unittest.TextTestRunner().run(found)\n[r.testsRun, r.wasSuccessful()]": [1, True],
    "#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\n'''Docstring.'''\n1": 1,
}  # fmt: skip


@pytest.mark.parametrize("script", IDIOMS)
async def test_a_reflex_runs_unchanged(code_mode: CodeMode, script: str) -> None:
    outcome = await code_mode.execute(script)
    assert (outcome.error, outcome.value) == (None, IDIOMS[script])
    assert outcome.warnings == ()


@pytest.mark.parametrize(
    ("script", "kind", "said"),
    [
        ("open('/etc/passwd').read()", "exception", "there is no file system here: take data from `input`"),
        ("import os\nos.listdir('.')", "exception", "there is no file system here"),
        ("import os\nos.environ['HOME']", "exception", "there is no environment here: take settings from `input`"),
        ("import os\nos.getenv('API_KEY')", "exception", "there is no environment here"),
        ("import requests\nrequests.get('https://example.org')", "exception", "there is no network here: call a connector"),
        ("import urllib.request\nurllib.request.urlopen('https://example.org')", "exception", "there is no network here"),
        ("import subprocess\nsubprocess.run(['ls'])", "exception", "there are no processes here: call a connector"),
        ("import threading\nthreading.Thread(target=print).start()", "exception", "there are no threads here: use asyncio.gather"),
        ("import pandas as pd", "exception", "pandas is not available: use csv, json, collections and statistics"),
        ("from pathlib import Path\nPath('out.txt').write_text('x', encoding='utf-8')", "exception", "there is no file system here"),
        ("help(crm)", "exception", "use describe(...)"),
        ("json.dumps({})", "exception", "write `import json` first"),
        ("crm.list_contcts()", "unknown_tool", "did you mean crm.list_contacts"),
        ("emial.send(to='a')", "exception", "the connectors of this run: crm, echo"),
        ("console.log(1)", "exception", "this is Python: use print(...)"),
        ("crm.get(id=1).id", "exception", "this is a dict: write ['id']"),
        ("crm.list_contacts().length", "exception", "this is Python: len(x)"),
        ("crm.get(id=1)['ids']", "exception", "KeyError: 'ids'"),
        ("asyncio.gather(crm.get(id=1), crm.get(id=2))", "exception", "to let calls overlap, write `await asyncio.gather(...)`"),
        ("await asyncio.sleep(0)\nx = 1\nawait x", "exception", "leave out `await`: this is a value already"),
        ("x = true", "exception", "this is Python: use True"),
        ("row = {'name': 1}\nrow['nmae']", "exception", "did you mean 'name'?"),
        ("import sys\nsys.exit(1)", "exception", "a script ends with its last expression or `return`"),
        ("quit('no')", "exception", "a script ends with its last expression or `return`"),
        ("!pip install requests", "not_a_script", "shell"),
    ],
)  # fmt: skip
async def test_what_does_not_work_says_what_does(code_mode: CodeMode, script: str, kind: str, said: str) -> None:
    outcome = await code_mode.execute(script)
    assert outcome.error is not None
    assert outcome.error.kind == kind
    assert said in f"{outcome.error.message} {outcome.error.hint}"


async def test_a_key_that_no_dict_of_the_script_has_gets_no_name_of_another(code_mode: CodeMode) -> None:
    outcome = await code_mode.execute("other = {'title': 1}\nrow = {'name': 1}\nrow['titel']")
    assert outcome.error is not None
    hint = "this is a dict with the keys: name"
    assert (outcome.error.message, outcome.error.hint) == ("KeyError: 'titel'", hint)


async def test_a_logged_time_is_aware(code_mode: CodeMode) -> None:
    outcome = await code_mode.execute("print(1)\n2")
    assert isinstance(outcome.logs[0].at, datetime)
    assert outcome.logs[0].at.tzinfo is not None
