"""Snippets in the journal: versions, reviewed once, bound to what was read."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from isolith.journal import Journal, NewSnippet, UnknownEntry, WrongStatus

pytestmark = pytest.mark.anyio

REPORT = NewSnippet(
    name="weekly_report",
    description="What the team did",
    code="crm.list_contacts(limit=input['n'])",
    input_schema='{"type":"object"}',
    methods='{"crm.list_contacts":"d1"}',
    image="3",
    who="ann",
    execution_id="e1",
    tests="[]",
)


async def test_proposed_reviewed_revoked(journal: Journal, other: Journal) -> None:
    first = await journal.snippets.propose(REPORT)
    assert (first.version, first.state, first.proposed_by, first.execution_id) == (1, "proposed", "ann", "e1")
    with pytest.raises(UnknownEntry, match="no version of snippet weekly_report is approved"):
        await journal.snippets.get("weekly_report")
    approved = await other.snippets.review("weekly_report", 1, "approved", who="bob", content_hash=first.content_hash)
    assert (approved.state, approved.reviewed_by) == ("approved", "bob")
    assert await journal.snippets.get("weekly_report") == approved
    second = await journal.snippets.propose(replace(REPORT, code="2"))
    assert second.version == 2
    assert second.content_hash != first.content_hash
    assert await journal.snippets.get("weekly_report") == approved
    await journal.snippets.review("weekly_report", 2, "approved", who="bob", content_hash=second.content_hash)
    assert (await journal.snippets.get("weekly_report")).version == 2
    await journal.snippets.review(
        "weekly_report", 2, "revoked", who="eve", content_hash=second.content_hash, reason="wrong"
    )
    assert (await journal.snippets.get("weekly_report")).version == 1
    assert (await journal.snippets.get("weekly_report", 2)).reason == "wrong"
    assert [found.version for found in await journal.snippets.find({"approved"})] == [1]
    assert [found.version for found in await journal.snippets.find()] == [1, 2]
    assert not (await journal.records.verify()).findings


async def test_the_mark_of_a_tool_is_kept_with_its_version(journal: Journal, other: Journal) -> None:
    for tool in (False, True):
        await journal.snippets.propose(replace(REPORT, tool=tool))
    assert [found.tool for found in await other.snippets.find()] == [False, True]
    assert not (await journal.records.verify()).findings


async def test_a_review_is_of_what_was_read(journal: Journal) -> None:
    first = await journal.snippets.propose(REPORT)
    with pytest.raises(WrongStatus, match="not what was reviewed"):
        await journal.snippets.review("weekly_report", 1, "approved", who="bob", content_hash="other")
    for wrong in ("revoked",):
        with pytest.raises(WrongStatus, match="is proposed"):
            await journal.snippets.review("weekly_report", 1, wrong, who="bob", content_hash=first.content_hash)
    await journal.snippets.review("weekly_report", 1, "refused", who="bob", content_hash=first.content_hash)
    with pytest.raises(WrongStatus, match="is refused by bob and cannot become approved"):
        await journal.snippets.review("weekly_report", 1, "approved", who="eve", content_hash=first.content_hash)
    with pytest.raises(UnknownEntry):
        await journal.snippets.review("weekly_report", 2, "approved", who="eve", content_hash=first.content_hash)


async def test_reviewers_and_proposers_who_race(journal: Journal, other: Journal) -> None:
    sides = (journal, other)
    versions = await asyncio.gather(*[sides[number % 2].snippets.propose(REPORT) for number in range(6)])
    assert sorted(snippet.version for snippet in versions) == [1, 2, 3, 4, 5, 6]
    digest = versions[0].content_hash
    reviews = [
        sides[number % 2].snippets.review(
            "weekly_report", 1, ("approved", "refused")[number % 2], who=f"r{number}", content_hash=digest
        )
        for number in range(4)
    ]
    results = await asyncio.gather(*reviews, return_exceptions=True)
    assert sum(isinstance(result, WrongStatus) for result in results) == 3
