"""The caller's `input`: read, copied, never written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from isolith_runtime.testing import Scripts

GIVEN = {"items": [1, {"a": 2}], "pair": (1, [2]), "s": {3}}
READ_ONLY = [
    "input['x'] = 1",
    "del input['items']",
    "input.update(a=1)",
    "input.setdefault('z', 1)",
    "input.pop('items')",
    "input.clear()",
    "input |= {'a': 1}",
    "input['items'].append(1)",
    "input['items'][1]['a'] = 3",
    "input['items'] += [1]",
    "input['items'].sort()",
    "input['pair'][1][0] = 1",
]


@pytest.mark.parametrize("source", READ_ONLY)
def test_input_cannot_be_written(scripts: Scripts, source: str) -> None:
    failure = scripts.run(source, given=GIVEN).failure
    assert failure.message == "TypeError: `input` is read-only: work on a copy, such as dict(input) or list(input)"


COPIES: list[tuple[str, object]] = [
    ("input", GIVEN),
    ("d = dict(input)\nd['x'] = 1\nlen(d), len(input)", (4, 3)),
    ("d = input.copy()\nd['x'] = 1\nlen(d)", 4),
    ("import copy\nd = copy.copy(input)\nd['x'] = 1\nlen(d)", 4),
    ("import copy\nd = copy.deepcopy(input)\nd['items'][1]['a'] = 5\nd['items'], input['items']", ([1, {"a": 5}], [1, {"a": 2}])),
    ("import pickle\npickle.loads(pickle.dumps(input)) == input", True),
    ("import json\njson.dumps(input['items'])", '[1, {"a": 2}]'),
    ("input | {'x': 1} == {**input, 'x': 1}", True),
    ("input['items'] + [3]", [1, {"a": 2}, 3]),
    ("sorted(input), isinstance(input, dict), input == dict(input)", (["items", "pair", "s"], True, True)),
    ("x = list(input['items'])\nx.append(9)\nx", [1, {"a": 2}, 9]),
]  # fmt: skip


@pytest.mark.parametrize(("source", "value"), COPIES)
def test_copies_of_input_can(scripts: Scripts, source: str, value: object) -> None:
    assert scripts.run(source, given=GIVEN).value == value
