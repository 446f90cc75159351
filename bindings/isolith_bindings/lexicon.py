"""What people say and what interfaces call it: words that carry nothing, and words that are said for one another."""

from __future__ import annotations

from typing import Literal

from isolith_bindings.stemming import stem

Intent = Literal["read", "create", "update", "delete", "do"]
"""What somebody wants done, or what a method does; `do` is everything that is none of the others."""


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP_WORDS = _set(
    """a about an and any are as at be been being by can could did do does doing for from had has have having he her his
    how i if in into is it its just let like many me much my of on onto or our please she should so some somebody
    someone something than that the their them then there these they thing this those through to too us want wants was
    we were what when where which who whom whose why will turn with would you your"""
)

# Of the first word of a group each other may be said. They hold across interfaces; none is about a single one.
_ACTIONS = (
    "create add new make post insert generate register open start write",
    "list all enumerate browse every get show index",
    "get read retrieve fetch show view display look see download list find",
    "search find query lookup look locate list get",
    "update edit change modify patch put set replace rename alter adjust move",
    "delete remove destroy drop erase cancel clear revoke purge",
    "add create attach append assign invite put post",
    "remove delete detach unassign revoke kick",
    "send post deliver submit",
    "stop cancel end abort terminate disable",
    "start begin run trigger launch enable create",
    "run execute start trigger dispatch exec invoke",
    "enable activate on",
    "disable deactivate off",
    "upload put post add import attach",
    "download get export fetch",
    "restore recover undelete unarchive revert",
    "copy duplicate clone",
    "approve accept confirm",
    "reject decline deny dismiss",
    "rerun re retry redo",
    "resize scale size",
    "reboot restart",
)
_THINGS = (
    "repository repo repos",
    "organization organisation org",
    "pull pr pulls",
    "issue ticket bug",
    "user people person member account",
    "member user people attendee participant",
    "participant attendee attended member",
    "message msg",
    "configuration config settings",
    "document doc file",
    "directory folder",
    "image picture photo avatar",
    "database db",
    "administrator admin",
    "authentication auth login",
    "information info details",
    "environment env",
    "application app",
    "statistics stats metrics",
    "metrics usage statistics",
    "comment reply note",
    "reply response answer",
    "log logs",
    "email mail",
    "kubernetes k8s",
    "identifier id",
    "notification alert",
    "money balance amount payment",
    "payment charge pay",
    "history log changelog",
    "permission access right",
    "worklog work time",
    "job workflow run",
)
_INTENTS: dict[Intent, str] = {
    "read": "get list read search show find retrieve return fetch view download export check count browse query look"
    " see enumerate display describe lookup obtain watch compare preview",
    "create": "create add new make insert generate upload register invite post send submit publish open attach assign"
    " draft start",
    "update": "update edit change modify patch set put replace rename move alter adjust resize scale mark configure",
    "delete": "delete remove destroy drop erase clear revoke purge cancel unassign detach kick leave void unset",
    "do": "approve reject close lock unlock merge archive unarchive restore run execute rerun stop enable disable"
    " off accept decline trigger transfer confirm copy suspend verify validate convert restart reboot evict",
}
INTENTS: dict[str, Intent] = {stem(word): intent for intent, text in _INTENTS.items() for word in text.split()}
"""By stem, what a word wants done."""
OBJECTS = _set("a an the on to for my this these that some somebody someone people with it all every")
"""Behind the first word of a request, what makes that word a verb: `comment on`, `star a`."""
SELF = _set("i me my mine myself")
SELF_MEANINGS = tuple(dict.fromkeys(stem(word) for word in ("authenticated", "current", "me", "my", "myself", "own")))
"""What interfaces call who asks."""


def _alternatives() -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for group in (*_ACTIONS, *_THINGS):
        first, *others = (stem(word) for word in group.split())
        for other in others:
            found.setdefault(other, {})[first] = None
            found.setdefault(first, {})[other] = None
    return {word: tuple(others) for word, others in found.items()}


ALTERNATIVES = _alternatives()
"""By stem, the stems that may be meant by it or that may be said for it."""
ACTIONS = frozenset(stem(word) for group in _ACTIONS for word in group.split())
