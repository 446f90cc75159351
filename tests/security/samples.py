"""Parts of the corpus, for tests that cannot take all of it."""

from __future__ import annotations

from tests.security.corpus import Hostile, corpus

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


def done_list() -> list[Hostile]:
    """The scripts of `DONE_LIST`. Raises KeyError for one that is not in the corpus."""
    known = {script.name: script for script in corpus()}
    return [known[name] for name in DONE_LIST]


def every(step: int) -> list[Hostile]:
    """Every `step`-th script of the corpus."""
    return corpus()[::step]


def quick() -> list[Hostile]:
    """Those that end soon: by their own doing, or after little CPU."""
    slow = ("wall_s", "call_s")
    return [
        script
        for script in corpus()
        if script.budgets.cpu_ms <= _MOST_CPU_MS and not script.budgets.model_fields_set & set(slow)
    ]
