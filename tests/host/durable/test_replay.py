"""The walk along a journal: what a call is answered with, in which order, and where it goes another way."""

from __future__ import annotations

from isolith.durable.replay import Entry, Replay


def entry(number: int, method: str = "get", digest: str = "d", *, settled: bool = True) -> Entry:
    return Entry(number, "crm", method, digest, settled)


def test_calls_are_answered_from_the_journal_in_its_order() -> None:
    replay = Replay([entry(1), entry(2, "list")], [(1,), (2,)])
    assert replay.meet(1, "crm", "get", "d").action == "deliver"
    assert replay.next_batch() == (1,)
    assert replay.under_way
    assert replay.meet(2, "crm", "list", "d").action == "deliver"
    assert replay.next_batch() == (2,)
    assert not replay.under_way
    assert replay.missing() == ""
    assert replay.meet(3, "crm", "get", "d").action == "perform"


def test_parallel_calls_may_be_numbered_another_way() -> None:
    replay = Replay([entry(1, digest="a"), entry(2, digest="b")], [(2, 1)])
    assert replay.meet(1, "crm", "get", "b").entry == entry(2, digest="b")
    assert replay.meet(2, "crm", "get", "a").entry == entry(1, digest="a")
    assert replay.next_batch() == (1, 2)


def test_equal_calls_are_told_apart_by_their_occurrence() -> None:
    replay = Replay([entry(1), entry(2, settled=False)], [(1,)])
    first, second = replay.meet(1, "crm", "get", "d"), replay.meet(2, "crm", "get", "d")
    assert (first.action, first.entry and first.entry.number) == ("deliver", 1)
    assert (second.action, second.entry and second.entry.number) == ("go_on", 2)


def test_another_call_while_the_journal_goes_on_diverges_and_says_both() -> None:
    verdict = Replay([entry(1), entry(2, "list")], [(1, 2)]).meet(1, "crm", "delete", "d")
    assert (verdict.action, verdict.recorded) == ("diverge", "crm.get (call 1) and crm.list (call 2)")


def test_other_arguments_diverge() -> None:
    assert Replay([entry(1)], [(1,)]).meet(1, "crm", "get", "other").action == "diverge"


def test_a_delivery_that_answers_what_was_not_asked_for() -> None:
    assert Replay([entry(1)], [(1,)]).next_batch() is None


def test_what_was_never_asked_for_again_is_named() -> None:
    replay = Replay([entry(1), entry(7, "list")], [])
    replay.meet(1, "crm", "get", "d")
    assert replay.missing() == "crm.list (call 7)"


def test_timers_are_empty_deliveries() -> None:
    replay = Replay([], [(), ()])
    assert (replay.next_batch(), replay.next_batch(), replay.under_way) == ((), (), False)
