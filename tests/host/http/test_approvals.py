"""Decisions over HTTP: bound to what was seen, made once, told to whoever comes late."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.host.http.conftest import Api, Opened

pytestmark = pytest.mark.anyio


async def test_created_on_one_host_followed_on_another_approved_on_a_third(opened: Opened) -> None:
    one, two, three = await opened(), await opened(), await opened()
    paused = await one.run("emit('before')\nawait bank.pay(to='Ada')")
    where = f"/v1/executions/{paused['execution_id']}"
    [waiting] = (await three.get("/v1/approvals", "grace")).json()["pending"]
    assert (waiting["principal"], waiting["digest"]) == ("ada", paused["pending"][0]["digest"])
    path = f"/v1/approvals/{paused['execution_id']}/1/approve"
    done = await three.post(path, {"digest": waiting["digest"], "arguments": {"to": "Ada", "amount": 5}}, "grace")
    assert (done.status_code, done.json()["value"]) == (200, "paid Ada 5")
    assert (one.bank.paid, two.bank.paid, three.bank.paid) == ([], [], ["Ada 5"])
    statuses = {(await api.get(where)).json()["status"] for api in (one, two, three)}
    told = {(await api.get(f"{where}/events", headers={"Accept": "application/x-ndjson"})).text for api in (one, two)}
    assert (statuses, len(told)) == ({"completed"}, 1)
    assert '"who": "grace"' in told.pop()


async def test_of_two_who_decide_one_wins_and_the_other_hears_who_did(opened: Opened) -> None:
    one, two = await opened(), await opened()
    paused = await one.run("await bank.pay(to='Ada')")
    digest = paused["pending"][0]["digest"]
    path = f"/v1/approvals/{paused['execution_id']}/1"
    answers = await asyncio.gather(
        one.post(f"{path}/approve", {"digest": digest}, "grace"), two.post(f"{path}/reject", {"digest": digest}, "root")
    )
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    [late] = [answer.json() for answer in answers if answer.status_code == 409]
    assert late["type"] == "urn:isolith:problem:already-decided"
    assert "by grace" in late["detail"] or "by root" in late["detail"]


async def test_a_no_says_why(api: Api) -> None:
    paused = await api.run("await bank.pay(to='Ada')")
    path = f"/v1/approvals/{paused['execution_id']}/1/reject"
    done = await api.post(path, {"digest": paused["pending"][0]["digest"], "reason": "not her"}, "grace")
    assert (done.json()["status"], "not her" in done.json()["error"]["message"]) == ("rejected", True)


async def test_an_answer_is_about_what_was_seen(api: Api) -> None:
    paused = await api.run("await bank.pay(to='Ada')")
    path = f"/v1/approvals/{paused['execution_id']}/1/approve"
    other = await api.post(path, {"digest": "0" * 64}, "grace")
    assert (other.status_code, other.json()["type"]) == (409, "urn:isolith:problem:other-arguments")
    assert (await api.post(path, {}, "grace")).status_code == 422
    assert (await api.post(path.replace("/1/", "/2/"), {"digest": "0" * 64}, "grace")).status_code == 404
    assert (await api.post(path.replace("/1/", "/x/"), {"digest": "0" * 64}, "grace")).status_code == 404
    assert api.bank.paid == []


async def test_who_may_only_execute_sees_what_waits_of_its_own_and_decides_nothing(api: Api) -> None:
    paused = await api.run("await bank.pay(to='Ada')")
    await api.run("await bank.pay(to='Eve')", "eve")
    [own] = (await api.get("/v1/approvals")).json()["pending"]
    assert own["execution_id"] == paused["execution_id"]
    refused = await api.post(
        f"/v1/approvals/{paused['execution_id']}/1/approve", {"digest": paused["pending"][0]["digest"]}
    )
    assert (refused.status_code, refused.json()["kind"]) == (403, "denied")
    assert 'scope="approve"' in refused.headers["www-authenticate"]
    page = (await api.get("/v1/approvals?limit=1", "grace")).json()
    rest = (await api.get(f"/v1/approvals?limit=1&cursor={page['next']}", "grace")).json()
    assert [one["principal"] for one in (*page["pending"], *rest["pending"])] == ["ada", "eve"]
    assert rest["next"] is None


async def test_a_grant_comes_with_an_approval(api: Api) -> None:
    paused = await api.run("await bank.pay(to='Ada')\nawait bank.pay(to='Eve')")
    path = f"/v1/approvals/{paused['execution_id']}/1/approve"
    done = await api.post(path, {"digest": paused["pending"][0]["digest"], "grant": {"uses": 1}}, "grace")
    assert (done.json()["status"], api.bank.paid) == ("completed", ["Ada 1", "Eve 1"])


async def test_whoever_has_a_link_decides_by_it_once(api: Api) -> None:
    paused = await api.run("await bank.pay(to='Ada')")
    path = f"/v1/approvals/{paused['execution_id']}/1/links"
    assert (await api.post(path, {"verdict": "approve", "who": "Zoe"})).status_code == 403
    made = (await api.post(path, {"verdict": "approve", "who": "Zoe"}, "grace")).json()
    looked = await api.get(made["path"], None)
    assert (looked.json()["who"], looked.json()["pending"]["arguments"]) == ("Zoe", {"to": "Ada"})
    assert api.bank.paid == []  # to look decides nothing
    tampered = made["path"][:-1] + ("A" if made["path"][-1] != "A" else "B")
    for wrong in (tampered, "/v1/approval-links/x", made["path"] + "0"):
        assert (await api.get(wrong, None)).status_code == 404
        assert (await api.post(wrong, {}, None)).status_code == 404
    used = await api.post(made["path"], {}, None)
    assert (used.status_code, used.json(), api.bank.paid) == (200, {"status": "completed"}, ["Ada 1"])
    again = await api.post(made["path"], {}, None)
    assert (again.status_code, "by Zoe" in again.json()["detail"]) == (409, True)


@pytest.mark.parametrize("name", ["call_id", "number"])
async def test_what_is_listed_says_the_address_that_decides(api: Api, name: str) -> None:
    """The list had the id of a call, and the address took its number alone."""
    paused = await api.run("await bank.pay(to='Ada')")
    [waiting] = (await api.get("/v1/approvals", "grace")).json()["pending"]
    where = f"/v1/approvals/{waiting['execution_id']}/{waiting[name]}"
    assert (await api.post(f"{where}/links", {"verdict": "approve", "who": "Zoe"}, "grace")).status_code == 201
    done = await api.post(f"{where}/approve", {"digest": waiting["digest"]}, "grace")
    assert (done.status_code, api.bank.paid, waiting["number"]) == (200, ["Ada 1"], 1)
    other = f"/v1/approvals/{paused['execution_id']}/{'0' * 32}.1/approve"
    assert (await api.post(other, {"digest": waiting["digest"]}, "grace")).status_code == 404
