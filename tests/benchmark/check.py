"""What the check costs: a script of a hundred lines against a thousand tools. Prints numbers; asserts nothing.

CPU time, so that what else the machine does is left out. Of a type checker, where one is installed, the CPU time of its
process and of writing the stubs, for a script that is new and for one that was checked before.

python tests/benchmark/check.py
"""

from __future__ import annotations

import resource
import statistics
import time
from typing import TYPE_CHECKING

from isolith.run.type_checker import type_checker, types_of
from isolith_bindings.check import check
from isolith_bindings.connector import JsonSchema, Method
from isolith_bindings.testing import RecordingConnector

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isolith.run.type_checker import TypeChecker

_RUNS = 30
_VERBS = "list get create update delete search archive assign merge export".split()  # noqa: SIM905
_NOUNS = "issue pull branch release milestone label comment review commit team".split()  # noqa: SIM905
_PLACES = "repo user org project gist team package runner cache secret".split()  # noqa: SIM905
_PARAMETERS: JsonSchema = {
    "type": "object",
    "properties": {
        "owner": {"type": "string"},
        "repo": {"type": "string", "minLength": 1},
        "state": {"enum": ["open", "closed", "all"]},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100},
        "labels": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["owner", "repo"],
    "additionalProperties": False,
}
_ISSUE: JsonSchema = {"type": "object", "properties": {"number": {"type": "integer"}, "title": {"type": "string"}}}
_RETURNS: JsonSchema = {"type": "array", "items": _ISSUE}


def thousand(connectors: int) -> dict[str, RecordingConnector]:
    """A thousand methods, spread over so many connectors."""
    names = [f"{verb}_{noun}_{place}" for verb in _VERBS for noun in _NOUNS for place in _PLACES]
    made: dict[str, RecordingConnector] = {}
    for number in range(connectors):
        connector = RecordingConnector(f"hub{number}" if number else "hub", {})
        connector.methods = {
            name: Method(name, name.replace("_", "/"), "", _PARAMETERS, _RETURNS, f"async def {name}(*, owner: str)")
            for name in names[number::connectors]
        }
        made[connector.name] = connector
    return made


def script(misspelt: int) -> str:
    """A hundred lines, of which ten call a tool, some by a name that is not there."""
    lines = ["import json", "rows = []", "async def main():"]
    for number in range(10):
        name = f"list_isue_repo{number}" if number < misspelt else f"list_{_NOUNS[number]}_repo"
        lines += [
            f"    found = await hub.{name}(",
            "        owner='isolith', repo='house', state='open', limit=50, labels=['bug'],",
            "    )",
            "    for one in found:",
            "        if one['number'] > 10 and one['title'].startswith('a'):",
            "            rows.append({'title': one['title'].upper(), 'n': one['number'] * 2})",
            f"    print(f'{{len(found)}} of {number}', json.dumps(rows[-1:]))",
            "    total = sum(row['n'] for row in rows)",
            "    assert total >= 0, 'negative'",
        ]
    return "\n".join([*lines, "    return total", "await main()"]) + "\n" * 5


def measure(connectors: int, misspelt: int) -> str:
    """One case, in words."""
    tools = thousand(connectors)
    text = script(misspelt)
    found = len(check(text, tools).findings)
    took: list[float] = []
    for _ in range(_RUNS):
        begun = time.process_time()
        check(text, tools)
        took.append((time.process_time() - begun) * 1e3)
    lines = text.count("\n") + 1
    return (
        f"{lines} lines, 1,000 tools in {connectors} connector(s), {found} finding(s): "
        f"median {statistics.median(took):.1f} ms, worst {max(took):.1f} ms"
    )


def measure_types(connectors: int) -> str:
    """What `ty` costs beside a run, in words."""
    checker = type_checker("auto")
    if checker is None or not checker.fast:
        return "ty is not installed: isolith[check]"
    tools, text = thousand(connectors), script(0)
    new = [_of_types(f"{text}# {number}", tools, checker) for number in range(_RUNS)]
    again = [_of_types(text, tools, checker) for _ in range(_RUNS)][1:]
    return (
        f"ty beside it, 1,000 tools in {connectors} connector(s): a new script median {statistics.median(new):.0f} ms, "
        f"at best {min(new):.0f} ms; one that was checked before {statistics.median(again):.0f} ms"
    )


def _of_types(text: str, tools: Mapping[str, RecordingConnector], checker: TypeChecker) -> float:
    """Milliseconds of CPU, of this process and of the one it starts."""
    begun, before = time.process_time(), resource.getrusage(resource.RUSAGE_CHILDREN)
    types_of(text, tools, checker, synchronous=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (time.process_time() - begun + spent) * 1e3


def main() -> None:
    """Print the median and the worst of each case."""
    for connectors in (1, 20):
        for misspelt in (0, 1, 10):
            print(measure(connectors, misspelt))
        print(measure_types(connectors))


if __name__ == "__main__":
    main()
