"""What is not Python is told; what is broken Python is left to Python's own words."""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
import textwrap

import pytest

from isolith.run.foreign import (
    LONGEST_LINE,
    SAMPLE,
    Language,
    classify,
    foreign_though_valid,
    json_instead,
    not_a_script,
    sample,
)
from isolith_bindings.json_text import MAX_DEPTH

BROKEN_PYTHON = [
    "print 'hello'",
    'print "hello world"',
    "print hello world",
    "for x in range(3)\n    print(x)",
    "if x = 3:\n    pass",
    "if x == 3\n    y = 4",
    "def f(x)\n    return x",
    "def f(x):\nreturn x",
    "x = [1, 2, 3",
    "x = {'a': 1, 'b': 2",
    "x = (1 + 2",
    "result = await crm.list(limit=3",
    "x = 'unterminated",
    'x = """never\nclosed',
    "rows = db.query('SELECT * FROM contacts WHERE id = 3'",
    'rows = db.query("""\nSELECT id, name\nFROM contacts\nWHERE id = 3\n"""',
    "page = '<html><body>' + name + '</body>",
    'script = "const x = 1; console.log(x)"\nprint(script',
    "command = 'curl -s https://example.com | jq .'\nshell.run(command",
    "  x = 1\n    y = 2",
    "x = 1\n  y = 2",
    "x == 1 y == 2",
    "class Foo\n    pass",
    "class Foo:\npass",
    "try:\n    x = 1\nx = 2",
    "while True\n    x += 1",
    "import os sys",
    "from math import",
    "import crm from tools",
    "lambda x: return x",
    "x = 1;\ny = 2;\nprint(x;",
    "if a === b:\n    print(a)",
    "if a && b:\n    print(a)",
    "if !a:\n    print(a)",
    "x++\nprint(x)",
    "x = null\nif x === null:\n    print(x",
    "total = sum(x for x in rows if x.amount => 3",
    "if (total => 3):\n    print(total)",
    "rows = sorted(rows, key=lambda r => r.name)",
    "return x y",
    "x = 5 if y",
    "else:\n    x = 1",
    "async def main()\n    await crm.list()\nmain()",
    "await await crm.list(",
    "with open('x') as f\n    print(f.read())",
    "raise ValueError 'bad'",
    "assert x is not None and y is",
    "If x is None and y is True:\n    print(x)",
    "For contact in contacts:\n    print(contact)",
    "Import json\nprint(json.dumps(1))",
    "x is not in the list",
    "not a and b or",
    "global x y",
    "del x y",
    "f'{x'\nprint(f'{y}')",
    "x = f'{a b}'",
    "d = {\n  'a': 1\n  'b': 2\n}",
    '{\n  "a": 1\n  "b": 2\n}',
    '{"name": name, "ok": True,, "n": 1}',
    "[x for x in range(3) if]",
    "x = [\n    1,\n    2\n    3\n]",
    "@cached\nx = 1",
    "def f(a, a=1, *, **k):\n    pass",
    "f(a=1, 2)\nprint(3)",
    "x = 1 +\ny = 2",
    "match x\n    case 1:\n        pass",
    "match x:\n    case 1\n        pass",
    "sort = sorted(rows\nhead = sort[:3]\ntail = sort[-3:]",
    "find = next(x for x in rows if x.id == 3\nfind",
    "ls = [1, 2, 3\nls",
    "cat = animals['cat'\nprint(cat)",
    "echo = lambda x: x\necho(1",
    "test = {'$x': 1, '${y}': 2\ntest",
    "price = '$5'\nprint(price",
    "let = 5\nvar = 6\nconst = let + var +",
    "function = crm.list\nfunction(1, 2",
    "select = rows[0]\nupdate = rows[1\nselect",
    "# const x = 1\n# let y = 2\nprint(x",
    "# This script lists the contacts of a person.\n# It then counts them.\nprint(len(rows)",
    "'''This script lists the contacts\nand counts them by city.'''\nfor row in rows\n    print(row)",
    "text = '''\n#!/bin/bash\necho hi\n'''\nprint(text",
    "x = 1\nThis is what we do next\nprint(x)",
    "data = {'ok': true, 'n': null\nprint(data)",
    "data = json.loads('{\"ok\": true}'\ndata",
    "a, b = 1, 2\na <> b",
    "exec 'x = 1'",
    "print(`x`)",
    "x = 0777\nprint(x)",
    "try:\n    f()\nexcept ValueError, e:\n    print e",
    "contacts = crm.list_contacts()\nfor c in contacts {\n    print(c)\n}",
]

FOREIGN: list[tuple[Language, str]] = [
    ("JavaScript", "const x = await crm.list();"),
    ("JavaScript", "const x = await crm.list()\nx"),
    ("JavaScript", "const x = await crm.list()\nprint(x)"),
    ("JavaScript", "let total = 0;\nfor (const c of contacts) {\n  total += c.amount;\n}\ntotal"),
    ("JavaScript", "const { contacts, next } = await crm.list({ limit: 3 });\nreturn contacts.map(c => c.name);"),
    ("JavaScript", "async function main() {\n  return await crm.list();\n}\nmain();"),
    ("JavaScript", "console.log('hello')"),
    ("JavaScript", "items.map(x => x.id)"),
    ("JavaScript", "import fs from 'fs';\nfs.readFileSync('x');"),
    ("JavaScript", "export default async () => {\n  return 1;\n};"),
    ("JavaScript", "var x;\nif (x === undefined) {\n  x = 1;\n} else {\n  x = 2;\n}"),
    ("JavaScript", "interface Contact {\n  name: string;\n  age?: number;\n}\nconst c: Contact = load();"),
    ("JavaScript", "// list the contacts\nconst rows = await crm.list();\n\n/* count */\nrows.length"),
    ("JavaScript", "Promise.all(ids.map(async (id) => {\n  return await crm.get(id);\n}))"),
    ("JavaScript", "try {\n  await crm.list();\n} catch (e) {\n  console.error(e);\n}"),
    ("shell", "#!/bin/bash\nset -e\nls"),
    ("shell", "$ ls -la"),
    ("a transcript", ">>> 1 + 1\n2"),
    ("a transcript", ">>> for x in range(2):\n...     print(x)\n0\n1"),
    ("a transcript", "In [1]: 1 + 1\nOut[1]: 2"),
    ("IPython", "%timeit sum(range(10))"),
    ("IPython", "%%time\nx = 1"),
    ("IPython", "%matplotlib inline\nimport math\nmath.pi"),
    ("shell", "curl -s https://example.com/contacts | jq '.[] | .name'"),
    ("shell", "pip install requests"),
    ("shell", "cd /tmp && ls -la"),
    ("shell", 'export TOKEN=abc\ncurl -H "Authorization: $TOKEN" https://example.com'),
    ("shell", "for i in 1 2 3; do\n  echo $i\ndone"),
    ("shell", "git clone https://example.com/x.git\ncd x\nmake test"),
    ("shell", "find . -name '*.py' | xargs grep foo"),
    ("shell", "cat <<EOF > x.txt\nhello\nEOF"),
    ("shell", "python3 script.py --verbose 2>&1"),
    ("shell", 'echo "hello $NAME"'),
    ("shell", "docker run --rm -it ubuntu bash"),
    ("JSON", '{"ok": true, "items": [1, 2, null]}'),
    ("JSON", '{"code": "x = 1\\nx"}'),
    ("JSON", '{\n  "ok": true,\n  "items": [1, 2,],\n}'),
    ("JSON", '{"a": 1}\n{"a": 2}\n{"a": null}'),
    ("JSON", '[{"name": "Ann", "active": false}]'),
    ("HTML", "<!DOCTYPE html>\n<html><body>hi</body></html>"),
    ("HTML", "<div class='x'>\n  <p>hi</p>\n</div>"),
    ("HTML", '<?xml version="1.0"?>\n<a/>'),
    ("HTML", "<code>\nx = 1\nx\n</code>"),
    ("SQL", "SELECT name, age FROM contacts WHERE age > 3"),
    ("SQL", "select count(*)\nfrom contacts\ngroup by city;"),
    ("SQL", "-- all of them\nSELECT *\nFROM contacts;"),
    ("SQL", "INSERT INTO contacts (name) VALUES ('Ann');"),
    ("SQL", "UPDATE contacts SET name = 'Ann' WHERE id = 3;"),
    ("SQL", "WITH recent AS (SELECT * FROM contacts) SELECT count(*) FROM recent"),
    ("SQL", "create table t (id int primary key);"),
    ("prose", "I cannot do that without a connector for your calendar."),
    ("prose", "Here is the list of contacts you asked for:\n\n- Ann Smith\n- Bob Jones and his sister\n\nLet me know!"),
    ("prose", "To do this, I'll first list the contacts.\n\n1. Call crm.list()\n2. Count them by the city"),
    ("prose", "Please list all contacts in Berlin"),
    ("prose", "Sorry, I need more information."),
    ("prose", "## Plan\n\nFirst we list the contacts, and then we count them by city.\n"),
    ("prose", "Ich kann das leider nicht für dich ausführen."),
    ("prose", "Je ne peux pas faire cela sans votre accord."),
    ("prose", "请列出所有联系人。"),
    ("prose", "Don't worry, it's done; the contacts can't be lost."),
]


@pytest.mark.parametrize("text", BROKEN_PYTHON)
def test_broken_python_is_left_alone(text: str) -> None:
    assert classify(text) is None
    assert not_a_script(text) is None


@pytest.mark.parametrize(("language", "text"), FOREIGN)
def test_another_language_is_named(language: Language, text: str) -> None:
    assert classify(text) == language
    diagnostic = not_a_script(text)
    assert diagnostic is not None
    assert (diagnostic.kind, diagnostic.message) == ("not_a_script", f"this is {language}, not Python")
    assert diagnostic.source_line in text.split("\n")
    assert diagnostic.line == text.split("\n").index(diagnostic.source_line or "") + 1


def test_the_corpora_are_as_large_as_they_should_be() -> None:
    assert len(BROKEN_PYTHON) >= 30
    assert len(FOREIGN) >= 30


@pytest.mark.parametrize("module", [ast, asyncio.tasks, inspect, json.decoder, textwrap])
def test_pieces_of_the_standard_library_are_python(module: object) -> None:
    assert inspect.ismodule(module)
    lines = inspect.getsource(module).split("\n")
    code = [line for line in lines if line.strip()]
    for start in range(0, len(code) - 12, 7):
        piece = "\n".join(code[start : start + 12]) + "\n)"
        # A piece that begins inside a docstring reads as prose, and is.
        assert classify(piece) in {None, "prose"}, piece


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (
            "// first\nconst rows = await crm.list(3);",
            "Isolith runs Python: write `rows = await crm.list(3)` instead of `const rows = await crm.list(3);`",
        ),
        (
            "const f = (x) => x + 1;",
            "Isolith runs Python: write `x = await crm.list()` instead of `const x = await crm.list();`",
        ),
        ("let n: number = 3;", "Isolith runs Python: write `n = 3` instead of `let n: number = 3;`"),
        ("ls -la", "there is no shell: write Python, and call the connectors for what lies outside"),
    ],
)
def test_the_hint_says_what_to_write_instead(text: str, hint: str) -> None:
    diagnostic = not_a_script(text)
    assert diagnostic is not None
    assert diagnostic.hint == hint


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ('{"code": "1 + 1"}', "send the text of `code` itself as the script"),
        ('{"code": "x = 1\nx", "input": null}', "send the text of `code` itself as the script"),
        ('{"name": "execute", "arguments": {"code": "1"}}', "send the text of `arguments.code` itself as the script"),
        ('{"tool": "crm.list", "args": {}}', "send the text of `args` itself as the script"),
        ('[{"a": true}]', "Isolith runs Python: hand data over as `input`, and send the script that works on it"),
        ("null", "Isolith runs Python: hand data over as `input`, and send the script that works on it"),
    ],
)
def test_json_that_cannot_be_meant_as_python(text: str, hint: str) -> None:
    diagnostic = json_instead(text)
    assert diagnostic is not None
    assert (diagnostic.kind, diagnostic.message, diagnostic.hint) == ("not_a_script", "this is JSON, not Python", hint)


@pytest.mark.parametrize("inner", ['{"name":"x","arguments":', '{"a":', "["])
def test_json_is_looked_at_as_deep_on_every_python(inner: str) -> None:
    """From Python 3.12 on `json` reads thousands of levels, where its own functions still end at a thousand."""
    ends = "]" if inner == "[" else "}"
    told = {
        depth: json_instead(inner * depth + "null" + ends * depth)
        for depth in (MAX_DEPTH, MAX_DEPTH + 1, 3_000, 60_000)
    }
    assert [depth for depth, diagnostic in told.items() if diagnostic is not None] == [MAX_DEPTH]


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[1, 2, 3]",
        '{"a": 1}',
        '{"a": "true, false or null"}',
        '{"code": code}',
        "{'code': '1'}",
        "true = 1",
        '"true"',
        '{"name": "Ann", "city": "Rome"}',
        '{"code": 200, "name": "x"}',
        '{"type": "x", "source": "y", "target": "z"}',
        "[" * 100_000,
        "1" * 100_000,
    ],
)
def test_json_that_is_python_runs(text: str) -> None:
    assert json_instead(text) is None


@pytest.mark.parametrize(
    "text", ["ls", "ls -la", "ls -la /tmp", "ls /tmp", "pwd\n", "  rm -rf --force build", "git --version"]
)
def test_a_command_that_python_could_read_is_shell(text: str) -> None:
    diagnostic = foreign_though_valid(text)
    assert diagnostic is not None
    assert (diagnostic.kind, diagnostic.message) == ("not_a_script", "this is shell, not Python")


@pytest.mark.parametrize(
    "text",
    [
        "ls = 1\nls -la",
        "node",
        "git - x",
        "date -x",
        "cat.list()",
        "ls" + 400 * "\n" + "5",
        "echo-x",
        "python -1",
        "uv",
    ],
)
def test_what_looks_like_a_command_and_may_be_python_runs(text: str) -> None:
    assert foreign_though_valid(text) is None


@pytest.mark.parametrize(
    "piece", ["(", '"', "'", "\\", "`", "x ", "=>", "const ", "[{", '"""', "  ", "$(", "a => ", "<a ", ";}\n", "\n"]
)
def test_a_hostile_text_is_looked_at_only_at_its_beginning(piece: str) -> None:
    hostile = (piece * 262_144)[:262_144]
    lines = [line for _, line in sample(hostile)]
    assert sum(map(len, lines)) <= SAMPLE
    assert max(map(len, lines), default=0) <= LONGEST_LINE
    assert classify(hostile) == classify(hostile[:SAMPLE])
