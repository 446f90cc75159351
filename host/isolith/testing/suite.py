"""Cases, run: a few at a time, each in an isolate of its own, over one set of connectors."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isolith.budgets import CEILINGS
from isolith.command_line.request import read_script
from isolith.json_form import to_json_text
from isolith.testing.expectation import differences, expected_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from isolith.budgets import Budgets
    from isolith.code_mode import CodeMode
    from isolith.outcome import Outcome
    from isolith.testing.cases import Case
    from isolith.testing.expectation import Expectation


@dataclass(frozen=True)
class Result:
    """What became of a case. `differences`: from what was expected, none where it passed."""

    case: Case
    outcome: Outcome
    differences: tuple[str, ...]
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether it came out as expected; a bug of ours never does."""
        return not self.differences and not self.internal

    @property
    def internal(self) -> bool:
        """Whether a bug of ours ended it."""
        return self.outcome.error is not None and self.outcome.error.kind == "internal"


async def run_cases(
    code_mode: CodeMode, cases: Sequence[tuple[Case, Expectation]], budgets: Budgets, at_once: int
) -> AsyncIterator[Result]:
    """The results in the order of the cases, as they come. `code_mode` is open."""
    free = asyncio.Semaphore(at_once)

    async def one(case: Case, expected: Expectation) -> Result:
        async with free:
            return await run_case(code_mode, case, expected, budgets)

    tasks = [asyncio.create_task(one(case, expected)) for case, expected in cases]
    try:
        for task in tasks:
            yield await task
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def run_case(code_mode: CodeMode, case: Case, expected: Expectation, budgets: Budgets) -> Result:
    """Run one. Raises UsageError where its script cannot be read."""
    began = time.perf_counter()
    script = read_script(str(case.script), budgets.script_bytes)
    whole = budgets.model_copy(update={"value_tokens": CEILINGS.value_tokens})  # it is compared whole
    outcome = await code_mode.execute(script, input=expected.input, budgets=whole)
    return Result(case, outcome, tuple(differences(expected, outcome)), time.perf_counter() - began)


def write_expectation(result: Result, expected: Expectation) -> bool:
    """Write what the script came to beside it, where that is not what is said already. Whether it was written.

    Never over TOML, which a person wrote.
    """
    if result.internal or result.case.beside.suffix == ".toml" or (result.passed and result.case.beside.exists()):
        return False
    text = to_json_text(expected_of(result.outcome, expected.input), indent=2)
    result.case.beside.write_text(f"{text}\n", encoding="utf-8")
    return True
