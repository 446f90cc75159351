"""The names of arguments: what a script writes for each parameter and each field of a body."""

from __future__ import annotations

import keyword
from collections import Counter
from typing import TYPE_CHECKING

from isolith_bindings.names import MAX_LENGTH, sanitise

if TYPE_CHECKING:
    from collections.abc import Iterable


def argument_name(text: str) -> str:
    """The name of an argument: the text itself where it is one, `type` and `match` included."""
    if text.isidentifier() and not keyword.iskeyword(text) and len(text) <= MAX_LENGTH and not text.startswith("__"):
        return text
    return sanitise(text)


def argument_names(wanted: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Names for (where, original name), such as ("query", "id").

    Those that would be called the same all get where they belong before them: `path_id`, `body_id`. What is the same
    still is numbered, in the order of the document.
    """
    listed = list(dict.fromkeys(wanted))
    count = Counter(argument_name(name) for _, name in listed)
    taken: dict[str, tuple[str, str]] = {}
    for place, name in listed:
        plain = argument_name(name)
        chosen = plain if count[plain] == 1 else sanitise(f"{place}_{plain}")
        number = 2
        base = chosen
        while chosen in taken or (chosen != plain and chosen in count):
            chosen, number = f"{base}_{number}", number + 1
        taken[chosen] = (place, name)
    return {origin: chosen for chosen, origin in taken.items()}
