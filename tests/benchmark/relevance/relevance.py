"""How often the right tool is found first, or among the first five: `python -m tests.benchmark.relevance.relevance`.

`--half tuning` prints one half only, `--misses` what was not found. The held-out half is for the last look.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.benchmark.relevance.corpus import Query, connectors, queries
from tests.benchmark.relevance.rivals import Tool, cloudflare, opencode

from isolith_bindings.search import SearchIndex

Search = Callable[[str], Sequence[str]]


@dataclass(frozen=True)
class Recall:
    """Shares of the queries whose first result, or one of the first five, is right."""

    at_1: float
    at_5: float


def recall(found: Sequence[Sequence[str]], asked: Sequence[Query]) -> Recall:
    """Of what was found for each query."""

    def share(first: int) -> float:
        hits = sum(bool(query.right & set(paths[:first])) for paths, query in zip(found, asked, strict=True))
        return hits / len(asked)

    return Recall(share(1), share(5))


def searches() -> dict[str, Search]:
    """Ours and theirs, over all catalogues."""
    listed = connectors()
    tools = [
        Tool(f"{connector.name}.{name}", connector.name, method)
        for connector in listed
        for name, method in connector.methods.items()
    ]
    index = SearchIndex()
    return {
        "isolith": lambda query: [hit.result.path for hit in index.find(query, listed)],
        "opencode": lambda query: opencode(query, tools),
        "cloudflare": lambda query: cloudflare(query, tools),
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=["tuning", "held_out"])
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--only", choices=["isolith"])
    given = parser.parse_args()
    for half in [given.half] if given.half else ["tuning", "held_out"]:
        asked = queries(half)
        for name, search in searches().items():
            if given.only in {None, name}:
                search("")
                begun = time.perf_counter()
                found = [search(query.text) for query in asked]
                spent = (time.perf_counter() - begun) / len(asked) * 1000
                seen = recall(found, asked)
                print(
                    f"{half:9} {len(asked):4} queries  {name:11} @1 {seen.at_1:.3f}  @5 {seen.at_5:.3f}  {spent:.1f} ms"
                )
                if given.misses and name == "isolith":
                    _print_misses(found, asked)


def _print_misses(found: Sequence[Sequence[str]], asked: Sequence[Query]) -> None:
    for paths, query in zip(found, asked, strict=True):
        if not query.right & set(paths[:1]):
            places = [paths.index(path) + 1 for path in sorted(query.right) if path in paths]
            print(f"  {query.text}\n      wanted {sorted(query.right)} at {places}\n      got {list(paths[:5])}")


if __name__ == "__main__":
    main()
