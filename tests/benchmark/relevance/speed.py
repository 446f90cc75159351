"""How long a search takes over 10,000 tools: `python -m tests.benchmark.relevance.speed`.

CPU time of the thread that searches: of each query the first time, and the best of some, which leaves out what else
the machine does; and the time that passed. No test passes or fails by them.
"""

from __future__ import annotations

import copy
import time

from tests.benchmark.relevance.corpus import Listed, connectors, queries

from isolith_bindings.search import SearchIndex

TOOLS = 10_000


def many() -> list[Listed]:
    """The catalogues, again and again under other names, until there are enough tools."""
    listed = connectors()
    found: list[Listed] = []
    while sum(len(each.methods) for each in found) < TOOLS:
        again = copy.copy(listed[len(found) % len(listed)])
        again.name += str(len(found) // len(listed) or "")
        found.append(again)
    return found


def main() -> None:
    """Print the medians and the 95th percentiles over the queries of both halves."""
    listed = many()
    index = SearchIndex()
    begun = time.perf_counter()
    index.refresh(listed)
    print(f"{sum(len(each.methods) for each in listed):,} tools read in {time.perf_counter() - begun:.1f} s")
    asked = [query.text for half in ("tuning", "held_out") for query in queries(half)]
    clocks = (("CPU", time.thread_time, 1), ("CPU, at best", time.thread_time, 7), ("passed", time.perf_counter, 1))
    for name, clock, times in clocks:
        spent: list[float] = []
        for text in asked:
            took: list[float] = []
            for _ in range(times):
                begun = clock()
                index.find(text, listed)
                took.append((clock() - begun) * 1000)
            spent.append(min(took))
        spent.sort()
        print(f"{name:12} median {spent[len(spent) // 2]:.2f} ms, 95 % below {spent[int(len(spent) * 0.95)]:.2f} ms")


if __name__ == "__main__":
    main()
