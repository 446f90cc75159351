"""Parts of the corpus, for tests that cannot take all of it."""

from __future__ import annotations

from tests.security.corpus import CPU_MS, Hostile, corpus

DONE_LIST = (
    "bombs/while_true_pass",
    "bombs/regex_nested_plus",
    "bombs/power_huge",
    "bombs/sum_range",
    "bombs/string_times",
    "bombs/list_times",
    "bombs/tasks_million",
    "recursion/repr_of_deep_list",
    "recursion/function_limit_raised",
    "output/print_10_to_8",
    "endings/os_exit",
    "endings/os_abort",
    "endings/sys_exit_3",
    "endings/system_exit",
    "endings/keyboard_interrupt",
    "endings/del_builtins",
    "endings/swallowed_base_exception",
)
"""What everybody tries first, and a few that stop other sandboxes' hosts."""

_MOST_CPU_MS = 300
_SOON_OVER = ("escapes/", "forgery/", "leaks/", "endings/", "calls/")
_WAITING = {"wall_s", "call_s"}


def done_list() -> list[Hostile]:
    """The scripts of `DONE_LIST`. Raises KeyError for one that is not in the corpus."""
    known = {script.name: script for script in corpus()}
    return [known[name] for name in DONE_LIST]


def every(step: int) -> list[Hostile]:
    """Every `step`-th script of the corpus."""
    return corpus()[::step]


def quick() -> list[Hostile]:
    """Those that end soon, by their own doing or after little CPU."""
    return [script for script in corpus() if _ends_soon(script) and not script.budgets.model_fields_set & _WAITING]


def _ends_soon(script: Hostile) -> bool:
    if script.budgets.cpu_ms == CPU_MS:
        return script.name.startswith(_SOON_OVER)
    return script.budgets.cpu_ms <= _MOST_CPU_MS
